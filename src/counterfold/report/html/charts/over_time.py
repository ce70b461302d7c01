"""Over time: what the target would have earned in each period, and what the log did."""

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base

OVER_TIME_HINT = base.hint(start=("from", base.TEXT), who=("of the", base.TEXT), value=("value", base.NUMBER))

OVER_TIME_COLUMNS = {
    "start": ("From", formats.text),
    "rows": ("Rows", formats.count),
    "value": ("Target", formats.value),
    "stderr": ("Std. error", formats.value),
    "logged": ("Log", formats.value),
}


def draw_over_time(case: Case) -> Figure | None:
    """Return a line for the target, with two standard errors to both sides, and one for the log."""
    history = case.diagnostics.history
    if history is None or not case.is_answerable or len(history.table) < 2:
        return None
    lines = [
        {**one._asdict(), "low": one.value - 2 * one.stderr, "high": one.value + 2 * one.stderr}
        for one in history.table
    ]
    both = [line | {"who": "target"} for line in lines]
    both += [{"start": line["start"], "value": line["logged"], "who": "log"} for line in lines]
    axis = alt.Axis(title=f"{history.used_period} from", labelAngle=0, labelOverlap="greedy", grid=False)
    start = alt.X("start:N", axis=axis, sort=None)
    colour = base.by_who(["target", "log"], [base.TARGET, base.LOG])
    means = alt.Chart(base.hold(both)).encode(start, alt.Y(**base.number("value", "reward per decision")), colour)
    band = alt.Chart(base.hold(lines)).mark_area(opacity=0.18, color=base.TARGET).encode(start, y="low:Q", y2="high:Q")
    chart = alt.layer(band, means.mark_line(), means.mark_point(filled=True, size=45).encode(tooltip=OVER_TIME_HINT))
    error = min((one["stderr"] for one in lines if one["stderr"] > 0), default=0.0)
    return Figure(
        "Value over time",
        "If the lines change their distance, an average over the whole log says little about the future. "
        f"The band is two standard errors of {history.estimator} to both sides.",
        f"Value of the target and of the log in {len(lines)} periods, each a {history.used_period}.",
        [base.make_panel(base.size(chart, 220))],
        tabulate("Value over time", lines, OVER_TIME_COLUMNS, error),
    )
