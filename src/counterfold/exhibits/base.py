"""Exhibit: what one picture of an answer shows, as a table of plain numbers."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scipy import special

from counterfold.estimators.base import Estimator
from counterfold.estimators.estimates import Estimate
from counterfold.evidence.evidence import Evidence, Observer
from counterfold.selectors.base import Selection

Line = Mapping[str, Any]

TEN = 10
"""How many lines are shown of what matters most: rows, groups, days."""


@dataclass(frozen=True, eq=False)
class Shown:
    """What a picture shows: `lines` of plain numbers and texts, and `facts` that stand beside it.

    `pandas.DataFrame` and `polars.DataFrame` take the lines as they are.
    """

    lines: Sequence[Line]
    facts: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Answered:
    """An answer, and what it was made of: the candidates by name, what each says, and what was chosen among them.

    `uplift` is how much more than the log the target would have earned; `values` hold a value and a standard error for
    each candidate.
    """

    estimate: Estimate
    uplift: Estimate
    estimators: Mapping[str, Estimator]
    values: Mapping[str, tuple[float, float]]
    selection: Selection


class Exhibit(Observer, ABC):
    """A frozen dataclass in a file of its own; it works from sums or a sample, so it is the same on every engine.

    It may `observe` rows, a few at a time, and finds the sum over all rows in `evidence.observed`.
    """

    needs_answer: ClassVar[bool] = True
    """Whether it shows an answer, and not the log and the target alone."""

    @abstractmethod
    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        """Return what is shown, or nothing where it does not apply; an answer is there if it `needs_answer`."""


def show_all(exhibits: Sequence[Exhibit], evidence: Evidence, answer: Answered | None) -> dict[str, Shown]:
    """Return what each exhibit shows, by its name; nothing of those that do not apply, or wait for an answer."""
    found: dict[str, Shown | None] = {}
    for one in exhibits:
        given: Any = answer  # which those that do not need it do not look at
        found[one.name] = None if one.needs_answer and answer is None else one.show(evidence, given)
    return {name: shown for name, shown in found.items() if shown is not None}


def find_ends(value: float, stderr: float, level: float) -> dict[str, float]:
    """Return the ends of a normal interval, as fields of a line."""
    reach = float(special.ndtri((1 + level) / 2)) * stderr
    return {"low": value - reach, "high": value + reach}
