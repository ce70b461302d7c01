"""Calibration: what was predicted against what happened, of reward models and of fitted propensities."""

from dataclasses import asdict
from typing import Any

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Lines, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base

CALIBRATION_COLUMNS = {
    "name": ("Group", formats.text),
    "rows": ("Rows", formats.count),
    "predicted": ("Predicted", formats.setting),
    "observed": ("Observed", formats.setting),
    "low": ("From", formats.setting),
    "high": ("To", formats.setting),
}

BY_ACTION_HINT = base.hint(
    name=("action", base.TEXT),
    observed=("observed", base.NUMBER),
    low=("from", base.NUMBER),
    high=("to", base.NUMBER),
    predicted=("predicted", base.NUMBER),
    rows=("rows", base.COUNT),
)

BY_ACTION_COLUMNS = {
    "name": ("Action", formats.text),
    "rows": ("Rows", formats.count),
    "predicted": ("Predicted", formats.setting),
    "observed": ("Observed", formats.setting),
    "low": ("From", formats.setting),
    "high": ("To", formats.setting),
}

RELIABILITY_COLUMNS = {
    "name": ("Group", formats.text),
    "pairs": ("Rows times actions", formats.count),
    "predicted": ("Fitted", formats.setting),
    "observed": ("Observed", formats.setting),
}

DIAGONAL_HINT = base.hint(predicted=("predicted", base.NUMBER), observed=("observed", base.NUMBER))


def draw_calibration(case: Case) -> Figure | None:
    """Return predicted against observed rewards, in tenths of the rows."""
    shown = case.exhibits.get("calibration")
    if shown is None:
        return None
    chart = draw_diagonal(shown.lines, "predicted reward", "observed reward")
    return Figure(
        "Reward model: predicted and observed",
        f"Each dot is about a tenth of what {case.called} does, predicted by a model that has not seen these rows. "
        "On the dashed line the predictions are right on average; the bar is the noise of what was observed.",
        f"Observed against predicted rewards in {len(shown.lines)} groups of rows.",
        [base.make_panel(chart)],
        tabulate("Calibration of the reward model", shown.lines, CALIBRATION_COLUMNS),
    )


def draw_by_action(case: Case) -> Figure | None:
    """Return predicted and observed rewards of each action."""
    shown = case.exhibits.get("action-calibration")
    if shown is None:
        return None
    names = base.tell_apart([line["name"] for line in shown.lines])
    lines = [{**line, "name": name, "value": line["observed"]} for line, name in zip(shown.lines, names, strict=True)]
    first = lines[: base.MOST]
    rest = f" The table has all {len(lines)} actions." if len(lines) > len(first) else ""
    return Figure(
        "Reward model by action",
        f"The diamond should lie within the bar. Where it does not, the model is wrong about that action where "
        f"{case.called} takes it.{rest}",
        f"Predicted and observed rewards of {len(first)} actions.",
        [base.make_panel(base.size(draw_actions(first), 24 * len(first)))],
        tabulate("Calibration by action", lines, BY_ACTION_COLUMNS),
    )


def draw_actions(lines: Lines) -> Any:
    """Return a dot with an interval for what was observed of each action, and a diamond for what was predicted."""
    kinds = ("observed", "predicted")
    colour = base.by_who(kinds, [base.LOG, base.TARGET])
    bars = base.draw_intervals([{**line, "who": "observed"} for line in lines], "reward", colour)
    both = [{**line, "who": who, "value": line[who]} for who in kinds for line in lines]
    shape = alt.Shape("who:N", scale=alt.Scale(domain=kinds, range=["circle", "diamond"]), title=None)
    plot = alt.Chart(base.hold(both)).encode(alt.Y("name:N", sort=None), alt.X("value:Q"))
    dots = plot.mark_point(filled=True, size=100, opacity=1).encode(shape, colour)
    return alt.layer(bars, dots, base.draw_hints(plot, BY_ACTION_HINT))


def draw_reliability(case: Case) -> Figure | None:
    """Return fitted propensities against how often actions were taken."""
    fitted = None if case.contents is None else case.contents.fitted
    if fitted is None:
        return None
    lines = [asdict(one) | {"name": str(place)} for place, one in enumerate(fitted.quality.reliability, 1)]
    chart = draw_diagonal(lines, "fitted probability", "how often it was taken")
    return Figure(
        "Fitted propensities: predicted and observed",
        "The log has no propensities, so they were fitted. On the dashed line, actions that were said to be taken in "
        "30 of 100 cases were taken in 30.",
        f"Frequencies of actions against their fitted probabilities in {len(lines)} groups.",
        [base.make_panel(chart)],
        tabulate("Reliability of the fitted propensities", lines, RELIABILITY_COLUMNS),
    )


def draw_diagonal(lines: Lines, across: str, upwards: str) -> Any:
    """Return observed against predicted numbers, and the line on which both are the same."""
    predicted = [line["predicted"] for line in lines]
    domain = base.widen(min(predicted), max(predicted))
    ends = base.hold([{"at": end} for end in domain])
    same = alt.Chart(ends).mark_line(color=base.QUIET, strokeDash=[4, 4]).encode(x="at:Q", y="at:Q")
    x = alt.X(**base.number("predicted", across, domain=domain))
    y = alt.Y(**base.number("observed", upwards))
    plot = alt.Chart(base.hold(lines)).encode(x)
    dots = plot.mark_point(color=base.TARGET, filled=True, size=80, opacity=1).encode(y)
    bars = plot.mark_rule(color=base.TARGET, strokeWidth=3, opacity=0.4).encode(y="low:Q", y2="high:Q")
    hints = base.draw_hints(plot, DIAGONAL_HINT, y=y)
    return base.size(alt.layer(same, *([bars] if "low" in lines[0] else []), dots, hints), 260)
