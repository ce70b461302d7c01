"""Reliability: how often actions were taken whose fitted propensity is so high."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from counterfold.report.figures import _charts as charts
from counterfold.report.figures._calibration import draw_diagonal
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, tabulate
from counterfold.report.html.cases import Case

COLUMNS = {
    "name": ("Group", formats.text),
    "pairs": ("Rows times actions", formats.count),
    "predicted": ("Fitted", formats.setting),
    "observed": ("Observed", formats.setting),
}


@dataclass(frozen=True)
class Reliability(CaseFigure):
    """A dot for each tenth of all pairs of a row and an action; on the diagonal if the propensities are right."""

    shows_answer: ClassVar[bool] = False

    def find_gap(self, result: Any) -> str | None:
        return "propensities were logged, not fitted" if result.contents.fitted is None else None

    def draw_case(self, case: Case) -> Drawing | None:
        fitted = None if case.contents is None else case.contents.fitted
        if fitted is None:
            return None
        lines = [asdict(one) | {"name": str(place)} for place, one in enumerate(fitted.quality.reliability, 1)]
        chart = draw_diagonal(lines, "fitted probability", "how often it was taken")
        return Drawing(
            title="Fitted propensities: predicted and observed",
            reading="The log has no propensities, so they were fitted. On the dashed line, actions that were said to "
            "be taken in 30 of 100 cases were taken in 30.",
            sentence=f"Frequencies of actions against their fitted probabilities in {len(lines)} groups.",
            panels=[charts.make_panel(chart)],
            table=tabulate("Reliability of the fitted propensities", lines, COLUMNS),
        )
