"""Support: what the log and the target do of each action, and how likely the log was to do it."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from counterfold.intervals.base import normal_quantile
from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Writer, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base

PROPENSITIES_HINT = base.hint(
    action=("action", base.TEXT), least_propensity=("from", base.NUMBER), largest_propensity=("to", base.NUMBER)
)


def list_columns(today: str, target: str) -> dict[str, tuple[str, Writer]]:
    """Return the columns of the table of actions."""
    return {
        "action": ("Action", formats.text),
        "rows": ("Rows", formats.count),
        "logged_share": (f"Share {today}", formats.percent),
        "target_share": (f"Share with {target}", formats.percent),
        "mean_reward": ("Mean logged reward", formats.setting),
        "least_propensity": ("Propensity from", formats.setting),
        "largest_propensity": ("To", formats.setting),
    }


def list_reward_columns(today: str, target: str) -> dict[str, tuple[str, Writer]]:
    """Return the columns of the table of what actions earn."""
    return {
        "name": ("Action", formats.text),
        "mean_reward": (f"Mean reward {today}", formats.setting),
        "target_reward": (f"With {target}", formats.setting),
        "low": ("From", formats.setting),
        "high": ("To", formats.setting),
    }


def draw_support(case: Case) -> Figure | None:
    """Return the shares of each action in the log and in the target, and the range of its propensities."""
    shown = case.exhibits.get("support")
    if shown is None or not shown.lines:
        return None
    names = base.tell_apart([line["action"] for line in shown.lines])
    lines = [{**line, "action": name} for line, name in zip(shown.lines, names, strict=True)]
    first = lines[: base.MOST]
    both = base.name_both(case)
    panels = [base.make_panel(draw_shares(first, both), "how often each action is taken")]
    if any(line["rows"] for line in first):
        panels.append(base.make_panel(draw_propensities(first, both[0]), "propensities of its rows"))
    rest = f" The table has all {len(lines)} actions." if len(lines) > len(first) else ""
    return Figure(
        f"Each action {case.when} and with {case.called}",
        f"Doubtful are actions that {case.called} takes often and the log hardly ever took: what they earn is "
        f"known from few rows only.{rest}",
        f"Share of {len(first)} actions {case.when} and with {case.called}.",
        panels,
        tabulate("Actions", lines, list_columns(*both)),
    )


def draw_taken(case: Case) -> Figure | None:
    """Return the shares of each action in the log and in the target."""
    shown = case.exhibits.get("support")
    if shown is None or not shown.lines:
        return None
    names, both = base.tell_apart([line["action"] for line in shown.lines]), base.name_both(case)
    lines = [{**line, "action": name} for line, name in zip(shown.lines, names, strict=True)]
    columns = list_columns(*both)
    return Figure(
        "How often each action is taken",
        f"The grey dot is {case.logged}, the blue one {case.called}. The section on support says how well actions are "
        "known.",
        f"Share of {min(len(lines), base.MOST)} actions {case.when} and with {case.called}.",
        [base.make_panel(draw_shares(lines[: base.MOST], both))],
        tabulate("Shares", lines, {name: columns[name] for name in ("action", "logged_share", "target_share")}),
    )


def draw_rewards(case: Case) -> Figure | None:
    """Return what each action earns today, and where the target takes it."""
    shown = case.exhibits.get("support")
    known = [] if shown is None else [line for line in shown.lines if line["target_reward"] is not None]
    if case.shown_answer is None or len(known) < 2:
        return None
    names, both = base.tell_apart([line["action"] for line in known]), base.name_both(case)
    reach = normal_quantile(case.shown_answer.evaluation.level)
    lines = [
        {
            **line,
            "name": name,
            "value": line["target_reward"],
            "low": line["target_reward"] - reach * line["target_stderr"],
            "high": line["target_reward"] + reach * line["target_stderr"],
        }
        for line, name in zip(known, names, strict=True)
    ]
    first = lines[: base.MOST]
    return Figure(
        "What each action earns",
        f"If the bar of {case.called} is right of the grey dot, it takes the action where that earns more. Bars are "
        "normal intervals.",
        f"Mean reward of {len(first)} actions {case.when}, and where {case.called} takes them.",
        [base.make_panel(base.size(draw_earned(first, both), 24 * len(first)))],
        tabulate("Rewards of actions", lines, list_reward_columns(*both)),
    )


def draw_earned(lines: list[dict[str, Any]], names: Sequence[str]) -> Any:
    """Return a dot for what each action earns today, and one with a bar for what it earns with the target."""
    colour = base.by_who(names, [base.LOG, base.TARGET])
    bars = base.draw_intervals([{**line, "who": names[1]} for line in lines], "reward per decision", colour)
    today = [{**line, "who": names[0], "value": line["mean_reward"]} for line in lines]
    plot = alt.Chart(base.hold(today)).encode(alt.Y("name:N", sort=None), alt.X("value:Q"))
    told = base.hint(
        name=("action", base.TEXT),
        mean_reward=(names[0], base.NUMBER),
        target_reward=(names[1], base.NUMBER),
        low=("from", base.NUMBER),
        high=("to", base.NUMBER),
    )
    dots = plot.mark_point(filled=True, size=100, opacity=1).encode(colour)
    return alt.layer(bars, dots, base.draw_hints(plot, told))


def draw_shares(lines: list[dict[str, Any]], names: Sequence[str]) -> Any:
    """Return two dots for each action, and a line between them."""
    kinds = list(zip(names, ("logged_share", "target_share"), strict=True))
    both = [line | {"who": who, "part": line[share]} for who, share in kinds for line in lines]
    across = alt.X(
        "part:Q", title="share of decisions", axis=alt.Axis(format="~%", tickCount=4), scale=alt.Scale(nice=True)
    )
    plot = alt.Chart(base.hold(both)).encode(name_axis(), across)
    line = alt.Chart(base.hold(lines)).mark_rule(color=base.QUIET, strokeWidth=3, opacity=0.6)
    between = line.encode(name_axis(), x="logged_share:Q", x2="target_share:Q")
    dots = plot.mark_point(filled=True, size=90, opacity=1).encode(base.by_who(names, [base.LOG, base.TARGET]))
    told = base.hint(
        action=("action", base.TEXT),
        rows=("rows", base.COUNT),
        logged_share=(names[0], base.SHARE),
        target_share=(names[1], base.SHARE),
        mean_reward=("mean logged reward", base.NUMBER),
    )
    return base.size(alt.layer(between, dots, base.draw_hints(plot, told)), 24 * len(lines))


def draw_propensities(lines: list[dict[str, Any]], today: str) -> Any:
    """Return the range of the propensities with which each action was logged."""
    known = [line | {"who": today} for line in lines if line["rows"]]
    axis = alt.Axis(format="~g", tickCount=4, labelOverlap=True, grid=False)
    scale = alt.Scale(type="log")
    across = alt.X("least_propensity:Q", title="propensity (logarithmic)", scale=scale, axis=axis)
    colour = base.by_who([today], [base.LOG])  # with a legend, as beside it
    plot = alt.Chart(base.hold(known)).encode(name_axis([line["action"] for line in lines]), colour)
    ends = plot.mark_point(filled=True, size=45, opacity=1)
    rule = plot.mark_rule(strokeWidth=3.5, opacity=0.5).encode(across, x2="largest_propensity:Q")
    both = [across, alt.X("largest_propensity:Q")]
    hints = [base.draw_hints(plot, PROPENSITIES_HINT, x=one) for one in both]
    return base.size(alt.layer(rule, *(ends.encode(one) for one in both), *hints), 24 * len(lines))


def name_axis(every: list[str] | None = None) -> Any:
    """Return the axis with the names of actions, in their order."""
    scale = alt.Scale() if every is None else alt.Scale(domain=every)
    return alt.Y("action:N", sort=None, title=None, scale=scale, axis=alt.Axis(grid=True, ticks=False, domain=False))
