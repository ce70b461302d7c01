"""Influence: the rows that carry the answer, and what would be left without them."""

from typing import Any

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Lines, Table, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base


def change(share: float, error: float = 0.0) -> str:
    """Return a change in percent, with its sign."""
    return f"{'+' if share > 0 else ''}{formats.percent(share)}"


WITHOUT_COLUMNS = {
    "place": ("Rows left out", formats.count),
    "without": ("Value", formats.value),
    "change": ("Change", change),
}

WITHOUT_HINT = base.hint(
    place=("rows left out", base.COUNT), change=("change", base.CHANGE), without=("value without them", base.NUMBER)
)

ROWS_COLUMNS = {
    "row": ("Row (from 0)", formats.count),
    "share": ("Share of all influence", formats.percent),
    "action": ("Action", formats.text),
    "reward": ("Reward", formats.setting),
    "weight": ("Weight", formats.setting),
    "propensity": ("Propensity", formats.setting),
}

SIGNED = "datum.value ? format(datum.value, '+.0%') : '0%'"
"""How the axis of changes is labelled."""

CALM = 0.25
"""The axis of changes has at least this length, so that small changes look small."""


def draw_without(case: Case) -> Figure | None:
    """Return by how much SNIPS changes without the most influential row, without two of them, and so on."""
    shown, answered = case.exhibits.get("influence"), case.shown_answer
    if shown is None or answered is None or not shown.facts["snips"]:
        return None
    whole, error = shown.facts["snips"], answered.evaluation.stderr
    values = [whole, *(line["without"] for line in shown.lines)]
    lines = [
        {"place": place, "without": value, "change": (value - whole) / abs(whole)}
        for place, value in enumerate(values)
        if value is not None
    ]
    said = tell_changes(lines)
    return Figure(
        "The answer without the rows that carry it",
        f"{said} If a handful of rows changes the answer much, then those rows are the answer: look at them one by "
        "one. Dots are a plain weighted mean (SNIPS).",
        f"Change of the value without up to {len(lines) - 1} rows. {said}",
        [base.make_panel(base.size(draw_changes(lines), 200))],
        tabulate("Value without the most influential rows", lines, WITHOUT_COLUMNS, error),
    )


def tell_changes(lines: Lines) -> str:
    """Return what the first row does, and all that are shown.

    >>> tell_changes([{"change": 0.0, "place": 0}, {"change": -0.38, "place": 1}]).replace(formats.PERCENT, " %")
    'Without 1 row: -38.0 %.'
    """
    ends = [lines[1], lines[-1]] if len(lines) > 2 else lines[-1:]
    told = [f"{line['place']} row{'s' if line['place'] > 1 else ''}: {change(line['change'])}" for line in ends]
    return f"Without {', without '.join(told)}."


def draw_changes(lines: Lines) -> Any:
    """Return the changes as dots, the first and the last with their number."""
    least, most = (pick(line["change"] for line in lines) for pick in (min, max))
    domain = (min(1.12 * least, -CALM if least < 0 or not most else 0.0), max(1.12 * most, CALM if most > 0 else 0.0))
    scale = alt.Scale(domain=domain, nice=False)
    plot = alt.Chart(base.hold(lines)).encode(
        alt.X("place:O", title="rows left out, the most influential first", axis=alt.Axis(labelAngle=0, grid=False)),
        alt.Y("change:Q", title="change of the value", scale=scale, axis=alt.Axis(labelExpr=SIGNED, tickCount=5)),
    )
    dots = plot.mark_point(color=base.TARGET, filled=True, size=70, opacity=1)
    rule = base.draw_rule(0.0, is_vertical=False)
    return alt.layer(rule, plot.mark_line(color=base.TARGET), dots, base.draw_hints(plot, WITHOUT_HINT))


def list_rows(case: Case) -> Table | None:
    """Return the rows that carry the answer."""
    shown = case.exhibits.get("influence")
    if shown is None:
        return None
    return tabulate("The rows that carry the answer", shown.lines, ROWS_COLUMNS)
