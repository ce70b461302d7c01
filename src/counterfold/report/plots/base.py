"""Picture: one drawing of a result, on axes of matplotlib."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, ClassVar

from counterfold.diagnostics import Diagnostics
from counterfold.evaluation import Comparison, Evaluation, RewardEvaluations
from counterfold.exhibits import Shown
from counterfold.learning.result import Learned
from counterfold.policies.learned.policy import Policy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 3.6
"""How high a picture is, in inches, if it does not depend on what it shows."""

MOST_LINES = 24
"""At most so many lines are drawn, one below the other."""

ABSENT = {
    Evaluation: "it shows one answer; draw it of one of these, such as `found[NAME].plot(...)`",
    Diagnostics: "it shows the log and one target; draw it of one of these, such as `found[NAME].plot(...)`",
    Comparison: "it compares several targets, and there is one; `cf.compare` makes such a comparison",
    Learned: "it shows what was learnt, which `cf.learn` returns",
}
"""Why a picture of another kind of result cannot be drawn."""

MISPLACED = {
    Diagnostics: "it shows an answer, and `check` gives none; `evaluate` does",
    Learned: "it shows an answer; draw it of `learned.evaluation`, or of `learned.attempt`",
    Policy: "it shows what a policy earns; `cf.evaluate` tells that, and so does `learned.evaluation`",
}
"""Why a picture of an answer cannot be drawn of what is none."""


class Picture(ABC):
    """A frozen dataclass in a file of its own; all its numbers are those of the result.

    Artists that show numbers of the result have a `gid`, by which they can be found and changed.
    """

    kinds: ClassVar[tuple[type, ...]] = (Evaluation,)
    """The results of which it can be drawn."""

    shows_answer: ClassVar[bool] = True
    """Whether it shows what the target would have earned, which is withheld where the log cannot answer."""

    @property
    def name(self) -> str:
        """Return the stable name, which is that of the file."""
        return type(self).__module__.rpartition(".")[2].replace("_", "-")

    def find_obstacle(self, result: Any) -> str | None:
        """Return why it cannot be drawn, or nothing."""
        if not isinstance(result, self.kinds):
            is_answer = Learned not in self.kinds
            why = next((MISPLACED[kind] for kind in MISPLACED if is_answer and isinstance(result, kind)), None)
            return why or ABSENT[self.kinds[-1]]
        several: Collection[Any] = (
            result.evaluations.values() if isinstance(result, (Comparison, RewardEvaluations)) else [result]
        )
        if self.shows_answer and all(one.verdict == "not answerable" for one in several):
            return f"the log cannot answer, because {find_reason(next(iter(several)))}"
        return self.find_gap(result)

    def find_gap(self, result: Any) -> str | None:
        """Return what is missing in the result, or nothing."""
        return None

    def find_height(self, result: Any) -> float:
        """Return how high a figure should be, in inches."""
        return HEIGHT

    @abstractmethod
    def draw(self, result: Any, ax: "Axes") -> None:
        """Draw it."""


class ExhibitPicture(Picture):
    """A picture of one exhibit."""

    absence: ClassVar[str]
    """Why the exhibit may be missing."""

    exhibit: ClassVar[str | None] = None
    """The exhibit's name, if it is not the picture's."""

    is_list: ClassVar[bool] = False
    """Whether it has a line below the other for each line of the exhibit."""

    def find_height(self, result: Any) -> float:
        return stack_lines(self.find_shown(result).lines[:MOST_LINES]) if self.is_list else HEIGHT

    def find_gap(self, result: Any) -> str | None:
        return None if (self.exhibit or self.name) in result.exhibits else self.absence

    def find_shown(self, result: Any) -> Shown:
        """Return what is to be shown."""
        found: Shown = result.exhibits[self.exhibit or self.name]
        return found

    def draw(self, result: Any, ax: "Axes") -> None:
        self.draw_shown(self.find_shown(result), result, ax)

    @abstractmethod
    def draw_shown(self, shown: Shown, result: Any, ax: "Axes") -> None:
        """Draw what is to be shown."""


def find_reason(result: Evaluation | Diagnostics) -> str:
    """Return the first reason for a verdict."""
    diagnostics = result.diagnostics if isinstance(result, Evaluation) else result
    return diagnostics.reasons[0]


def stack_lines(lines: Collection[Any]) -> float:
    """Return how high a figure should be that has some lines below each other."""
    return 1.5 + 0.27 * max(len(lines), 3)
