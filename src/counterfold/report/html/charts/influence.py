"""Influence: the rows that carry the answer, and what would be left without them."""

from collections.abc import Mapping
from typing import Any

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Lines, Table, Writer, tabulate
from counterfold.report.html.cases import Answered, Case
from counterfold.report.html.charts import base

WITHOUT_COLUMNS = {
    "place": ("Rows left out", formats.count),
    "without": ("Value", formats.value),
}

WITHOUT_HINT = base.hint(place=("rows left out", base.COUNT), without=("value without them", base.NUMBER))

ROWS_COLUMNS = {
    "row": ("Row (from 0)", formats.count),
    "share": ("Share of all influence", formats.percent),
    "action": ("Action", formats.text),
    "reward": ("Reward", formats.setting),
    "weight": ("Weight", formats.setting),
    "propensity": ("Propensity", formats.setting),
}

PART_COLUMNS = {
    "rows": ("Rows", formats.count),
    "weight_share": ("Share of all weight", formats.percent),
    "without": ("Value without it", formats.value),
    "difference": ("Difference to the log without it", formats.signed),
}

GROUPS_COLUMNS = {"row": ("Group of row (from 0)", formats.count), **PART_COLUMNS}
DAYS_COLUMNS = {"day": ("Day", formats.text), **PART_COLUMNS}

CALM = 0.25
"""The axis of values reaches at least this share of the first one to both sides, so that small changes look small."""


def draw_without(case: Case) -> Figure | None:
    """Return what SNIPS says without the most influential row, without two of them, and so on."""
    shown, answered = case.exhibits.get("influence"), case.shown_answer
    if shown is None or answered is None:
        return None
    values = [shown.facts["snips"], *(line["without"] for line in shown.lines)]
    lines = [{"place": place, "without": value} for place, value in enumerate(values) if value is not None]
    today = answered.evaluation.logged.value
    said = tell_values(lines, answered)
    return Figure(
        "The answer without the rows that carry it",
        f"{said} If a handful of rows changes the answer much, then those rows are the answer: look at them one by "
        f"one. Dots are a plain weighted mean (SNIPS); the dashed line is what {answered.earned}.",
        f"Value without up to {len(lines) - 1} rows. {said}",
        [base.make_panel(base.size(draw_values(lines, today), 200))],
        tabulate("Value without the most influential rows", lines, WITHOUT_COLUMNS, answered.error),
    )


def tell_values(lines: Lines, answered: Answered) -> str:
    """Return the value with all rows, without the first one, and without all that are shown; and what today earns."""
    ends = [lines[1], lines[-1]] if len(lines) > 2 else lines[1:]
    told = [
        f"without {line['place']} row{'s' if line['place'] > 1 else ''} {answered.write(line['without'])}"
        for line in ends
    ]
    today = f"{answered.earned} {answered.write(answered.evaluation.logged.value)}"
    return f"With all rows {answered.write(lines[0]['without'])}, {', '.join(told)}; {today}."


def draw_values(lines: Lines, today: float) -> Any:
    """Return the values as dots, beside what is earned today."""
    values = [line["without"] for line in lines]
    far = CALM * abs(values[0])
    ends = [min(*values, today), max(*values, today)]
    domain = base.widen(min(ends[0], values[0] - far), max(ends[1], values[0] + far))
    plot = alt.Chart(base.hold(lines)).encode(
        alt.X("place:O", title="rows left out, the most influential first", axis=alt.Axis(labelAngle=0, grid=False)),
        alt.Y(**base.number("without", "reward per decision", domain=domain)),
    )
    dots = plot.mark_point(color=base.TARGET, filled=True, size=70, opacity=1)
    rule = base.draw_rule(today, is_vertical=False, colour=base.LOG)
    return alt.layer(rule, plot.mark_line(color=base.TARGET), dots, base.draw_hints(plot, WITHOUT_HINT))


def list_rows(case: Case) -> Table | None:
    """Return the rows that carry the answer."""
    shown = case.exhibits.get("influence")
    if shown is None:
        return None
    return tabulate("The rows that carry the answer", shown.lines, ROWS_COLUMNS)


def list_groups(case: Case) -> Table | None:
    """Return the groups that carry the answer, each known by one of its rows, and what SNIPS says without each."""
    return list_parts(case, "groups", "The groups that carry the answer", GROUPS_COLUMNS)


def list_days(case: Case) -> Table | None:
    """Return the days that carry the answer, and what SNIPS says without each."""
    return list_parts(case, "days", "The days that carry the answer", DAYS_COLUMNS)


def list_parts(case: Case, name: str, title: str, columns: Mapping[str, tuple[str, Writer]]) -> Table | None:
    """Return what an exhibit says of groups or days, where there is an answer."""
    shown, answered = case.exhibits.get(name), case.shown_answer
    return None if shown is None or answered is None else tabulate(title, shown.lines, columns, answered.error)
