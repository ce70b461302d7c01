"""Tuning: what an estimator says at each setting of its parameter, one small chart for each estimator."""

from collections.abc import Set as AbstractSet
from typing import Any

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Lines, tabulate
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
    """Return small charts of estimators whose settings are not the rungs of a ladder, which are shown as one."""
    shown = case.exhibits.get("ladder")
    return draw_settings(case, set() if shown is None else {line["ladder"] for line in shown.lines})


def draw_settings(case: Case, left_out: AbstractSet[str] = frozenset()) -> Figure | None:
    """Return small charts of value against setting, with the answer in each."""
    shown, answered = case.exhibits.get("tuning"), case.shown_answer
    lines = [] if shown is None else [line for line in shown.lines if line["family"] not in left_out]
    if not lines or answered is None:
        return None
    result = answered.evaluation
    families = list(dict.fromkeys(line["family"] for line in lines))
    domain = base.limit_domain(lines, (result.interval.low, result.interval.high)) or base.find_span(lines)
    answer = base.draw_rule(result.value, is_vertical=False)
    panels = [
        base.make_panel(
            base.size(draw_family([line for line in lines if line["family"] == family], domain, answer), 140), family
        )
        for family in families
    ]
    return Figure(
        "Value against the setting of each tuned estimator",
        "Flat lines are good news: the value hardly depends on the setting. The dashed line is the answer.",
        f"Value against the setting of {len(panels)} estimators.",
        panels,
        tabulate("Settings", lines, TUNING_COLUMNS, result.stderr),
    )


def draw_family(lines: Lines, domain: tuple[float, float] | None, answer: Any) -> Any:
    """Return what one estimator says at each of its settings."""
    is_log = all(line["setting"] > 0 for line in lines)
    plot = alt.Chart(base.hold(lines)).encode(alt.X(**base.number("setting", lines[0]["parameter"], is_log=is_log)))
    high = alt.Y(**base.number("value", "", domain=domain))
    band = plot.mark_area(color=base.TARGET, opacity=0.16, clip=True).encode(y="low:Q", y2="high:Q")
    line = plot.mark_line(color=base.TARGET, clip=True).encode(high)
    dots = plot.mark_point(color=base.TARGET, filled=True, size=26, opacity=1, clip=True).encode(high)
    return alt.layer(band, line, answer, dots, base.draw_hints(plot, TUNING_HINT, y=high))
