"""What if: how wrong propensities may be, and how many rows a narrower interval takes."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import altair as alt

from counterfold.exhibits import Shown
from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Lines, tabulate
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


OPEN = (
    "The interval of the difference holds 0 even if all propensities are right: there is no conclusion yet that wrong "
    "ones could change."
)

ASSUMED = {
    "odds": "The odds of each logged action, p to 1 - p, may be wrong by a factor of its own, at most so large "
    "(marginal sensitivity model)",
    "densities": "The density of each logged dose may be wrong by a factor of its own, at most so large",
}
"""What may be wrong, by what the factor is of."""

MOST = 1.6
"""Factors are shown up to this one, or farther if the conclusion does not change before."""


def draw_sensitivity(case: Case) -> Figure | None:
    """Return how wrong propensities may be; where there is no conclusion yet, a sentence says so instead."""
    figure = draw_factors(case)
    if figure is None or case.exhibits["sensitivity"].facts["is_told"]:
        return figure
    return replace(figure, reading=OPEN, panels=[])


def draw_factors(case: Case) -> Figure | None:
    """Return the interval of the difference to the log, if what was logged of each action is wrong by some factor."""
    shown, answered = case.exhibits.get("sensitivity"), case.shown_answer
    if shown is None or answered is None:
        return None
    of, factor, error = shown.facts["of"], shown.facts["factor"], (shown.lines[0]["high"] - shown.lines[0]["low"]) / 4
    never = "It stays on its side of 0 in this range." if shown.facts["is_told"] else "It holds 0 already."
    said = f"From a factor of {formats.factor(factor)} on it may be 0." if factor else never
    return Figure(
        "How wrong may the propensities be?",
        f"{ASSUMED[of]}. The band is the {100 * answered.evaluation.level:g} % interval of the difference to "
        f"{answered.logged}, each end moved outwards by as much as SNIPS may then be off. {said}",
        f"Range of the difference against the factor by which the {of} of what was logged may be wrong. {said}",
        [base.make_panel(base.size(draw_band(shown, answered.logged), 240))],
        tabulate("Sensitivity", shown.lines, SENSITIVITY_COLUMNS, error),
    )


def draw_band(shown: Shown, logged: str) -> Any:
    """Return the band of the difference, and where it touches 0."""
    of, factor = shown.facts["of"], shown.facts["factor"]
    most = max(MOST, 1 + 3 * (factor - 1)) if factor else math.inf
    seen = [line for line in shown.lines if line["factor"] <= most]
    across = base.number("factor", f"{of} wrong by a factor of at most", domain=(1, seen[-1]["factor"]))
    plot = alt.Chart(base.hold(seen)).encode(alt.X(**across))
    low = alt.Y(**base.number("low", f"difference to {logged}"))
    band = plot.mark_area(color=base.TARGET, opacity=0.18).encode(low, y2="high:Q")
    ends = [plot.mark_line(color=base.TARGET).encode(y=f"{end}:Q") for end in ("low", "high")]
    hints = [base.draw_hints(plot, SENSITIVITY_HINT, y=alt.Y(f"{end}:Q")) for end in ("low", "high")]
    marks = [] if factor is None else draw_touch(factor)
    return alt.layer(band, *ends, base.draw_rule(0.0, is_vertical=False), *marks, *hints)


def draw_touch(factor: float) -> list[Any]:
    """Return a mark where the band touches 0, with its factor beside it."""
    touch = alt.Chart(base.hold([{"factor": factor, "low": 0.0, "words": formats.factor(factor)}])).encode(x="factor:Q")
    dot = touch.mark_point(color=base.WARNING, filled=True, size=110, opacity=1).encode(y="low:Q")
    beside = touch.mark_text(color=base.WARNING, align="left", dx=8, dy=-10, fontSize=13, fontWeight=600)
    return [base.draw_rule(factor, colour=base.WARNING), dot, beside.encode(y="low:Q", text="words:N")]


def draw_sample_size(case: Case) -> Figure | None:
    """Return how narrow the interval of the difference would be with more rows."""
    shown = case.exhibits.get("sample-size")
    if shown is None or not case.is_answerable:
        return None
    facts, width = shown.facts, shown.facts["width"]
    error = width / 40
    return Figure(
        "How many rows for a narrower interval?",
        "Four times as many rows of the same kind make the interval half as wide.",
        f"Width of the interval against rows; with {formats.count(facts['rows'])} it is {formats.value(width, error)}.",
        [base.make_panel(base.size(draw_widths(shown.lines, facts), 240))],
        tabulate("Sample size", [line for line in shown.lines if is_doubled(line)], SAMPLE_SIZE_COLUMNS, error),
    )


def is_doubled(line: Mapping[str, Any]) -> bool:
    """Say whether a line has half the rows of the log, as many, twice as many, four times as many, and so on."""
    doubled = math.log2(line["times"])
    return doubled > -1.5 and abs(doubled - round(doubled)) < 1e-6


def draw_widths(lines: Lines, facts: Mapping[str, Any]) -> Any:
    """Return the width of the interval against the number of rows, and where this log is."""
    across = base.number("rows", "rows of the log (logarithmic)", is_log=True)
    across["axis"] = alt.Axis(format="~s", tickCount=6, labelOverlap=True, grid=False)
    high = alt.Y(**base.number("width", "width of the interval", is_log=True))
    plot = alt.Chart(base.hold(lines)).encode(alt.X(**across), high)
    now = alt.Chart(base.hold([{"rows": facts["rows"], "width": facts["width"]}])).encode(x="rows:Q", y="width:Q")
    dot = now.mark_point(color=base.TARGET, filled=True, size=140, opacity=1)
    word = now.mark_text(text="this log", align="left", dx=10, dy=-8, color=base.STRONG)
    return alt.layer(plot.mark_line(color=base.TARGET), dot, word, base.draw_hints(plot, SAMPLE_SIZE_HINT))
