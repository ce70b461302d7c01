"""Ladder: the steps from capped weights to full ones, and how far each was taken."""

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, Shown, find_ends
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, Lines, tabulate
from counterfold.report.html.cases import Case

NAMES = {"TruncatedSNIPS": "weights alone (SNIPS)", "TruncatedSNDR": "weights and reward model (SNDR)"}
"""What ladders are called; others have the name of their estimator."""

COLOURS = [charts.OTHER, charts.TARGET, charts.STRONG]
"""The colours of the ladders, in turn."""

FULL = 0.99
"""A step of which more was taken counts as taken in full."""

DISTANCE = 0.12
"""How far two ladders are drawn apart, where rungs have a distance of 1."""

ALIKE = 1.1
"""Standard errors whose ratio is at most so large are about the same."""

MODEL = ", or none at all, and the reward model is believed"
"""What is said of the first rung of the ladder that has a model."""

RUNGS_HINT: charts.Hint = {
    "ladder": ("ladder", charts.TEXT),
    "label": ("largest weight", charts.TEXT),
    "value": ("value", charts.NUMBER),
    "low": ("from", charts.NUMBER),
    "high": ("to", charts.NUMBER),
    "taken": ("step taken", charts.SHARE),
    "share": ("share in the answer", charts.SHARE),
}

STEPS_HINT: charts.Hint = {
    "label": ("largest weight", charts.TEXT),
    "taken": ("step taken", charts.SHARE),
    "share": ("share in the answer", charts.SHARE),
}

RUNGS_COLUMNS = {
    "ladder": ("Ladder", formats.text),
    "label": ("Largest weight", formats.text),
    "value": ("Value", formats.value),
    "stderr": ("Std. error", formats.value),
    "taken": ("Step taken", formats.percent),
    "share": ("Share in the answer", formats.percent),
}

STEPS_COLUMNS = {name: RUNGS_COLUMNS[name] for name in ("ladder", "label", "taken", "share")}


@dataclass(frozen=True)
class Ladder(CaseFigure):
    """A line for each rung of each ladder: the cap, what the estimator says there, and the rung's part in the answer.

    The highest rung has no cap. `taken` is the share of the step to this rung that was taken, from 1 (all) to 0 (none),
    and missing at the lowest rung; `low` and `high` are the ends of a normal interval.
    """

    table_name: ClassVar[str | None] = "ladder"
    absence: ClassVar[str] = "the selector is no ladder"

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        level = answer.estimate.level
        lines = []
        for step in answer.selection.steps:
            cap = step.cap if math.isfinite(step.cap) else None
            lines.append({**asdict(step), "cap": cap, **find_ends(step.value, step.stderr, level)})
        return Shown(lines, {"value": answer.estimate.value}) if lines else None

    def draw_case(self, case: Case) -> Drawing | None:
        """Return the value at each cap of the weights, with an interval, and the answer."""
        shown = case.exhibits.get(self.name)
        if shown is None or not case.is_answerable:
            return None
        rungs = place_rungs(shown.lines)
        answer = shown.facts["value"]
        ladders = list_ladders(rungs)
        error = min((rung["stderr"] for rung in rungs if rung["stderr"] > 0), default=0.0)
        model = MODEL if starts_from_model(rungs) else ""
        full = " Every step was taken in full." if is_full(rungs) else ""
        return Drawing(
            title="The climb: from little noise to little bias",
            reading=f"On the left, large weights are cut off, so that all rows in which {case.called} might do the "
            f"same count nearly alike{model}; on the right none are, so that hardly any bias is left. "
            f"{compare_noise(rungs)} Ladder climbs to the right and shortens each step by how noisy it is. Bars are "
            f"normal intervals; the dashed line is the answer.{full}",
            sentence=f"Value against the largest weight, for {len(ladders)} ladders; the answer is "
            f"{formats.value(answer, error)}.",
            panels=[charts.make_panel(charts.size(draw_rungs(rungs, answer), 280))],
            table=tabulate("Rungs of the ladders", rungs, RUNGS_COLUMNS, error),
        )

    def draw_steps(self, case: Case) -> Drawing | None:
        """Return how much of each step was taken; nothing where all were taken in full, as the climb says so."""
        shown = case.exhibits.get(self.name)
        if shown is None or not case.is_answerable or is_full(shown.lines):
            return None
        rungs = place_rungs(shown.lines)
        panels = []
        for ladder, colour in zip(list_ladders(rungs), COLOURS, strict=False):
            steps = [rung for rung in rungs if rung["ladder"] == ladder and rung["taken"] is not None]
            panels.append(charts.make_panel(charts.size(draw_bars(steps, colour), 130), ladder))
        return Drawing(
            title="How much of each step was taken",
            reading="A full bar: many rows support the step to this rung, and it was taken as a whole. A low bar: the "
            "step hangs on few rows, and the answer stays nearer to the rung before.",
            sentence="Share of each step that was taken, for each ladder.",
            panels=panels,
            table=tabulate("Steps", rungs, STEPS_COLUMNS),
        )


def list_ladders(rungs: Lines) -> list[str]:
    """Return the names of the ladders, each once, in their order."""
    return list(dict.fromkeys(rung["ladder"] for rung in rungs))


def draw_rungs(rungs: Lines, answer: float) -> Any:
    """Return a line with bars for each ladder, and the answer."""
    import altair as alt

    colour = charts.colour_by(list_ladders(rungs), COLOURS, "ladder")
    height = alt.Y(**charts.number("value", "reward per decision"))
    plot = charts.make_chart(rungs).encode(make_cap_axis(rungs), color=colour)
    bars = plot.mark_rule(strokeWidth=3, opacity=0.4).encode(y="low:Q", y2="high:Q")
    dots = plot.mark_point(filled=True, size=80, opacity=1).encode(height)
    rule = charts.draw_rule(answer, is_vertical=False)
    hints = charts.draw_hints(plot, RUNGS_HINT, y=height)
    return alt.layer(bars, plot.mark_line().encode(height), rule, dots, hints)


def draw_bars(steps: Lines, colour: str) -> Any:
    """Return a bar for each step of one ladder: how much of it was taken."""
    import altair as alt

    across = alt.X("label:N", sort=None, title="largest weight", axis=alt.Axis(labelAngle=0, grid=False))
    whole = alt.Scale(domain=[0, 1])
    upwards = alt.Y("taken:Q", title="step taken", scale=whole, axis=alt.Axis(format="%", tickCount=3))
    bars = charts.make_chart(steps).mark_bar(color=colour, opacity=0.85)
    return bars.encode(across, upwards, tooltip=charts.list_hints(STEPS_HINT))


def starts_from_model(rungs: Lines) -> bool:
    """Say whether the lowest rung of a ladder is the reward model alone."""
    return any(rung["cap"] == 0 for rung in rungs)


def is_full(rungs: Lines) -> bool:
    """Say whether every step was taken in full."""
    return all(rung["taken"] is None or rung["taken"] > FULL for rung in rungs)


def compare_noise(rungs: Lines) -> str:
    """Return where there is less noise.

    >>> compare_noise([{"at": 0, "stderr": 1.0}, {"at": 1, "stderr": 2.0}])
    'Usually there is less noise on the left; here too, by a factor of 2.0.'
    """
    left = min(rung["at"] for rung in rungs)
    right = max(rung["at"] for rung in rungs)
    first = max(rung["stderr"] for rung in rungs if rung["at"] == left)
    last = max(rung["stderr"] for rung in rungs if rung["at"] == right)
    usual = "Usually there is less noise on the left; here"
    if max(first, last) <= ALIKE * min(first, last):
        return f"{usual} it is about the same at both ends."
    if first >= last:
        return f"{usual} there is less on the right."
    return f"{usual} too, by a factor of {last / first:.1f}." if first else f"{usual} too."


def place_rungs(rungs: Lines) -> list[dict[str, Any]]:
    """Return the rungs with a place on an axis, from the lowest cap to none; ladders are a little apart."""
    caps = sorted({order_cap(rung["cap"]) for rung in rungs})
    ladders = list_ladders(rungs)
    middle = (len(ladders) - 1) / 2
    return [
        {
            **rung,
            "ladder": NAMES.get(rung["ladder"], rung["ladder"]),
            "at": caps.index(order_cap(rung["cap"])) + DISTANCE * (ladders.index(rung["ladder"]) - middle),
            "label": name_cap(rung["cap"]),
        }
        for rung in rungs
    ]


def order_cap(cap: float | None) -> float:
    """Return a cap as a number; none is the highest."""
    return math.inf if cap is None else cap


def name_cap(cap: float | None) -> str:
    """Return a cap as a short text; where no weight is left, nothing but the reward model is."""
    if cap is None:
        return "no cap"
    return formats.setting(float(f"{cap:.2g}")) if cap else "model alone"


def make_cap_axis(rungs: Lines) -> Any:
    """Return the axis of caps, each with its name."""
    import altair as alt

    names = {round(rung["at"]): rung["label"] for rung in sorted(rungs, key=lambda rung: rung["at"])}
    labels = f"{list(names.values())}[datum.value]"
    axis = alt.Axis(values=list(names), labelExpr=labels, labelOverlap=True, grid=False)
    scale = alt.Scale(domain=[-2 * DISTANCE, len(names) - 1 + 2 * DISTANCE], nice=False)
    return alt.X("at:Q", title="largest weight that is allowed", axis=axis, scale=scale)
