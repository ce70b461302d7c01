"""What if: how wrong propensities may be, and how many rows a narrower interval takes."""

import math

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base

SENSITIVITY_HINT = base.hint(
    factor=("wrong by a factor of", base.NUMBER), low=("from", base.NUMBER), high=("to", base.NUMBER)
)

SENSITIVITY_COLUMNS = {
    "factor": ("Factor", formats.setting),
    "low": ("Difference from", formats.signed),
    "high": ("To", formats.signed),
}

SAMPLE_SIZE_HINT = base.hint(rows=("rows", base.COUNT), width=("width of the interval", base.NUMBER))

SAMPLE_SIZE_COLUMNS = {
    "rows": ("Rows", formats.count),
    "times": ("Times this log", formats.setting),
    "width": ("Width of the interval of the difference", formats.value),
}


MOST = 1.6
"""Factors are shown up to this one, or farther if the conclusion does not change before."""


def draw_sensitivity(case: Case) -> Figure | None:
    """Return the interval of the difference to the log, if propensities are wrong by some factor."""
    shown = case.exhibits.get("sensitivity")
    if shown is None or not case.is_answerable:
        return None
    factor = shown.facts["factor"]
    most = max(MOST, 1 + 3 * (factor - 1)) if factor else math.inf
    lines = [line for line in shown.lines if line["factor"] <= most]
    across = base.number("factor", "propensities may be wrong by a factor of", domain=(1, lines[-1]["factor"]))
    plot = alt.Chart(base.hold(lines)).encode(alt.X(**across), tooltip=SENSITIVITY_HINT)
    low = alt.Y(**base.number("low", "difference to the log"))
    band = plot.mark_area(color=base.TARGET, opacity=0.18).encode(low, y2="high:Q")
    ends = [
        plot.mark_line(color=base.TARGET, point={"filled": True, "size": 28}).encode(y=f"{end}:Q")
        for end in ("low", "high")
    ]
    marks = [base.draw_rule(factor)] if factor else []
    chart = alt.layer(band, *ends, base.draw_rule(0.0, is_vertical=False), *marks)
    said = (
        f"With a factor of {factor:.2f} it may be 0." if factor else "It does not change the conclusion in this range."
    )
    error = (shown.lines[0]["high"] - shown.lines[0]["low"]) / 4
    return Figure(
        "How wrong may the propensities be?",
        "The band shows all that the difference could be if every probability that the log has for its own actions "
        "were wrong by up to this factor, in the worst way. Where the band touches 0, the conclusion is gone.",
        f"Range of the difference against the factor by which propensities may be wrong. {said}",
        [base.make_panel(base.size(chart, 240))],
        tabulate("Sensitivity", shown.lines, SENSITIVITY_COLUMNS, error),
    )


def draw_sample_size(case: Case) -> Figure | None:
    """Return how narrow the interval of the difference would be with more rows."""
    shown = case.exhibits.get("sample-size")
    if shown is None or not case.is_answerable:
        return None
    facts = shown.facts
    across = base.number("rows", "rows of the log (logarithmic)", is_log=True)
    across["axis"] = alt.Axis(format="~s", tickCount=6, labelOverlap=True, grid=False)
    high = alt.Y(**base.number("width", "width of the interval", is_log=True))
    plot = alt.Chart(base.hold(shown.lines)).encode(alt.X(**across), high, tooltip=SAMPLE_SIZE_HINT)
    now = alt.Chart(base.hold([{"rows": facts["rows"], "width": facts["width"]}])).encode(x="rows:Q", y="width:Q")
    dot = now.mark_point(color=base.LOG, filled=True, size=140, opacity=1)
    word = now.mark_text(text="this log", align="left", dx=10, dy=-8, color=base.STRONG)
    chart = alt.layer(plot.mark_line(color=base.TARGET, point={"filled": True, "size": 28}), dot, word)
    width = facts["width"]
    error = width / 40
    return Figure(
        "How many rows for a narrower interval?",
        "Four times as many rows of the same kind make the interval half as wide.",
        f"Width of the interval against rows; with {formats.count(facts['rows'])} it is {formats.value(width, error)}.",
        [base.make_panel(base.size(chart, 240))],
        tabulate("Sample size", shown.lines, SAMPLE_SIZE_COLUMNS, error),
    )
