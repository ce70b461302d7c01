"""Sample size: how narrow the interval of the uplift would be on a log with more rows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, Line, Shown
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, Lines, tabulate
from counterfold.report.html.cases import Case

TIMES = tuple(float(one) for one in np.geomspace(0.25, 64, 33))
"""How many times as many rows."""

HINT: charts.Hint = {"rows": ("rows", charts.COUNT), "width": ("width of the interval", charts.NUMBER)}

COLUMNS = {
    "rows": ("Rows", formats.count),
    "times": ("Times this log", formats.setting),
    "width": ("Width of the interval of the difference", formats.value),
}


@dataclass(frozen=True)
class SampleSize(CaseFigure):
    """The width of the interval of the uplift with `times` as many rows like these: it shrinks with their square root.

    How many of them would show the uplift is `next_step.times_rows` of an evaluation.
    """

    table_name: ClassVar[str | None] = "sample-size"
    absence: ClassVar[str] = "there is no answer"

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        low, high = answer.uplift.interval()
        width = high - low
        count = evidence.row_count
        lines = [{"times": times, "rows": round(times * count), "width": width / times**0.5} for times in TIMES]
        return Shown(lines, {"rows": count, "width": width})

    def draw_case(self, case: Case) -> Drawing | None:
        shown = case.exhibits.get(self.name)
        if shown is None or not case.is_answerable:
            return None
        facts = shown.facts
        error = facts["width"] / 40
        rows = formats.count(facts["rows"])
        doubled = [line for line in shown.lines if is_doubled(line)]
        return Drawing(
            title="How many rows for a narrower interval?",
            reading="Four times as many rows of the same kind make the interval half as wide.",
            sentence=f"Width of the interval against rows; with {rows} it is {formats.value(facts['width'], error)}.",
            panels=[charts.make_panel(charts.size(draw_widths(shown.lines, facts), 240))],
            table=tabulate("Sample size", doubled, COLUMNS, error),
        )


def is_doubled(line: Line) -> bool:
    """Say whether a line has half the rows of the log, as many, twice as many, four times as many, and so on."""
    doubled = math.log2(line["times"])
    return doubled > -1.5 and abs(doubled - round(doubled)) < 1e-6


def draw_widths(lines: Lines, facts: Mapping[str, Any]) -> Any:
    """Return the width of the interval against the number of rows, and where this log is."""
    import altair as alt

    rows = charts.number("rows", "rows of the log (logarithmic)", is_log=True)
    rows["axis"] = alt.Axis(format="~s", tickCount=6, labelOverlap=True, grid=False)
    width = alt.Y(**charts.number("width", "width of the interval", is_log=True))
    plot = charts.make_chart(lines).encode(alt.X(**rows), width)
    now = charts.make_chart([{"rows": facts["rows"], "width": facts["width"]}]).encode(x="rows:Q", y="width:Q")
    dot = now.mark_point(color=charts.TARGET, filled=True, size=140, opacity=1)
    word = now.mark_text(text="this log", align="left", dx=10, dy=-8, color=charts.STRONG)
    return alt.layer(plot.mark_line(color=charts.TARGET), dot, word, charts.draw_hints(plot, HINT))
