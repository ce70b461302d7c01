"""What charts have in common: colours, scales, and intervals with a name beside each.

Functions import Altair when they draw. Evaluations find figures for their tables, and need no Altair for that.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from counterfold.base import messages
from counterfold.report.html.blocks import Lines, Panel
from counterfold.report.html.cases import Case

TARGET, LOG, OTHER = "var(--target)", "var(--log)", "var(--other)"
"""The colours of the target, of the log and of what is neither; the page's style says which these are."""

QUIET, STRONG, WARNING = "var(--quiet)", "var(--ink)", "var(--warning)"
"""The colours of lines that only help to read, of those that matter, and of what changes the conclusion."""

CARD, MUTED = "var(--card)", "var(--muted)"
"""The colours of what is behind texts, and of texts that matter less."""

HIT_AREA = 700
"""The square pixels of the invisible mark around a dot: numbers appear when the pointer is near the dot."""

DIGITS = 6
"""How many significant digits of a number a chart is given."""

LONGEST_NAME = 24
"""The characters of a name beside a chart; its middle is left out if it has more."""

ROW_HEIGHT = 30
"""How many pixels a line with a name has."""

LOW_ROW_HEIGHT = 24
"""How many pixels a line has in charts that usually have many."""

MAX_NAMED_LINES = 30
"""How many lines with names a chart has at most; the table below it has all."""

Kind = Mapping[str, Any]
TEXT: Kind = {"type": "nominal"}
NUMBER: Kind = {"type": "quantitative", "format": ".4~g"}
SHARE: Kind = {"type": "quantitative", "format": ".2%"}
COUNT: Kind = {"type": "quantitative", "format": ",.0f"}

Hint = Mapping[str, tuple[str, Kind]]
"""What is shown where the pointer is: fields, what each is called, and what kind of number it is."""

INTERVAL_HINT: Hint = {
    "name": ("of", TEXT),
    "value": ("value", NUMBER),
    "low": ("from", NUMBER),
    "high": ("to", NUMBER),
}


def make_panel(chart: Any, title: str = "", columns: int = 0) -> Panel:
    """Return a chart that fills the width of the page, in the language of Vega-Lite."""
    # Altair's validation takes most of the time of a page. The tests draw every chart with it.
    spec: dict[str, Any] = chart.to_dict(validate=False)
    kept = {name: part for name, part in spec.items() if name not in {"$schema", "config"}}
    return Panel(title, kept, columns)


def make_chart(lines: Iterable[Mapping[str, Any]]) -> Any:
    """Return a chart without marks, whose data are short numbers and texts."""
    import altair as alt

    make_data: Any = alt.Data
    values = [{name: shorten(value) for name, value in line.items()} for line in lines]
    return alt.Chart(make_data(values=values))


def shorten(value: Any) -> Any:
    """Return a number with few digits, nothing if it is not finite, or any other value unchanged."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def name_both(case: Case) -> list[str]:
    """Return what a legend calls the log and the target."""
    return tell_apart([case.logged, case.target])


def tell_apart(names: Sequence[object], longest: int = LONGEST_NAME) -> list[str]:
    """Return names that are safe to show and all different.

    >>> tell_apart(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    seen: Counter[str] = Counter()
    different = []
    for name in (messages.abbreviate(str(one), longest) for one in names):
        seen[name] += 1
        different.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return different


def number(field: str, title: str, *, is_log: bool = False, domain: Sequence[float] | None = None) -> dict[str, Any]:
    """Return the settings of an axis of numbers."""
    import altair as alt

    scale: dict[str, Any] = {"nice": domain is None and not is_log}
    if is_log:
        scale["type"] = "log"
    else:
        scale["zero"] = False
    if domain is not None:
        scale["domain"] = list(domain)
    ticks: Any = {"tickCount": 5, "labelOverlap": True, "grid": not is_log}
    return {"shorthand": f"{field}:Q", "title": title, "scale": alt.Scale(**scale), "axis": alt.Axis(**ticks)}


def name_axis(field: str, *, grid: bool = False, domain: Sequence[str] | None = None) -> Any:
    """Return the vertical axis of named lines, in the order of the data or of a domain."""
    import altair as alt

    axis = alt.Axis(grid=grid, ticks=False, domain=False, labelPadding=10)
    names = alt.Y(f"{field}:N", sort=None, title=None, axis=axis)
    return names if domain is None else names.scale(domain=list(domain))


def list_hints(hint: Hint) -> list[Any]:
    """Return the tooltips of some fields."""
    import altair as alt

    return [alt.Tooltip(field=name, title=label, **kind) for name, (label, kind) in hint.items()]


def draw_rule(at: float, *, is_vertical: bool = True, colour: str = STRONG) -> Any:
    """Return a dashed line at a number."""
    import altair as alt

    axis = alt.X("at:Q") if is_vertical else alt.Y("at:Q")
    chart = make_chart([{"at": at}])
    rule = chart.mark_rule(color=colour, strokeDash=[4, 4], strokeWidth=1.2, opacity=0.8, clip=True)
    return rule.encode(axis)


def draw_hints(plot: Any, hint: Hint, **places: Any) -> Any:
    """Return invisible marks over the dots of a chart, which show their numbers to the pointer."""
    marks = plot.mark_point(filled=True, size=HIT_AREA, opacity=0, clip=True)
    return marks.encode(tooltip=list_hints(hint), **places)


def draw_intervals(
    lines: Lines, title: str, colour: Any, domain: tuple[float, float] | None = None, *, is_log: bool = False
) -> Any:
    """Return a dot and an interval for each line (`name`, `value`, `low`, `high`), in their order.

    Intervals that leave the domain end in an arrow.
    """
    import altair as alt

    low = alt.X(**number("low", title, is_log=is_log, domain=domain))
    value = alt.X(**number("value", title, is_log=is_log, domain=domain))
    plot = make_chart(lines).encode(name_axis("name"))
    bars = plot.mark_rule(strokeWidth=3.5, opacity=0.45, clip=True).encode(x=low, x2="high:Q", color=colour)
    dots = plot.mark_point(filled=True, size=110, opacity=1, clip=True).encode(x=value, color=colour)
    arrows = [] if domain is None else draw_arrows(lines, domain, colour)
    return alt.layer(bars, *arrows, dots, draw_hints(plot, INTERVAL_HINT, x=value))


def draw_arrows(lines: Lines, domain: tuple[float, float], colour: Any) -> list[Any]:
    """Return a triangle for each interval that goes on beyond an end of the axis."""
    import altair as alt

    first, last = domain
    below = [{**line, "at": first} for line in lines if line["low"] < first]
    above = [{**line, "at": last} for line in lines if line["high"] > last]
    arrows = []
    for cut, shape in ((below, "triangle-left"), (above, "triangle-right")):
        if cut:
            marks = make_chart(cut).mark_point(filled=True, size=90, opacity=1, shape=shape)
            arrows.append(marks.encode(alt.Y("name:N", sort=None), x="at:Q", color=colour))
    return arrows


def limit_domain(lines: Lines, centre: tuple[float, float], times: float = 3.0) -> tuple[float, float] | None:
    """Return the ends of an axis on which a few values far away, or very wide intervals, do not hide all others.

    `centre` is an interval that must be seen well. Nothing is returned if there is nothing to cut.
    """
    middle = sum(centre) / 2
    reach = times * (centre[1] - centre[0]) or math.inf
    whole = find_span(lines)
    if whole is None or not math.isfinite(middle):
        return None
    first, last = np.quantile([line["value"] for line in lines], [0.1, 0.9]).tolist()
    low = min(middle - reach, first - (last - first) / 2)
    high = max(middle + reach, last + (last - first) / 2)
    if low <= whole[0] and whole[1] <= high:
        return None
    return max(low, whole[0]), min(high, whole[1])


def widen(low: float, high: float) -> tuple[float, float]:
    """Return ends of an axis that are a little farther apart than those of the data, and never the same.

    >>> widen(1.0, 2.0), widen(0.0, 0.0)
    ((0.96, 2.04), (-1.0, 1.0))
    """
    apart = 0.04 * (high - low) or 0.1 * abs(high) or 1.0
    return low - apart, high + apart


def find_span(lines: Lines) -> tuple[float, float] | None:
    """Return the least and the largest end of intervals; nothing if none is finite."""
    ends = [line[end] for line in lines for end in ("low", "high") if math.isfinite(line[end])]
    return (min(ends), max(ends)) if ends else None


def size(chart: Any, height: float) -> Any:
    """Return a chart as wide as its place, and so high."""
    import altair as alt

    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    return chart.properties(width="container", height=height, autosize=fit)


def colour_by(names: Sequence[str], colours: Sequence[str], field: str = "who") -> Any:
    """Return a colour for each of a few names, with a legend above the chart."""
    import altair as alt

    scale = alt.Scale(domain=list(names), range=list(colours))
    legend = alt.Legend(orient="top", direction="horizontal", symbolOpacity=1)
    return alt.Color(f"{field}:N", scale=scale, title=None, legend=legend)
