"""PropensityTest: were the actions drawn as the log says? It looks at some rows at a time, and never at rewards."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.log.log import Log


class Additive(Protocol):
    """What is known of some rows; that of others can be added to it."""

    def __add__(self, other: Self) -> Self: ...


Sums = TypeVar("Sums", bound=Additive)


class Suspicion(NamedTuple):
    """What may be wrong, in words, and how likely chance alone is to look like it.

    `needs_time` says that it holds only if rows come in the order of time, or in any that does not follow from actions.
    """

    p: float
    what: str
    needs_time: bool = False

    def name_time(self, what: str) -> "Suspicion":
        """Return the same in other words if it is about time."""
        return self._replace(what=what) if self.needs_time else self


def find_worst(several: Sequence[Suspicion]) -> Suspicion:
    """Return the least likely of several, its p-value multiplied by their number (Bonferroni).

    >>> find_worst([Suspicion(0.01, "a"), Suspicion(0.4, "b")])
    Suspicion(p=0.02, what='a', needs_time=False)
    """
    worst = min(several, key=lambda one: one.p)
    return worst._replace(p=min(1.0, len(several) * worst.p))


@dataclass(frozen=True, eq=False)
class Tested:
    """What a test found: suspicions against the log as a whole, and a p-value of each column of the context, if any.

    `explained` says which columns the logging policy depended on, if its probabilities of all actions are known.
    """

    general: Sequence[Suspicion]
    columns: Floats | None = None
    explained: Bools | None = None


class PropensityTest(ABC, Generic[Sums]):
    """Sums over rows, and p-values from them."""

    @property
    def fewest_rows(self) -> int:
        """Return how many rows at least should be summed at a time, for sums that are themselves many."""
        return 1

    @abstractmethod
    def sum_rows(self, log: Log, place: Ints | slice, features: Floats, probs: Floats) -> Sums:
        """Return the sums of some rows, given their features and, if they are known, all actions' probabilities."""

    @abstractmethod
    def test(self, sums: Sums, design_effect: float) -> Tested:
        """Return what the sums of all rows say.

        Where one decision was made for several rows at once, the variance of every sum is `design_effect` times that
        of independent decisions. It is divided out before any p-value is computed.
        """
