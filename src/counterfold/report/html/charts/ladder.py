"""Ladder: the climb from capped weights to full ones, and how much of each step was taken."""

import math
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

COLOURS = [base.OTHER, base.TARGET, base.STRONG]

FULL = 0.99
"""A step of which more was taken counts as taken in full."""

MODEL = ", or none at all, and the reward model is believed"
"""What is said of the first rung of the ladder that has a model."""

APART = 0.12
"""How far two ladders are drawn apart, where rungs have a distance of 1."""

ALIKE = 1.1
"""Standard errors whose ratio is at most so large are about the same."""


def draw_ladder(case: Case) -> Figure | None:
    """Return the value at each cap of the weights, with an interval, and the answer."""
    shown = case.exhibits.get("ladder")
    if shown is None or not case.is_answerable:
        return None
    lines, value = place_rungs(shown.lines), shown.facts["value"]
    names = list(dict.fromkeys(line["ladder"] for line in lines))
    plot = alt.Chart(base.hold(lines)).encode(place_axis(lines), color=base.by_who(names, COLOURS, "ladder"))
    height = alt.Y(**base.number("value", "reward per decision"))
    bars = plot.mark_rule(strokeWidth=3, opacity=0.4).encode(y="low:Q", y2="high:Q")
    dots = plot.mark_point(filled=True, size=80, opacity=1).encode(height)
    answer = base.draw_rule(value, is_vertical=False)
    hints = base.draw_hints(plot, LADDER_HINT, y=height)
    error = min((line["stderr"] for line in lines if line["stderr"] > 0), default=0.0)
    return Figure(
        "The climb: from little noise to little bias",
        f"On the left, large weights are cut off, so that all rows in which {case.called} might do the same count "
        f"nearly alike{MODEL if starts_from_model(lines) else ''}; on the right none are, so that hardly any bias is "
        f"left. {compare_noise(lines)} Ladder climbs "
        "to the right and shortens each step by how noisy it is. Bars are normal intervals; the dashed line is the "
        "answer."
        f"{' Every step was taken in full.' if is_full(lines) else ''}",
        f"Value against the largest weight, for {len(names)} ladders; the answer is {formats.value(value, error)}.",
        [base.make_panel(base.size(alt.layer(bars, plot.mark_line().encode(height), answer, dots, hints), 280))],
        tabulate("Rungs of the ladders", lines, LADDER_COLUMNS, error),
    )


def draw_steps(case: Case) -> Figure | None:
    """Return how much of each step was taken; nothing where all were taken in full, as the climb says so."""
    shown = case.exhibits.get("ladder")
    if shown is None or not case.is_answerable or is_full(shown.lines):
        return None
    lines = place_rungs(shown.lines)
    names = list(dict.fromkeys(line["ladder"] for line in lines))
    panels = []
    for name, colour in zip(names, COLOURS, strict=False):
        own = [line for line in lines if line["ladder"] == name and line["taken"] is not None]
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


def starts_from_model(lines: Lines) -> bool:
    """Say whether the lowest rung of a ladder is the reward model alone."""
    return any(line["cap"] == 0 for line in lines)


def is_full(lines: Lines) -> bool:
    """Say whether every step was taken in full."""
    return all(line["taken"] is None or line["taken"] > FULL for line in lines)


def compare_noise(lines: Lines) -> str:
    """Return where there is less noise.

    >>> compare_noise([{"at": 0, "stderr": 1.0}, {"at": 1, "stderr": 2.0}])
    'Usually there is less noise on the left; here too, by a factor of 2.0.'
    """
    first, last = (
        max(line["stderr"] for line in lines if line["at"] == end)
        for end in (min(line["at"] for line in lines), max(line["at"] for line in lines))
    )
    usual = "Usually there is less noise on the left; here"
    if max(first, last) <= ALIKE * min(first, last):
        return f"{usual} it is about the same at both ends."
    if first < last:
        return f"{usual} too, by a factor of {last / first:.1f}." if first else f"{usual} too."
    return f"{usual} there is less on the right."


def place_rungs(rungs: Lines) -> list[dict[str, Any]]:
    """Return the rungs with a place on an axis, from the lowest cap to none; ladders are a little apart."""
    caps = sorted({order_cap(rung["cap"]) for rung in rungs})
    ladders = list(dict.fromkeys(rung["ladder"] for rung in rungs))
    middle = (len(ladders) - 1) / 2
    return [
        {
            **rung,
            "ladder": NAMES.get(rung["ladder"], rung["ladder"]),
            "at": caps.index(order_cap(rung["cap"])) + APART * (ladders.index(rung["ladder"]) - middle),
            "label": name_cap(rung["cap"]),
        }
        for rung in rungs
    ]


def order_cap(cap: float | None) -> float:
    """Return a cap as a number; none is the highest."""
    return math.inf if cap is None else cap


def name_cap(cap: float | None) -> str:
    """Return a cap as a short text; where no weight is left, nothing but the reward model is."""
    return "no cap" if cap is None else formats.setting(float(f"{cap:.2g}")) if cap else "model alone"


def place_axis(lines: Lines) -> Any:
    """Return the axis of caps, each with its name."""
    names = {round(line["at"]): line["label"] for line in sorted(lines, key=lambda one: one["at"])}
    axis = alt.Axis(values=list(names), labelExpr=f"{list(names.values())}[datum.value]", labelOverlap=True, grid=False)
    scale = alt.Scale(domain=[-2 * APART, len(names) - 1 + 2 * APART], nice=False)
    return alt.X("at:Q", title="largest weight that is allowed", axis=axis, scale=scale)
