"""Tuning: what an estimator says at each setting of its parameter, one small chart for each estimator."""

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base

TUNING_HINT = base.hint(
    setting=("setting", base.NUMBER),
    value=("value", base.NUMBER),
    low=("from", base.NUMBER),
    high=("to", base.NUMBER),
    share=("share in the answer", base.SHARE),
)

TUNING_COLUMNS = {
    "family": ("Estimator", formats.text),
    "parameter": ("Parameter", formats.text),
    "setting": ("Setting", formats.setting),
    "value": ("Value", formats.value),
    "low": ("From", formats.value),
    "high": ("To", formats.value),
    "share": ("Share in the answer", formats.percent),
}


def draw_tuning(case: Case) -> Figure | None:
    """Return small charts of value against setting, with the answer in each."""
    shown, answered = case.exhibits.get("tuning"), case.shown_answer
    if shown is None or answered is None:
        return None
    result = answered.evaluation
    answer = base.draw_rule(result.value, is_vertical=False)
    ends = result.interval.low, result.interval.high
    domain = base.limit_domain(shown.lines, ends) or base.find_span(shown.lines)
    panels = []
    for family in dict.fromkeys(line["family"] for line in shown.lines):
        own = [line for line in shown.lines if line["family"] == family]
        is_log = all(line["setting"] > 0 for line in own)
        plot = alt.Chart(base.hold(own)).encode(alt.X(**base.number("setting", own[0]["parameter"], is_log=is_log)))
        high = alt.Y(**base.number("value", "", domain=domain))
        band = plot.mark_area(color=base.TARGET, opacity=0.16, clip=True).encode(y="low:Q", y2="high:Q")
        line = plot.mark_line(color=base.TARGET, clip=True).encode(high)
        dots = plot.mark_point(color=base.TARGET, filled=True, size=26, opacity=1, clip=True).encode(
            high, tooltip=TUNING_HINT
        )
        panels.append(base.make_panel(base.size(alt.layer(band, line, answer, dots), 140), family))
    return Figure(
        "Value against the setting of each tuned estimator",
        "Flat lines are good news: the value hardly depends on the setting. The dashed line is the answer.",
        f"Value against the setting of {len(panels)} estimators.",
        panels,
        tabulate("Settings", shown.lines, TUNING_COLUMNS, result.stderr),
    )
