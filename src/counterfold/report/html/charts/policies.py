"""Policies: what the log earned and what the targets would have earned, on one scale; and the differences."""

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base
from counterfold.report.numbers import find_error

VALUES_COLUMNS = {
    "name": ("Policy", formats.text),
    "value": ("Reward per decision", formats.value),
    "low": ("From", formats.value),
    "high": ("To", formats.value),
}

DIFFERENCES_COLUMNS = {
    "name": ("Policy", formats.text),
    "value": ("Difference", formats.signed),
    "low": ("From", formats.signed),
    "high": ("To", formats.signed),
}

HEIGHT = 1.4 * base.ROW
"""How many pixels a policy has; of many, each has but a line."""

MANY = 10
"""So many policies are many."""


def draw_values(cases: Sequence[Case]) -> Figure | None:
    """Return the log and all targets that the log can answer for, judged by the same reward."""
    shown = [(case.target, case.shown_answer.evaluation) for case in cases if case.shown_answer is not None]
    if not shown:
        return None
    first = shown[0][1]
    numbers = [(first.logged.value, first.logged.interval()), *((one.value, one.interval) for _, one in shown)]
    names = base.tell_apart([cases[0].logged, *(target for target, _ in shown)])
    lines = [
        {"name": name, "value": value, "low": ends.low, "high": ends.high, "who": "new" if place else "log"}
        for place, (name, (value, ends)) in enumerate(zip(names, numbers, strict=True))
    ]
    error = min(find_error(one.stderr, one.interval) for _, one in shown)
    scale = alt.Scale(domain=["log", "new"], range=[base.LOG, base.TARGET])
    drawn = lines[: base.MOST]
    pictured = base.draw_intervals(drawn, "reward per decision", alt.Color("who:N", scale=scale, legend=None))
    level, baseline = 100 * first.level, next(case.answered.baseline for case in cases if case.answered)
    return Figure(
        "What each policy earns per decision",
        f"The dot is the estimate. In about {level:g} of 100 such reports the bar holds the true value, if nothing "
        "speaks against the answer. Whether bars overlap says little: the picture of differences compares each policy "
        f"with {baseline} on the same decisions.{tell_rest(lines)}",
        f"Reward per decision with {level:g} % intervals. {spell_out(drawn, formats.value, error)}",
        [base.make_panel(base.size(pictured, find_height(drawn)))],
        tabulate("Reward per decision", lines, VALUES_COLUMNS, error),
    )


def draw_differences(cases: Sequence[Case]) -> Figure | None:
    """Return the differences to the log, or to the baseline, of all targets that the log can answer for."""
    known = [(case.target, case.answered) for case in cases if case.answered is not None and case.answered.is_known]
    gaps = [
        (target, one, one.gap, one.gap.interval()) for target, one in known if one.gap is not None and not one.is_same
    ]
    if not gaps:
        return None
    names = base.tell_apart([target for target, *_ in gaps])
    lines = [
        {"name": name, "value": gap.value, "low": ends.low, "high": ends.high}
        for name, (_, _, gap, ends) in zip(names, gaps, strict=True)
    ]
    error = min(find_error(gap.stderr, ends) for _, _, gap, ends in gaps)
    baseline, interval, drawn = gaps[0][1].baseline, gaps[0][1].interval_name, lines[: base.MOST]
    pictured = base.draw_intervals(drawn, f"difference to {baseline}, per decision", alt.value(base.TARGET))
    chart = base.size(alt.layer(base.draw_rule(0.0), pictured), max(find_height(drawn), 2 * HEIGHT))
    return Figure(
        f"How much more than {baseline}",
        "Right of the dashed line is more, left of it is less. If a bar crosses the line, the log cannot tell which. "
        f"Each bar is the {interval}.{tell_rest(lines)}",
        f"Difference to {baseline} per decision, {interval}. {spell_out(drawn, formats.signed, error)}",
        [base.make_panel(chart)],
        tabulate(f"Difference to {baseline}", lines, DIFFERENCES_COLUMNS, error),
    )


def find_height(lines: Sequence[dict[str, Any]]) -> float:
    """Return how high a picture with a line for each policy is."""
    return (base.ROW * 0.7 if len(lines) > MANY else HEIGHT) * len(lines)


def tell_rest(lines: Sequence[dict[str, Any]]) -> str:
    """Return that a picture has only the first lines, if so."""
    return f" The table has all {len(lines)}." if len(lines) > base.MOST else ""


def spell_out(lines: Sequence[dict[str, Any]], write: Callable[[float, float], str], error: float) -> str:
    """Return values and intervals as a sentence."""
    numbers = [[line["name"], *(write(line[end], error) for end in ("value", "low", "high"))] for line in lines]
    return "; ".join(f"{name}: {value}, from {low} to {high}" for name, value, low, high in numbers) + "."
