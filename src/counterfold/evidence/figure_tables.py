"""FigureTable: the numbers that a figure of a result shows, as a table of plain numbers.

Figures are the files of `counterfold/report/figures/`. That folder lies above evaluation, which does not import it: it
finds the figures by walking the folder, as it finds every other strategy, and asks them for their tables alone.
"""

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scipy import special

from counterfold.base import registry
from counterfold.estimators.base import Estimator
from counterfold.estimators.estimates import Estimate
from counterfold.evidence.evidence import Evidence, Observer
from counterfold.selectors.base import Selection

FOLDER = "figures"
"""Where the registry finds all figures."""

Line = Mapping[str, Any]

TEN = 10
"""How many lines are shown of what matters most: rows, groups, days."""


@dataclass(frozen=True, eq=False)
class Shown:
    """What a figure shows: `lines` of plain numbers and texts, and `facts` that stand beside it.

    `pandas.DataFrame` and `polars.DataFrame` take the lines as they are.
    """

    lines: Sequence[Line]
    facts: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Answered:
    """An answer, and what it was made of.

    - `estimate`: the value of the target.
    - `uplift`: how much more than the log the target would have earned.
    - `estimators`: the candidates by name.
    - `values`: the value and the standard error of each candidate.
    - `selection`: what was chosen among them.
    """

    estimate: Estimate
    uplift: Estimate
    estimators: Mapping[str, Estimator]
    values: Mapping[str, tuple[float, float]]
    selection: Selection


class FigureTable(Observer, ABC):
    """The part of a figure that evaluation needs: what it observes, and its table.

    It may `observe` rows, a few at a time, and finds the sum over all rows in `evidence.observed`. Its table comes from
    sums or from a sample, so it is the same on every engine. A figure that draws numbers that a result has anyway has
    no table of its own.
    """

    needs_answer: ClassVar[bool] = True
    """Whether the table is about an answer, and not about the log and the target alone."""

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        """Return the table, or nothing where it does not apply; there is an answer if the figure `needs_answer`."""
        return None


def build_figures() -> list[FigureTable]:
    """Return every figure."""
    return [registry.find(FOLDER, name)() for name in registry.names(FOLDER)]


def show_all(figures: Sequence[FigureTable], evidence: Evidence, answer: Answered | None) -> dict[str, Shown]:
    """Return the table of each figure by its name, without those that do not apply or that wait for an answer."""
    tables: dict[str, Shown] = {}
    for figure in figures:
        if figure.needs_answer and answer is None:
            continue
        given: Any = answer  # a figure that does not need an answer does not look at it
        shown = figure.show(evidence, given)
        if shown is not None:
            tables[figure.name] = shown
    return tables


def find_ends(value: float, stderr: float, level: float) -> dict[str, float]:
    """Return the ends of a normal interval, as fields of a line."""
    reach = float(special.ndtri((1 + level) / 2)) * stderr
    return {"low": value - reach, "high": value + reach}
