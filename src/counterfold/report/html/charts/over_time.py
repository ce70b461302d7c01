"""Over time: what the target would have earned in each period, and what the log did."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Lines, Writer, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base

OVER_TIME_HINT = base.hint(
    start=("from", base.TEXT),
    who=("of", base.TEXT),
    value=("value", base.NUMBER),
    low=("from", base.NUMBER),
    high=("to", base.NUMBER),
    rows=("rows", base.COUNT),
)

OVER_TIME_COLUMNS: Mapping[str, tuple[str, Writer]] = {"start": ("From", formats.text), "rows": ("Rows", formats.count)}


def draw_over_time(case: Case) -> Figure | None:
    """Return a line for the target and one for the log, each with two standard errors to both sides."""
    history = case.diagnostics.history
    if history is None or not case.is_answerable or len(history.table) < 2:
        return None
    today, target = base.name_both(case)
    lines = [asdict(one) for one in history.table]
    kinds = ((target, "value", "stderr"), (today, "logged", "logged_stderr"))
    both = [describe(line, who, line[value], line[stderr]) for who, value, stderr in kinds for line in lines]
    error = min((one["stderr"] for one in lines if one["stderr"] > 0), default=0.0)
    numbers = {value: (who, formats.value) for who, value, _ in kinds}
    errors = {stderr: (f"Std. error of {who}", formats.value) for who, _, stderr in kinds}
    return Figure(
        "Value over time",
        "If the lines change their distance, an average over the whole log says little about the future. Bands are two "
        f"standard errors to both sides, of {case.called} by {history.estimator}; those of short periods are not "
        "taken for smaller than all rows together allow.",
        f"Value of {case.called} and of {today} in {len(lines)} periods, each a {history.used_period}.",
        [base.make_panel(base.size(draw_lines(both, [today, target], history.used_period), 220))],
        tabulate("Value over time", lines, {**OVER_TIME_COLUMNS, **numbers, **errors}, error),
    )


def draw_difference(case: Case) -> Figure | None:
    """Return the difference to the baseline over time, with its intervals."""
    answered = case.shown_answer
    found = None if answered is None else answered.compared.over_time().get(case.target)
    if answered is None or found is None or not answered.is_known or answered.is_same or len(found.table) < 2:
        return None
    lines = [{**asdict(line), "who": base.name_both(case)[1], "value": line.difference} for line in found.table]
    error = min((line.stderr for line in found.table if line.stderr > 0), default=0.0)
    level = f"{100 * answered.evaluation.level:g} %"
    chance = "" if found.p is None else f" If nothing changed, chance would let it differ so with p = {found.p:.2g}."
    names = {
        "difference": ("Difference", formats.signed),
        "low": ("From", formats.signed),
        "high": ("To", formats.signed),
    }
    return Figure(
        "Difference over time",
        f"How much more {case.called} would have earned than {answered.baseline} in each {found.period}, by "
        f"{found.estimator}, with intervals of {level} each, of paired differences.{chance}",
        f"Difference of {case.called} to {answered.baseline} in {len(lines)} periods, each a {found.period}.",
        [base.make_panel(base.size(draw_gaps(lines, found.period), 200))],
        tabulate("Difference over time", lines, {**OVER_TIME_COLUMNS, **names}, error),
    )


def draw_gaps(lines: Lines, period: str) -> Any:
    """Return a line with its band, beside 0."""
    axis = alt.Axis(title=f"{period} from", labelAngle=0, labelOverlap="greedy", grid=False)
    plot = alt.Chart(base.hold(lines)).encode(alt.X("start:N", axis=axis, sort=None))
    height = alt.Y(**base.number("value", "difference per decision"))
    band = plot.mark_area(opacity=0.16, color=base.TARGET).encode(y=alt.Y("low:Q", stack=None), y2="high:Q")
    dots = plot.mark_point(filled=True, size=45, opacity=1, color=base.TARGET).encode(height)
    rule = base.draw_rule(0.0, is_vertical=False, colour=base.LOG)
    line = plot.mark_line(color=base.TARGET).encode(height)
    return alt.layer(rule, band, line, dots, base.draw_hints(plot, OVER_TIME_HINT, y=height))


def describe(line: Mapping[str, Any], who: str, value: float, stderr: float) -> dict[str, Any]:
    """Return a dot of a line, with the ends of its band."""
    ends = {"low": value - 2 * stderr, "high": value + 2 * stderr}
    return {"start": line["start"], "rows": line["rows"], "who": who, "value": value, **ends}


def draw_lines(both: Lines, names: Sequence[str], period: str) -> Any:
    """Return two lines with their bands."""
    axis = alt.Axis(title=f"{period} from", labelAngle=0, labelOverlap="greedy", grid=False)
    colour = base.by_who(names, [base.LOG, base.TARGET])
    plot = alt.Chart(base.hold(both)).encode(alt.X("start:N", axis=axis, sort=None), colour)
    height = alt.Y(**base.number("value", "reward per decision"))
    band = plot.mark_area(opacity=0.16).encode(y=alt.Y("low:Q", stack=None), y2="high:Q")
    dots = plot.mark_point(filled=True, size=45, opacity=1).encode(height)
    return alt.layer(band, plot.mark_line().encode(height), dots, base.draw_hints(plot, OVER_TIME_HINT, y=height))
