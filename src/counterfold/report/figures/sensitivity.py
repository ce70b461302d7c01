"""Sensitivity: how wrong propensities may be before the conclusion changes."""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.hashing import assign_folds
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, Shown
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, tabulate
from counterfold.report.html.cases import Case

FACTORS = tuple(float(one) for one in np.geomspace(1.0, 4.0, 17))
"""The factors by which the odds of logged actions, or the densities of doses, may be wrong."""

MOST_ROWS = 1 << 14
"""About so many rows are looked at, at most, which a hash chooses."""

LEAST_RANGE = 1.6
"""Factors are shown up to this one, or farther if the conclusion does not change before."""

OPEN = (
    "The interval of the difference holds 0 even if all propensities are right: there is no conclusion yet that wrong "
    "ones could change."
)

ASSUMED = {
    "odds": "The odds of each logged action, p to 1 - p, may be wrong by a factor of its own, at most so large "
    "(marginal sensitivity model)",
    "densities": "The density of each logged dose may be wrong by a factor of its own, at most so large",
}
"""What may be wrong, by what the factor is of."""

HINT: charts.Hint = {
    "factor": ("wrong by a factor of", charts.NUMBER),
    "low": ("from", charts.NUMBER),
    "high": ("to", charts.NUMBER),
}

COLUMNS = {
    "factor": ("Factor", formats.setting),
    "low": ("Difference from", formats.signed),
    "high": ("To", formats.signed),
}


@dataclass(frozen=True)
class Sensitivity(CaseFigure):
    r"""The interval of the uplift if the odds of every logged action may be wrong by a factor of at most $\Gamma$.

    $$\Bigl[\min_h, \max_h\Bigr] \frac{\sum_i \lambda_i w_i r_i}{\sum_i \lambda_i w_i}, \qquad
      \lambda_i = p_i + (1 - p_i) h_i, \quad h_i \in [1/\Gamma, \Gamma]$$

    are the values that SNIPS may then have, as the odds $p / (1 - p)$ that are divided by h make $1 / p$ become
    $1 + (1 / p - 1) h$: the marginal sensitivity model. The extremes have one h below some reward, and the other one
    above it. Each end of the answer's interval is moved outwards by as much as SNIPS may then be off in that direction.
    `factor` is the least one with which it holds 0; nothing if it does so already, or with none of those shown.

    A density has no odds: where actions are doses, densities themselves may be wrong by the factor ($\lambda_i = h_i$),
    which is not that model. `of` says what the factor is of, "odds" or "densities".

    Zhao, Small, Bhattacharya (2019), "Sensitivity analysis for inverse probability weighting estimators via the
    percentile bootstrap"; the percentile bootstrap is not used here.
    """

    table_name: ClassVar[str | None] = "sensitivity"
    absence: ClassVar[str] = "no row has a weight"

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        rows = evidence.rows
        rows = rows.take(np.flatnonzero(assign_folds(rows.row_numbers, -(-len(rows) // MOST_ROWS)) == 0))
        if not rows.weights.any():
            return None
        least, most = bound_values(rows)
        low, high = answer.uplift.interval()
        lows = low - (least[0] - least)
        highs = high + (most - most[0])
        columns = zip(FACTORS, lows.tolist(), highs.tolist(), strict=True)
        lines = [{"factor": factor, "low": down, "high": up} for factor, down, up in columns]
        changing_factor = None
        if low > 0:
            changing_factor = find_zero(lows)
        elif high < 0:
            changing_factor = find_zero(-highs)
        of = "odds" if rows.kind == "labels" else "densities"
        return Shown(lines, {"is_told": low > 0 or high < 0, "factor": changing_factor, "of": of})

    def draw_case(self, case: Case) -> Drawing | None:
        """Return the interval of the difference, if what was logged of each action is wrong by some factor."""
        shown = case.exhibits.get(self.name)
        answered = case.shown_answer
        if shown is None or answered is None:
            return None
        of = shown.facts["of"]
        said = tell_factor(shown)
        level = 100 * answered.evaluation.level
        error = (shown.lines[0]["high"] - shown.lines[0]["low"]) / 4
        return Drawing(
            title="How wrong may the propensities be?",
            reading=f"{ASSUMED[of]}. The band is the {level:g} % interval of the difference to {answered.logged}, each "
            f"end moved outwards by as much as SNIPS may then be off. {said}",
            sentence=f"Range of the difference against the factor by which the {of} of what was logged may be wrong. "
            f"{said}",
            panels=[charts.make_panel(charts.size(draw_band(shown, answered.logged), 240))],
            table=tabulate("Sensitivity", shown.lines, COLUMNS, error),
        )

    def draw_on_page(self, case: Case) -> Drawing | None:
        """Return the chart; where there is no conclusion yet, a sentence says so instead."""
        drawing = self.draw_case(case)
        if drawing is None or case.exhibits[self.name].facts["is_told"]:
            return drawing
        return replace(drawing, reading=OPEN, panels=[])


def find_zero(ends: Floats) -> float | None:
    """Return the factor at which an end comes to 0, between two of those shown; nothing if it does not."""
    below = np.flatnonzero(ends <= 0)
    if not len(below):
        return None
    after = int(below[0])
    part = ends[after - 1] / (ends[after - 1] - ends[after])
    return float(FACTORS[after - 1] + part * (FACTORS[after] - FACTORS[after - 1]))


def bound_values(rows: Rows) -> tuple[Floats, Floats]:
    """Return the least and the largest value that SNIPS may have, for each factor."""
    order = np.argsort(rows.rewards, kind="stable")
    weights = rows.masses[order]
    rewards = rows.rewards[order]
    # Of each weight, a part is certain whatever the odds are; the rest is multiplied by h.
    certain = weights * rows.propensity[order] if rows.kind == "labels" else np.zeros(len(order))
    doubtful = weights - certain
    weight_below = np.append(0.0, doubtful.cumsum())
    reward_below = np.append(0.0, (doubtful * rewards).cumsum())
    weight_above = weight_below[-1] - weight_below
    reward_above = reward_below[-1] - reward_below

    def find_values(first: float, rest: float) -> Floats:
        """Return SNIPS with what is doubtful of the lowest rewards' weights times one factor, else times another."""
        weight = certain.sum() + first * weight_below + rest * weight_above
        reward = certain @ rewards + first * reward_below + rest * reward_above
        return np.asarray(reward / weight)

    # One factor at a time: the arrays of one stay in the processor's cache.
    least = [find_values(factor, 1 / factor).min() for factor in FACTORS]
    most = [find_values(1 / factor, factor).max() for factor in FACTORS]
    return np.array(least), np.array(most)


def tell_factor(shown: Shown) -> str:
    """Return from which factor on the difference may be 0."""
    factor = shown.facts["factor"]
    if factor:
        return f"From a factor of {formats.factor(factor)} on it may be 0."
    return "It stays on its side of 0 in this range." if shown.facts["is_told"] else "It holds 0 already."


def draw_band(shown: Shown, logged: str) -> Any:
    """Return the band of the difference, and where it touches 0."""
    import altair as alt

    of = shown.facts["of"]
    factor = shown.facts["factor"]
    last = max(LEAST_RANGE, 1 + 3 * (factor - 1)) if factor else math.inf
    lines = [line for line in shown.lines if line["factor"] <= last]
    domain = (1, lines[-1]["factor"])
    across = alt.X(**charts.number("factor", f"{of} wrong by a factor of at most", domain=domain))
    low = alt.Y(**charts.number("low", f"difference to {logged}"))
    plot = charts.make_chart(lines).encode(across)
    layers = [plot.mark_area(color=charts.TARGET, opacity=0.18).encode(low, y2="high:Q")]
    layers += [plot.mark_line(color=charts.TARGET).encode(y=f"{end}:Q") for end in ("low", "high")]
    layers.append(charts.draw_rule(0.0, is_vertical=False))
    if factor is not None:
        layers += draw_touch(factor)
    layers += [charts.draw_hints(plot, HINT, y=alt.Y(f"{end}:Q")) for end in ("low", "high")]
    return alt.layer(*layers)


def draw_touch(factor: float) -> list[Any]:
    """Return a mark where the band touches 0, with its factor beside it."""
    touch = charts.make_chart([{"factor": factor, "low": 0.0, "words": formats.factor(factor)}]).encode(x="factor:Q")
    dot = touch.mark_point(color=charts.WARNING, filled=True, size=110, opacity=1).encode(y="low:Q")
    beside = touch.mark_text(color=charts.WARNING, align="left", dx=8, dy=-10, fontSize=13, fontWeight=600)
    rule = charts.draw_rule(factor, colour=charts.WARNING)
    return [rule, dot, beside.encode(y="low:Q", text="words:N")]
