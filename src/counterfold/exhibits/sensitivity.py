"""Sensitivity: how wrong propensities may be before the conclusion changes."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.hashing import assign_folds
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.exhibits.base import Answered, Exhibit, Shown

FACTORS = tuple(float(one) for one in np.geomspace(1.0, 4.0, 17))
"""The factors by which the odds of logged actions, or the densities of doses, may be wrong."""

ENOUGH = 1 << 14
"""About so many rows are looked at, at most, which a hash chooses."""


@dataclass(frozen=True)
class Sensitivity(Exhibit):
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

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        rows = evidence.rows
        rows = rows.take(np.flatnonzero(assign_folds(rows.row_numbers, -(-len(rows) // ENOUGH)) == 0))
        if not rows.weights.any():
            return None
        least, most = bound_values(rows)
        low, high = answer.uplift.interval()
        lows, highs = low - (least[0] - least), high + (most - most[0])
        ends = zip(FACTORS, lows.tolist(), highs.tolist(), strict=True)
        lines = [{"factor": factor, "low": down, "high": up} for factor, down, up in ends]
        factor = find_zero(lows) if low > 0 else find_zero(-highs) if high < 0 else None
        of = "odds" if rows.kind == "labels" else "densities"
        return Shown(lines, {"is_told": low > 0 or high < 0, "factor": factor, "of": of})


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
    weights, rewards = rows.masses[order], rows.rewards[order]
    sure = weights * rows.propensity[order] if rows.kind == "labels" else np.zeros(len(order))
    fixed, doubtful = (sure.sum(), sure @ rewards), weights - sure
    below = np.append(0.0, doubtful.cumsum()), np.append(0.0, (doubtful * rewards).cumsum())
    above = [part[-1] - part for part in below]

    def find_values(first: float, rest: float) -> Floats:
        """Return SNIPS with what is doubtful of the lowest rewards' weights times one factor, else times another."""
        weight, reward = (
            always + first * lower + rest * upper for always, lower, upper in zip(fixed, below, above, strict=True)
        )
        return np.asarray(reward / weight)

    # one factor at a time, so that what is computed stays near the processor
    least = [find_values(factor, 1 / factor).min() for factor in FACTORS]
    most = [find_values(1 / factor, factor).max() for factor in FACTORS]
    return np.array(least), np.array(most)
