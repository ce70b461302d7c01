"""What calibration of a reward model is shown as: predicted against observed rewards, where the target goes."""

import math
from typing import Any

import numpy as np

from counterfold.base.arrays import Ints, group_rows
from counterfold.estimators.estimates import standard_error
from counterfold.estimators.rows import Rows
from counterfold.estimators.unseen_rewards import Chance, Unseen
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, Line, find_ends
from counterfold.log.contents import Spread
from counterfold.report.figures import _charts as charts
from counterfold.report.html.blocks import Lines

DIAGONAL_HINT: charts.Hint = {
    "predicted": ("predicted", charts.NUMBER),
    "observed": ("observed", charts.NUMBER),
}


def predict_rows(evidence: Evidence, answer: Answered) -> Rows | None:
    """Return rows with weight and with predictions that are out of sample, if any candidate uses the reward model."""
    is_used = any(one.uses("model") for one in answer.estimators.values())
    rows = evidence.predict_out_of_sample() if is_used else None
    if rows is None or not rows.weights.any():
        return None
    there = np.flatnonzero(rows.weights > 0)
    return rows if len(there) == len(rows) else rows.take(there, lambda: rows.q[there])


def compare_bins(rows: Rows, places: Ints, names: list[str], level: float) -> list[Line]:
    """Return a line for each bin that has rows: their predicted and observed reward under the weights, and ends."""
    order, bins = group_rows(places, len(names))
    whole = Spread.of(rows.rewards)
    lines: list[Line] = []
    for name, own in zip(names, bins, strict=True):
        if own.start < own.stop:
            inside = order[own]
            lines.append({"name": name, "rows": len(inside), **compare(rows, inside, whole, level)})
    return lines


def compare(rows: Rows, inside: Ints, whole: Spread, level: float) -> dict[str, float]:
    """Return the mean predicted and observed reward of some rows, each of which counts by its weight.

    The interval of a few rows, or of rows that all have the same reward, reaches as far as rewards that happen not to
    be among them allow; it stays within the rewards of the log where these are two.
    """
    weights = rows.masses[inside]
    rewards = Spread.of(rows.rewards[inside], weights)
    chance = Chance(rewards.effective, rewards.mean - whole.low, whole.high - rewards.mean)
    limits = (whole.low, whole.high) if whole.is_two_valued else (-math.inf, math.inf)
    unseen = Unseen((chance,), limits)
    ends = find_ends(rewards.mean, find_error(rows, inside), level)
    low, high = unseen.widen(ends["low"], ends["high"], rewards.mean, level)
    predicted = float(np.average(rows.q_logged[inside], weights=weights))
    return {"predicted": predicted, "observed": rewards.mean, "low": low, "high": high}


def find_error(rows: Rows, inside: Ints) -> float:
    """Return the standard error of the weighted mean reward; 0 of rows of one group, of which it is unknown."""
    groups = None if rows.groups is None else np.unique(rows.groups[inside], return_inverse=True)[1]
    if len(inside) < 2 or (groups is not None and groups.max() == 0):
        return 0.0
    return standard_error(rows.rewards[inside], groups, rows.masses[inside])


def draw_diagonal(lines: Lines, across: str, upwards: str) -> Any:
    """Return observed against predicted numbers, and the line on which both are the same."""
    import altair as alt

    predicted = [line["predicted"] for line in lines]
    domain = charts.widen(min(predicted), max(predicted))
    ends = charts.make_chart([{"at": end} for end in domain])
    same = ends.mark_line(color=charts.QUIET, strokeDash=[4, 4]).encode(x="at:Q", y="at:Q")
    x = alt.X(**charts.number("predicted", across, domain=domain))
    y = alt.Y(**charts.number("observed", upwards))
    plot = charts.make_chart(lines).encode(x)
    layers = [same]
    if "low" in lines[0]:
        layers.append(plot.mark_rule(color=charts.TARGET, strokeWidth=3, opacity=0.4).encode(y="low:Q", y2="high:Q"))
    layers.append(plot.mark_point(color=charts.TARGET, filled=True, size=80, opacity=1).encode(y))
    layers.append(charts.draw_hints(plot, DIAGONAL_HINT, y=y))
    return charts.size(alt.layer(*layers), 260)
