"""Sensitivity: how wrong propensities may be before the conclusion changes."""

from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Floats
from counterfold.evidence import Evidence
from counterfold.exhibits.base import Answered, Exhibit, Shown
from counterfold.hashing import assign_folds
from counterfold.rows import Rows

FACTORS = tuple(float(one) for one in np.geomspace(1.0, 4.0, 17))
"""The factors by which propensities may be wrong."""

ENOUGH = 1 << 14
"""About so many rows are looked at, at most, which a hash chooses."""


@dataclass(frozen=True)
class Sensitivity(Exhibit):
    r"""The interval of the uplift if every propensity may be wrong by a factor of at most $\Gamma$.

    $$\Bigl[\min_\lambda, \max_\lambda\Bigr] \frac{\sum_i \lambda_i w_i r_i}{\sum_i \lambda_i w_i}, \qquad
      \lambda_i \in [1/\Gamma, \Gamma]$$

    is how far SNIPS may then be off; the interval of the answer is moved by that much to both sides. `factor` is the
    least one with which it holds 0; nothing if it does so already, or with none of those shown.

    Zhao, Small, Bhattacharya (2019), "Sensitivity analysis for inverse probability weighting estimators via the
    percentile bootstrap".
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
        return Shown(lines, {"is_told": low > 0 or high < 0, "factor": factor})


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
    below = np.append(0.0, weights.cumsum()), np.append(0.0, (weights * rewards).cumsum())
    factor = np.array(FACTORS)[:, None]

    def find_values(first: Floats, rest: Floats) -> Floats:
        """Return SNIPS with the weights of the lowest rewards times one factor and all others times another."""
        weight = first * below[0] + rest * (below[0][-1] - below[0])
        return np.asarray((first * below[1] + rest * (below[1][-1] - below[1])) / weight)

    return find_values(factor, 1 / factor).min(axis=1), find_values(1 / factor, factor).max(axis=1)
