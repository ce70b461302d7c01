"""Intervals that hold the truths of all segments of a column at once."""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from counterfold.estimates import Estimate
from counterfold.intervals.base import Bounds

DRAWS = 1 << 14
"""How many draws tell how far the farthest of several segments is from the truth."""


def bound_together(estimates: Sequence[Estimate], *, shares_units: bool) -> list[Bounds]:
    """Return intervals that hold all truths at once with the level of the estimates."""
    level = find_segment_level(estimates, estimates[0].level, shares_units=shares_units)
    return [Bounds(*map(float, one.interval(level))) for one in estimates]


def find_segment_level(estimates: Sequence[Estimate], level: float, *, shares_units: bool) -> float:
    r"""Return the level that the interval of each segment must have so that all hold their truths at once.

    It is $\gamma^{1/k}$ where k estimates are independent (Šidák, 1967), as those of different rows are. If rows of one
    group are in several segments, the noise of these has the correlations of their moves; the level is then that of the
    quantile of the largest of k such normal variables. It is never above $\gamma^{1/k}$, which is enough for any
    correlations.
    """
    apart: float = level ** (1 / len(estimates))
    if not shares_units:
        return apart
    moves = np.stack([one.moves.values for one in estimates])
    lengths = np.linalg.norm(moves, axis=1, keepdims=True)
    moves = moves[lengths[:, 0] > 0] / lengths[lengths[:, 0] > 0]
    if not len(moves):
        return apart
    draws = np.random.default_rng(0).standard_normal((DRAWS, len(moves)))
    values, vectors = np.linalg.eigh(moves @ moves.T)
    farthest = np.abs(draws @ (vectors * np.sqrt(np.maximum(values, 0.0))).T).max(axis=1)
    return min(apart, max(level, 2 * NormalDist().cdf(float(np.quantile(farthest, level))) - 1))
