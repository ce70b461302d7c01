"""Support: what the log and the target do of each action, and how likely the log was to do it."""

from typing import Any

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base

SUPPORT_COLUMNS = {
    "action": ("Action", formats.text),
    "rows": ("Rows", formats.count),
    "logged_share": ("Share in the log", formats.percent),
    "target_share": ("Share in the target", formats.percent),
    "mean_reward": ("Mean logged reward", formats.setting),
    "least_propensity": ("Propensity from", formats.setting),
    "largest_propensity": ("To", formats.setting),
}

SHARES_HINT = base.hint(
    action=("action", base.TEXT),
    rows=("rows", base.COUNT),
    logged_share=("share in the log", base.SHARE),
    target_share=("share in the target", base.SHARE),
    mean_reward=("mean logged reward", base.NUMBER),
)

PROPENSITIES_HINT = base.hint(
    action=("action", base.TEXT), least_propensity=("from", base.NUMBER), largest_propensity=("to", base.NUMBER)
)


def draw_support(case: Case) -> Figure | None:
    """Return the shares of each action in the log and in the target, and the range of its propensities."""
    shown = case.exhibits.get("support")
    if shown is None or not shown.lines:
        return None
    names = base.tell_apart([line["action"] for line in shown.lines])
    lines = [{**line, "action": name} for line, name in zip(shown.lines, names, strict=True)]
    first = lines[: base.MOST]
    panels = [base.make_panel(draw_shares(first), "how often each action is taken")]
    if any(line["rows"] for line in first):
        panels.append(base.make_panel(draw_propensities(first), "propensities of its rows"))
    rest = f" The table has all {len(lines)} actions." if len(lines) > len(first) else ""
    return Figure(
        "Each action in the log and in the new policy",
        "Doubtful are actions that the new policy takes often and the log hardly ever took: what they earn is known "
        f"from few rows only.{rest}",
        f"Share of {len(first)} actions in the log and in the target.",
        panels,
        tabulate("Actions", lines, SUPPORT_COLUMNS),
    )


def draw_shares(lines: list[dict[str, Any]]) -> Any:
    """Return two dots for each action, and a line between them."""
    both = [line | {"who": "log", "part": line["logged_share"]} for line in lines]
    both += [line | {"who": "new policy", "part": line["target_share"]} for line in lines]
    across = alt.X(
        "part:Q", title="share of decisions", axis=alt.Axis(format="~%", tickCount=4), scale=alt.Scale(nice=True)
    )
    plot = alt.Chart(base.hold(both)).encode(name_axis(), tooltip=SHARES_HINT)
    line = alt.Chart(base.hold(lines)).mark_rule(color=base.QUIET, strokeWidth=3, opacity=0.6)
    between = line.encode(name_axis(), x="logged_share:Q", x2="target_share:Q")
    colour = base.by_who(["log", "new policy"], [base.LOG, base.TARGET])
    dots = plot.mark_point(filled=True, size=90, opacity=1).encode(across, colour)
    return base.size(alt.layer(between, dots), 24 * len(lines))


def draw_propensities(lines: list[dict[str, Any]]) -> Any:
    """Return the range of the propensities with which each action was logged."""
    known = [line | {"who": "log"} for line in lines if line["rows"]]
    across = alt.X(
        "least_propensity:Q",
        title="propensity (logarithmic)",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(format="~g", tickCount=4, labelOverlap=True, grid=False),
    )
    every = [line["action"] for line in lines]
    colour = base.by_who(["log"], [base.LOG])  # with a legend, as beside it
    plot = alt.Chart(base.hold(known)).encode(name_axis(every), colour, tooltip=PROPENSITIES_HINT)
    ends = plot.mark_point(filled=True, size=45, opacity=1)
    rule = plot.mark_rule(strokeWidth=3.5, opacity=0.5).encode(across, x2="largest_propensity:Q")
    return base.size(alt.layer(rule, ends.encode(x=across), ends.encode(x="largest_propensity:Q")), 24 * len(lines))


def name_axis(every: list[str] | None = None) -> Any:
    """Return the axis with the names of actions, in their order."""
    scale = alt.Scale() if every is None else alt.Scale(domain=every)
    return alt.Y("action:N", sort=None, title=None, scale=scale, axis=alt.Axis(grid=True, ticks=False, domain=False))
