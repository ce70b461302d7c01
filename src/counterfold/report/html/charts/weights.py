"""Weights: how much single rows count, and how much of all weight the heaviest rows have."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Lines, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base

ROWS, WEIGHT = "share of rows", "share of weight"

SUMMED = ("rows", "row_share", "weight_share")
"""What two bins that are joined have together; what is above them is that of the lower one."""

NARROW = 1 / 3
"""A bin that has less than this part of its width on a logarithmic axis cannot be seen well."""

ROUNDING = 1e-6
"""Weights that differ by less, in relation to their size, are the same."""

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
    """Return a histogram of the weights; where all are equal, a sentence says so instead."""
    figure = draw_histogram(case)
    if figure is None or not are_equal(facts := case.exhibits["weights"].facts):
        return figure
    return replace(figure, reading=f"{describe_equal(facts)}{describe_zero(case, facts)}", panels=[])


def draw_concentration(case: Case) -> Figure | None:
    """Return how much of all weight the heaviest rows have; nothing where all have the same."""
    figure = draw_curve(case)
    return None if figure is None or are_equal(case.exhibits["weights"].facts) else figure


def draw_histogram(case: Case) -> Figure | None:
    """Return a histogram of the weights, in rows and in weight."""
    shown = case.exhibits.get("weights")
    if shown is None or not shown.lines:
        return None
    lines, facts = close_last(shown.lines, shown.facts["largest_weight"]), shown.facts
    return Figure(
        "How much single rows count",
        f"A row counts more than once if {case.called} likes its action more than the old policy did. Good: the "
        "two bars of a pair are about as high. Bad: on the right, few rows (low grey bars) hold most of the weight "
        f"(high blue bars).{describe_zero(case, facts)}",
        f"Histogram of the weights, from {formats.setting(lines[0]['low'])} to {formats.setting(lines[-1]['high'])}.",
        [base.make_panel(base.size(draw_pairs(lines), 220))],
        tabulate("Weights", lines, WEIGHTS_COLUMNS),
    )


def draw_pairs(lines: Lines) -> Any:
    """Return two bars beside each other for each bin: its share of rows, and of weight."""
    halves = [split(line["low"], line["high"]) for line in lines]
    kinds = ((ROWS, "row_share"), (WEIGHT, "weight_share"))
    both = [
        {**line, "who": who, "part": line[share], "left": half[place][0], "right": half[place][1]}
        for place, (who, share) in enumerate(kinds)
        for line, half in zip(lines, halves, strict=True)
    ]
    across = alt.X(
        "left:Q",
        title="weight: how much a row counts (logarithmic)",
        scale=alt.Scale(type="log", nice=False, domain=[lines[0]["low"], lines[-1]["high"]]),
        axis=alt.Axis(format="~g", grid=False, tickCount=6, labelOverlap=True),
    )
    high = alt.Y("part:Q", title=None, axis=alt.Axis(format="%", tickCount=4), stack=None)
    colour = base.by_who([ROWS, WEIGHT], [base.LOG, base.TARGET])
    bars = alt.Chart(base.hold(both)).mark_bar(opacity=1)
    return bars.encode(across, high, colour, x2="right:Q", y2=alt.datum(0), tooltip=WEIGHTS_HINT)


def split(low: float, high: float) -> list[tuple[float, float]]:
    """Return where the two bars of a bin begin and end on a logarithmic axis, with a gap between bins."""
    span = high / low
    return [(low * span**0.06, low * span**0.49), (low * span**0.51, low * span**0.94)]


def close_last(lines: Lines, largest: float) -> list[dict[str, Any]]:
    """Return bins of which the last one ends at the largest weight, and joins the one before if it is narrow then.

    >>> bins = [{"low": 1.0, "high": 2.0, "rows": 5}, {"low": 2.0, "high": 4.0, "rows": 1}]
    >>> close_last(bins, 3.0)[-1], close_last(bins, 2.0)
    ({'low': 2.0, 'high': 3.0, 'rows': 1}, [{'low': 1.0, 'high': 2.0, 'rows': 6}])
    """
    *others, last = [dict(line) for line in lines]
    if largest >= last["low"] * (last["high"] / last["low"]) ** NARROW:
        return [*others, last | {"high": largest}]
    if not others:
        return [last]
    *others, before = others
    return [*others, before | {name: before[name] + last[name] for name in SUMMED if name in last} | {"high": largest}]


def are_equal(facts: Mapping[str, Any]) -> bool:
    """Say whether all weights above 0 are the same."""
    return bool(facts["effective_rows"] >= (1 - ROUNDING) * (facts["rows"] - facts["zero_rows"]))


def describe_equal(facts: Mapping[str, Any]) -> str:
    """Return how often each row counts."""
    times = facts["largest_weight"]
    often = "once" if abs(times - 1) <= ROUNDING else f"the same: {formats.setting(times)} times"
    return f"All rows that count, count {often}."


def describe_zero(case: Case, facts: Mapping[str, Any]) -> str:
    """Return how many rows do not count."""
    zero, rows = formats.count(facts["zero_rows"]), formats.count(facts["rows"])
    never = f"{case.called} never does what was done in them"
    return f" {zero} of {rows} rows have weight 0, as {never}." if facts["zero_rows"] else ""


def draw_curve(case: Case) -> Figure | None:
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
    plot = alt.Chart(base.hold(lines)).encode(across, high)
    even = alt.Chart(base.hold([{"at": 0.0}, {"at": 1.0}])).mark_line(color=base.QUIET, strokeDash=[4, 4])
    curve = plot.mark_line(color=base.TARGET, interpolate="linear")
    dots = plot.mark_point(color=base.TARGET, filled=True, size=40, opacity=1)
    chart = alt.layer(even.encode(x="at:Q", y="at:Q"), curve, dots, base.draw_hints(plot, CONCENTRATION_HINT))
    half = shown.facts["rows_with_half"]
    return Figure(
        "How few rows hold the weight",
        "The dashed line is what equal weights would give. The steeper the curve rises, the fewer rows decide.",
        f"{formats.percent(half)} of the rows hold half of all weight.",
        [base.make_panel(base.size(chart, 260))],
        tabulate("Cumulative weight", lines[1:], CONCENTRATION_COLUMNS),
    )
