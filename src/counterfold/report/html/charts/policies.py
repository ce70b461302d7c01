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
    "confidence": ("Confidence that it is better", formats.probability),
}

HEIGHT = 1.4 * base.ROW


def draw_values(cases: Sequence[Case]) -> Figure | None:
    """Return the log and all targets that the log can answer for, judged by the same reward."""
    shown = [(case.target, case.shown_answer.evaluation) for case in cases if case.shown_answer is not None]
    if not shown:
        return None
    first = shown[0][1]
    numbers = [(first.logged.value, first.logged.interval()), *((one.value, one.interval) for _, one in shown)]
    names = base.tell_apart(["today", *(target for target, _ in shown)])
    lines = [
        {"name": name, "value": value, "low": ends.low, "high": ends.high, "who": "new" if place else "today"}
        for place, (name, (value, ends)) in enumerate(zip(names, numbers, strict=True))
    ]
    error = min(find_error(one.stderr, one.interval) for _, one in shown)
    scale = alt.Scale(domain=["today", "new"], range=[base.LOG, base.TARGET])
    pictured = base.draw_intervals(lines, "reward per decision", alt.Color("who:N", scale=scale, legend=None))
    level, baseline = 100 * first.level, next(case.answered.baseline for case in cases if case.answered)
    return Figure(
        "What each policy earns per decision",
        f"The dot is the estimate. In about {level:g} of 100 such reports the bar holds the true value, if nothing "
        f"speaks against the answer. Whether bars overlap says little: the next picture compares each policy with "
        f"{baseline} on the same decisions.",
        f"Reward per decision with {level:g} % intervals. {spell_out(lines, formats.value, error)}",
        [base.make_panel(base.size(pictured, HEIGHT * len(lines)))],
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
        {"name": name, "value": gap.value, "low": ends.low, "high": ends.high, "confidence": one.confidence}
        for name, (_, one, gap, ends) in zip(names, gaps, strict=True)
    ]
    error = min(find_error(gap.stderr, ends) for _, _, gap, ends in gaps)
    baseline, level = gaps[0][1].baseline, 100 * gaps[0][1].evaluation.level
    pictured = base.draw_intervals(lines, f"difference to {baseline}, per decision", alt.value(base.TARGET))
    chart = base.size(alt.layer(base.draw_rule(0.0), pictured), HEIGHT * max(len(lines), 2))
    return Figure(
        f"How much more than {baseline}",
        "Right of the dashed line is more, left of it is less. If a bar crosses the line, the log cannot tell which.",
        f"Difference to {baseline} per decision with {level:g} % intervals. {spell_out(lines, formats.signed, error)}",
        [base.make_panel(chart)],
        tabulate(f"Difference to {baseline}", lines, DIFFERENCES_COLUMNS, error),
    )


def spell_out(lines: Sequence[dict[str, Any]], write: Callable[[float, float], str], error: float) -> str:
    """Return values and intervals as a sentence."""
    numbers = [[line["name"], *(write(line[end], error) for end in ("value", "low", "high"))] for line in lines]
    return "; ".join(f"{name}: {value}, from {low} to {high}" for name, value, low, high in numbers) + "."
