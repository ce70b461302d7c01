"""Weights: how much single rows count, and how much of all weight the heaviest rows have."""

from typing import Any

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base

ROWS, WEIGHT = "share of rows", "share of weight"

WEIGHTS_HINT = base.hint(
    low=("weight from", base.NUMBER),
    high=("to", base.NUMBER),
    rows=("rows", base.COUNT),
    row_share=(ROWS, base.SHARE),
    weight_share=(WEIGHT, base.SHARE),
)

WEIGHTS_COLUMNS = {
    "low": ("Weight from", formats.setting),
    "high": ("To", formats.setting),
    "rows": ("Rows", formats.count),
    "row_share": ("Share of rows", formats.percent),
    "weight_share": ("Share of weight", formats.percent),
}

CONCENTRATION_HINT = base.hint(
    rows_above=("share of rows", base.SHARE),
    weight_above=("share of weight", base.SHARE),
    low=("weights from", base.NUMBER),
)

CONCENTRATION_COLUMNS = {
    "low": ("Weights from", formats.setting),
    "rows_above": ("Share of rows", formats.percent),
    "weight_above": ("Share of weight", formats.percent),
}


def draw_weights(case: Case) -> Figure | None:
    """Return a histogram of the weights, in rows and in weight."""
    shown = case.exhibits.get("weights")
    if shown is None or not shown.lines:
        return None
    lines, facts = list(shown.lines), shown.facts
    both = [{**line, "who": ROWS, "part": line["row_share"]} for line in lines]
    both += [{**line, "who": WEIGHT, "part": line["weight_share"]} for line in lines]
    across = alt.X(
        "low:Q",
        title="weight: how much a row counts (logarithmic)",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(format="~g", grid=False, tickCount=6, labelOverlap=True),
    )
    high = alt.Y("part:Q", title=None, axis=alt.Axis(format="%", tickCount=4), stack=None)
    colour = base.by_who([ROWS, WEIGHT], [base.LOG, base.TARGET])
    bars = alt.Chart(base.hold(both)).mark_bar(opacity=0.55, binSpacing=1)
    chart = bars.encode(across, high, colour, x2="high:Q", y2=alt.datum(0), tooltip=WEIGHTS_HINT)
    zero = (
        f" {formats.count(facts['zero_rows'])} rows with weight 0 are not in the picture." if facts["zero_rows"] else ""
    )
    return Figure(
        "How much single rows count",
        "A row whose action the new policy likes more than the old one did counts more than once. Good: both colours "
        f"lie over each other. Bad: few rows hold most of the weight, far on the right.{zero}",
        f"Histogram of the weights, from {formats.setting(lines[0]['low'])} to {formats.setting(lines[-1]['high'])}.",
        [base.make_panel(base.size(chart, 220))],
        tabulate("Weights", lines, WEIGHTS_COLUMNS),
    )


def draw_concentration(case: Case) -> Figure | None:
    """Return how much of all weight the heaviest rows have."""
    shown = case.exhibits.get("weights")
    if shown is None or not shown.lines:
        return None
    start = {"rows_above": 0.0, "weight_above": 0.0, "low": None}
    lines = [start, *reversed(shown.lines)]
    axes: Any = {"format": "%", "tickCount": 5}
    across = alt.X(
        "rows_above:Q", title="share of rows, the heaviest first", axis=alt.Axis(**axes), scale=alt.Scale(domain=[0, 1])
    )
    high = alt.Y("weight_above:Q", title="share of all weight", axis=alt.Axis(**axes), scale=alt.Scale(domain=[0, 1]))
    plot = alt.Chart(base.hold(lines)).encode(across, high, tooltip=CONCENTRATION_HINT)
    even = alt.Chart(base.hold([{"at": 0.0}, {"at": 1.0}])).mark_line(color=base.QUIET, strokeDash=[4, 4])
    curve = plot.mark_line(color=base.TARGET, interpolate="linear")
    chart = alt.layer(even.encode(x="at:Q", y="at:Q"), curve, plot.mark_point(color=base.TARGET, filled=True, size=40))
    half = shown.facts["rows_with_half"]
    return Figure(
        "How few rows hold the weight",
        "The dashed line is what equal weights would give. The steeper the curve rises, the fewer rows decide.",
        f"{formats.percent(half)} of the rows hold half of all weight.",
        [base.make_panel(base.size(chart, 260))],
        tabulate("Cumulative weight", lines[1:], CONCENTRATION_COLUMNS),
    )
