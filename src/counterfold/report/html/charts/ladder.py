"""Ladder: the climb from capped weights to full ones, and how much of each step was taken."""

from typing import Any

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Lines, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base

LADDER_HINT = base.hint(
    ladder=("ladder", base.TEXT),
    label=("largest weight", base.TEXT),
    value=("value", base.NUMBER),
    low=("from", base.NUMBER),
    high=("to", base.NUMBER),
    taken=("step taken", base.SHARE),
    share=("share in the answer", base.SHARE),
)

LADDER_COLUMNS = {
    "ladder": ("Ladder", formats.text),
    "label": ("Largest weight", formats.text),
    "value": ("Value", formats.value),
    "stderr": ("Std. error", formats.value),
    "taken": ("Step taken", formats.percent),
    "share": ("Share in the answer", formats.percent),
}

STEPS_HINT = base.hint(
    label=("largest weight", base.TEXT), taken=("step taken", base.SHARE), share=("share in the answer", base.SHARE)
)

STEPS_COLUMNS = {
    "ladder": ("Ladder", formats.text),
    "label": ("Largest weight", formats.text),
    "taken": ("Step taken", formats.percent),
    "share": ("Share in the answer", formats.percent),
}


NAMES = {"TruncatedSNIPS": "weights alone (SNIPS)", "TruncatedSNDR": "weights and reward model (SNDR)"}
"""What ladders are called; others have the name of their estimator."""

COLOURS = [base.LOG, base.TARGET, base.OTHER]


def draw_ladder(case: Case) -> Figure | None:
    """Return the value at each cap of the weights, with a band, and the answer."""
    shown = case.exhibits.get("ladder")
    if shown is None or not case.is_answerable:
        return None
    lines, most = place_rungs(shown.lines)
    value = shown.facts["value"]
    names = list(dict.fromkeys(line["ladder"] for line in lines))
    colour = base.by_who(names, COLOURS, "ladder")
    plot = alt.Chart(base.hold(lines)).encode(place_axis(lines, most), color=colour)
    height = alt.Y(**base.number("value", "reward per decision"))
    band = plot.mark_area(opacity=0.14, line=False).encode(y="low:Q", y2="high:Q")
    dots = plot.mark_point(filled=True, size=80, opacity=1).encode(height, tooltip=LADDER_HINT)
    answer = base.draw_rule(value, is_vertical=False)
    chart = base.size(alt.layer(band, plot.mark_line().encode(height), answer, dots), 280)
    error = min((line["stderr"] for line in lines if line["stderr"] > 0), default=0.0)
    return Figure(
        "The climb: from little noise to little bias",
        "On the left, large weights are cut off: little noise, but the value leans to what the log earned. On the "
        "right, none are: hardly any bias, but all the noise. Ladder climbs to the right and shortens each step by how "
        "noisy it is. The dashed line is the answer.",
        f"Value against the largest weight, for {len(names)} ladders; the answer is {formats.value(value, error)}.",
        [base.make_panel(chart)],
        tabulate("Rungs of the ladders", lines, LADDER_COLUMNS, error),
    )


def draw_steps(case: Case) -> Figure | None:
    """Return how much of each step was taken, and the share of each rung in the answer."""
    shown = case.exhibits.get("ladder")
    if shown is None or not case.is_answerable:
        return None
    lines, _ = place_rungs(shown.lines)
    names = list(dict.fromkeys(line["ladder"] for line in lines))
    panels = []
    for name, colour in zip(names, COLOURS, strict=False):
        own = [line for line in lines if line["ladder"] == name]
        across = alt.X("label:N", sort=None, title="largest weight", axis=alt.Axis(labelAngle=0, grid=False))
        high = alt.Y(
            "taken:Q", title="step taken", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=3)
        )
        bars = alt.Chart(base.hold(own)).mark_bar(color=colour, opacity=0.85)
        panels.append(base.make_panel(base.size(bars.encode(across, high, tooltip=STEPS_HINT), 130), name))
    return Figure(
        "How much of each step was taken",
        "A full bar: many rows support the step to this rung, and it was taken as a whole. A low bar: the step hangs "
        "on few rows, and the answer stays nearer to the rung before.",
        "Share of each step that was taken, for each ladder.",
        panels,
        tabulate("Steps", lines, STEPS_COLUMNS),
    )


def place_rungs(rungs: Lines) -> tuple[list[dict[str, Any]], float]:
    """Return the rungs with a place on a logarithmic axis, on which the one without a cap comes last."""
    caps = sorted({rung["cap"] for rung in rungs if rung["cap"]})
    most = caps[-1] * max(1.5, caps[-1] / caps[-2] if len(caps) > 1 else 2.0) if caps else 1.0
    lines = [
        {
            **rung,
            "ladder": NAMES.get(rung["ladder"], rung["ladder"]),
            "at": rung["cap"] or most,
            "label": f"{rung['cap']:.2g}" if rung["cap"] else "no cap",
        }
        for rung in rungs
    ]
    return lines, most


def place_axis(lines: Lines, most: float) -> Any:
    """Return the axis of caps, whose last place is named."""
    at = sorted({base.shorten(line["at"]) for line in lines})
    words = f"datum.value > {0.999 * most} ? 'no cap' : format(datum.value, '.2~g')"
    axis = alt.Axis(values=at, labelExpr=words, labelOverlap="parity", grid=False)
    scale = alt.Scale(type="log", nice=False)
    return alt.X("at:Q", title="largest weight that is allowed (logarithmic)", axis=axis, scale=scale)
