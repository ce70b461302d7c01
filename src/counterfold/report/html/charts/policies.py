"""Policies: what the log earned and what the targets would have earned, on one scale; and the differences."""

from collections.abc import Sequence

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base
from counterfold.report.numbers import find_error


def draw_values(cases: Sequence[Case]) -> Figure | None:
    """Return the log and all targets that the log can answer for, judged by the same reward."""
    shown = [(case, case.shown_answer.evaluation) for case in cases if case.shown_answer is not None]
    if not shown:
        return None
    first = shown[0][1]
    names = base.tell_apart(["today", *(case.target for case, _ in shown)])
    numbers = [(first.logged.value, first.logged.interval()), *((one.value, one.interval) for _, one in shown)]
    lines = [
        {"name": name, "value": value, "low": ends.low, "high": ends.high, "who": "new" if place else "today"}
        for place, (name, (value, ends)) in enumerate(zip(names, numbers, strict=True))
    ]
    error = min(find_error(one.stderr, one.interval) for _, one in shown)
    write = formats.to_error(error)
    said = "; ".join(f"{one['name']}: {write(one['value'])}, {write(one['low'])} to {write(one['high'])}" for one in lines)
    colour = base.by_who(["today", "new"], [base.LOG, base.TARGET]).copy()
    colour.legend = None
    chart = base.size(base.draw_intervals(lines, "reward per decision", colour), base.ROW * 1.4 * len(lines))
    return Figure(
        "What each policy earns per decision",
        f"The dot is the estimate. The true value lies within the bar in about {100 * first.level:g} of 100 such reports. "
        "Do not judge by whether bars overlap: the next picture compares the policies on the same decisions.",
        f"Reward per decision with {100 * first.level:g} % intervals. {said}.",
        [base.make_panel(chart)],
        tabulate("Reward per decision", lines, name=("Policy", formats.text), value=("Reward per decision", write),
                 low=("From", write), high=("To", write)),
    )  # fmt: skip


def draw_differences(cases: Sequence[Case]) -> Figure | None:
    """Return the differences to the log, or to the baseline, of all targets that the log can answer for."""
    known = [one.answered for one in cases if one.answered is not None and one.answered.is_known]
    shown = [(case.target, case.answered, case.answered.gap) for case in cases if case.answered in known and case.answered]
    gaps = [(target, one, gap, gap.interval()) for target, one, gap in shown if gap is not None]
    if not gaps:
        return None
    names = base.tell_apart([target for target, *_ in gaps])
    lines = [
        {"name": name, "value": gap.value, "low": ends.low, "high": ends.high, "chance": one.chance}
        for name, (_, one, gap, ends) in zip(names, gaps, strict=True)
    ]
    write = formats.to_error_signed(min(find_error(gap.stderr, ends) for _, _, gap, ends in gaps))
    baseline, level = gaps[0][1].baseline, gaps[0][1].evaluation.level
    said = "; ".join(f"{one['name']}: {write(one['value'])}, {write(one['low'])} to {write(one['high'])}" for one in lines)
    pictured = base.draw_intervals(lines, f"difference to {baseline}, per decision", base.alt.value(base.TARGET))
    chart = base.size(base.alt.layer(base.draw_rule(0.0), pictured), base.ROW * 1.4 * max(len(lines), 2))
    return Figure(
        f"How much more than {baseline}",
        "Right of the dashed line is more, left of it is less. If a bar crosses the line, the log cannot tell which.",
        f"Difference to {baseline} per decision with {100 * level:g} % intervals. {said}.",
        [base.make_panel(chart)],
        tabulate(f"Difference to {baseline}", lines, name=("Policy", formats.text), value=("Difference", write),
                 low=("From", write), high=("To", write), chance=("Chance of being better", formats.probability)),
    )  # fmt: skip
