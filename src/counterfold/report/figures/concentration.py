"""Concentration: how few rows have how much of the weight."""

from dataclasses import dataclass
from typing import Any, ClassVar

from counterfold.diagnostics import Diagnostics
from counterfold.evaluation import Evaluation
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import CaseFigure
from counterfold.report.figures.weights import are_equal
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, Lines, tabulate
from counterfold.report.html.cases import Case

HINT: charts.Hint = {
    "rows_above": ("share of rows", charts.SHARE),
    "weight_above": ("share of weight", charts.SHARE),
    "low": ("weights from", charts.NUMBER),
}

COLUMNS = {
    "low": ("Weights from", formats.setting),
    "rows_above": ("Share of rows", formats.percent),
    "weight_above": ("Share of weight", formats.percent),
}


@dataclass(frozen=True)
class Concentration(CaseFigure):
    """The share of all weight against the share of rows, those with the largest weights first.

    It draws the table of `weights`.
    """

    shows_answer: ClassVar[bool] = False
    kinds: ClassVar[tuple[type, ...]] = (Evaluation, Diagnostics)
    table_name: ClassVar[str | None] = "weights"
    absence: ClassVar[str] = "all weights are 0"

    def find_gap(self, result: Any) -> str | None:
        shown = result.exhibits.get("weights")
        return None if shown is not None and shown.lines else self.absence

    def draw_case(self, case: Case) -> Drawing | None:
        shown = case.exhibits.get("weights")
        if shown is None or not shown.lines:
            return None
        heaviest_first = list(reversed(shown.lines))
        half = formats.percent(shown.facts["rows_with_half"])
        return Drawing(
            title="How few rows hold the weight",
            reading="The dashed line is what equal weights would give. The steeper the curve rises, the fewer rows "
            "decide.",
            sentence=f"{half} of the rows hold half of all weight.",
            panels=[charts.make_panel(charts.size(draw_curve(heaviest_first), 260))],
            table=tabulate("Cumulative weight", heaviest_first, COLUMNS),
        )

    def draw_on_page(self, case: Case) -> Drawing | None:
        """Return the curve; nothing where all weights are equal, which the figure of the weights says."""
        drawing = self.draw_case(case)
        return None if drawing is None or are_equal(case.exhibits["weights"].facts) else drawing


def draw_curve(heaviest_first: Lines) -> Any:
    """Return the cumulative shares of rows and weight, and the line of equal weights."""
    import altair as alt

    start = {"rows_above": 0.0, "weight_above": 0.0, "low": None}
    ticks: Any = {"format": "%", "tickCount": 5}
    whole = alt.Scale(domain=[0, 1])
    across = alt.X("rows_above:Q", title="share of rows, the heaviest first", axis=alt.Axis(**ticks), scale=whole)
    upwards = alt.Y("weight_above:Q", title="share of all weight", axis=alt.Axis(**ticks), scale=whole)
    even = charts.make_chart([{"at": 0.0}, {"at": 1.0}]).mark_line(color=charts.QUIET, strokeDash=[4, 4])
    plot = charts.make_chart([start, *heaviest_first]).encode(across, upwards)
    curve = plot.mark_line(color=charts.TARGET, interpolate="linear")
    dots = plot.mark_point(color=charts.TARGET, filled=True, size=40, opacity=1)
    return alt.layer(even.encode(x="at:Q", y="at:Q"), curve, dots, charts.draw_hints(plot, HINT))
