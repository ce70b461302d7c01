"""What charts have in common: colours, scales, and intervals with a name beside each."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from counterfold.base import messages
from counterfold.report.html.blocks import Lines, Panel
from counterfold.report.html.cases import Case

TARGET, LOG, OTHER = "var(--target)", "var(--log)", "var(--other)"
"""The colours of the target, of the log and of what is neither; the page's style says which these are."""

QUIET, STRONG, WARNING = "var(--quiet)", "var(--ink)", "var(--warning)"
"""The colours of lines that only help to read, of those that matter, and of what changes the conclusion."""

HIDDEN = 700
"""How large the invisible mark around a dot is, in square pixels: whoever points near the dot is told its numbers."""

DIGITS = 6
"""How many digits of a number a chart is given."""

LONGEST = 24
"""The characters of a name beside a chart; its middle is left out if it has more."""

ROW = 30
"""How many pixels a line with a name has."""

MOST = 30
"""How many lines with names a chart has at most; the table below it has all."""

Kind = Mapping[str, Any]
TEXT: Kind = {"type": "nominal"}
NUMBER: Kind = {"type": "quantitative", "format": ".4~g"}
SHARE: Kind = {"type": "quantitative", "format": ".2%"}
COUNT: Kind = {"type": "quantitative", "format": ",.0f"}


def make_panel(chart: Any, title: str = "") -> Panel:
    """Return a chart that fills the width of the page, as the language of Vega-Lite says it."""
    spec: dict[str, Any] = chart.to_dict(validate=False)  # which takes most of the time; the tests draw all charts
    return Panel(title, {name: part for name, part in spec.items() if name not in {"$schema", "config"}})


def hold(lines: Iterable[Mapping[str, Any]]) -> Any:
    """Return the data of a chart: short numbers, and names that are safe to show and different from each other."""
    make: Any = alt.Data
    return make(values=[{name: shorten(value) for name, value in line.items()} for line in lines])


def shorten(value: Any) -> Any:
    """Return a number with few digits, nothing if it is not finite, or any other value as it is."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def name_both(case: Case) -> list[str]:
    """Return what a legend calls the log and the target."""
    return tell_apart([case.logged, case.target])


def tell_apart(names: Sequence[object], longest: int = LONGEST) -> list[str]:
    """Return names that are safe to show and all different.

    >>> tell_apart(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    seen: Counter[str] = Counter()
    found = []
    for name in (messages.abbreviate(str(one), longest) for one in names):
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def number(field: str, title: str, *, is_log: bool = False, domain: Sequence[float] | None = None) -> dict[str, Any]:
    """Return the settings of an axis of numbers."""
    scale: dict[str, Any] = {"nice": domain is None and not is_log}
    scale |= {"type": "log"} if is_log else {"zero": False}
    scale |= {} if domain is None else {"domain": list(domain)}
    ticks: Any = {"tickCount": 5, "labelOverlap": True, "grid": not is_log}
    return {"shorthand": f"{field}:Q", "title": title, "scale": alt.Scale(**scale), "axis": alt.Axis(**ticks)}


def hint(**fields: tuple[str, Kind]) -> list[Any]:
    """Return what is shown where the pointer is: fields, what each is called, and what kind of number it is."""
    return [alt.Tooltip(field=name, title=label, **kind) for name, (label, kind) in fields.items()]


def draw_rule(at: float, *, is_vertical: bool = True, colour: str = STRONG) -> Any:
    """Return a dashed line at a number."""
    data = hold([{"at": at}])
    axis = alt.X("at:Q") if is_vertical else alt.Y("at:Q")
    rule = alt.Chart(data).mark_rule(color=colour, strokeDash=[4, 4], strokeWidth=1.2, opacity=0.8, clip=True)
    return rule.encode(axis)


def draw_hints(plot: Any, tooltip: Sequence[Any], **places: Any) -> Any:
    """Return invisible marks over the dots of a chart, which tell their numbers."""
    return plot.mark_point(filled=True, size=HIDDEN, opacity=0, clip=True).encode(tooltip=tooltip, **places)


INTERVAL_HINT = hint(name=("of", TEXT), value=("value", NUMBER), low=("from", NUMBER), high=("to", NUMBER))


def draw_intervals(
    lines: Lines, title: str, colour: Any, domain: tuple[float, float] | None = None, *, is_log: bool = False
) -> Any:
    """Return a dot and an interval for each line (`name`, `value`, `low`, `high`), in their order.

    Intervals that leave the domain end in an arrow.
    """
    ends, values = (alt.X(**number(one, title, is_log=is_log, domain=domain)) for one in ("low", "value"))
    names = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(grid=False, ticks=False, domain=False))
    plot = alt.Chart(hold(lines)).encode(names)
    across = plot.mark_rule(strokeWidth=3.5, opacity=0.45, clip=True).encode(x=ends, x2="high:Q", color=colour)
    dots = plot.mark_point(filled=True, size=110, opacity=1, clip=True).encode(x=values, color=colour)
    arrows = [] if domain is None else draw_arrows(lines, domain, colour)
    return alt.layer(across, *arrows, dots, draw_hints(plot, INTERVAL_HINT, x=values))


def draw_arrows(lines: Lines, domain: tuple[float, float], colour: Any) -> list[Any]:
    """Return a triangle for each interval that goes on beyond an end of the axis."""
    gone = [
        ([{**line, "at": domain[0]} for line in lines if line["low"] < domain[0]], "triangle-left"),
        ([{**line, "at": domain[1]} for line in lines if line["high"] > domain[1]], "triangle-right"),
    ]
    return [
        alt.Chart(hold(several))
        .mark_point(filled=True, size=90, opacity=1, shape=shape)
        .encode(alt.Y("name:N", sort=None), x="at:Q", color=colour)
        for several, shape in gone
        if several
    ]


def limit_domain(lines: Lines, centre: tuple[float, float], times: float = 3.0) -> tuple[float, float] | None:
    """Return the ends of an axis on which a few values far away, or very wide intervals, do not hide all others.

    `centre` is an interval that must be seen well. Nothing is returned if there is nothing to cut.
    """
    middle, reach = sum(centre) / 2, times * (centre[1] - centre[0]) or math.inf
    whole = find_span(lines)
    if whole is None or not math.isfinite(middle):
        return None
    first, last = np.quantile([line["value"] for line in lines], [0.1, 0.9]).tolist()
    low, high = min(middle - reach, first - (last - first) / 2), max(middle + reach, last + (last - first) / 2)
    return None if low <= whole[0] and whole[1] <= high else (max(low, whole[0]), min(high, whole[1]))


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
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    return chart.properties(width="container", height=height, autosize=fit)


LEGEND = alt.Legend(orient="top", direction="horizontal", symbolOpacity=1)


def by_who(names: Sequence[str], colours: Sequence[str], field: str = "who") -> Any:
    """Return a colour for each of a few names, with a legend above the chart."""
    scale = alt.Scale(domain=list(names), range=list(colours))
    return alt.Color(f"{field}:N", scale=scale, title=None, legend=LEGEND)
