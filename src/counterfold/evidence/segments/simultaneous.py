"""Intervals that hold the truths of all segments of a column at once."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators.estimates import Estimate
from counterfold.intervals.base import Bounds

DRAWS = 1 << 14
"""How many draws tell how far the farthest of several segments is from the truth."""


def bound_together(estimates: Sequence[Estimate], moves: Floats | None = None) -> list[Bounds]:
    """Return intervals that hold all truths at once with the level of the estimates.

    `moves` (estimates x units) are those of the estimates, if they are not independent.

    Each is as many times as wide as that of one estimate alone as normal quantiles say. A higher level would make each
    wider by Student's quantiles, which are large far out where few rows tell the error. That less will do is not
    proved, but measured (docs/segments.md): the intervals of evaluations have margins, for rewards that were not seen,
    for a slope of the variance that all rows know and for what is left of a bias; skewed means without these would need
    the higher level. An interval with a guarantee has one at its own level alone, and so is found at the higher one.
    """
    level = estimates[0].level
    each = find_segment_level(len(estimates), level, moves)
    times = find_quantile(each) / find_quantile(level)
    return [one.interval(each) if one.method.is_guaranteed else stretch(one, times, each) for one in estimates]


def stretch(estimate: Estimate, times: float, level: float) -> Bounds:
    """Return the interval of an estimate that many times as wide; rewards that were not seen have a level."""
    seen = replace(estimate, unseen=replace(estimate.unseen, beyond=(0.0, 0.0)))
    (low, high), value = seen.interval(), estimate.value
    return Bounds(*estimate.unseen.widen(value - times * (value - low), value + times * (high - value), value, level))


def find_quantile(level: float) -> float:
    """Return how far a normal variable is from its mean at most, with the probability `level`."""
    return NormalDist().inv_cdf((1 + level) / 2)


def find_segment_level(count: int, level: float, moves: Floats | None = None) -> float:
    r"""Return the level that the interval of each segment must have so that all hold their truths at once.

    It is $\gamma^{1/k}$ where k estimates are independent (Šidák, 1967), as those of different rows are. If rows of one
    group are in several segments, the noise of these has the correlations of their moves; the level is then that of the
    quantile of the largest of k such normal variables. It is never above $\gamma^{1/k}$, which is enough for any
    correlations.
    """
    apart: float = level ** (1 / count)
    if moves is None:
        return apart
    lengths = np.linalg.norm(moves, axis=1, keepdims=True)
    moves = moves[lengths[:, 0] > 0] / lengths[lengths[:, 0] > 0]
    if not len(moves):
        return apart
    draws = np.random.default_rng(0).standard_normal((DRAWS, len(moves)))
    values, vectors = np.linalg.eigh(moves @ moves.T)
    farthest = np.abs(draws @ (vectors * np.sqrt(np.maximum(values, 0.0))).T).max(axis=1)
    return min(apart, max(level, 2 * NormalDist().cdf(float(np.quantile(farthest, level))) - 1))
