"""Whether means of periods may be the same, and whether the last ones are of rewards that are not in yet."""

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from counterfold.base.arrays import Floats, Ints
from counterfold.evidence.history.means import Means, Weights

FEWEST = 20
"""Periods of fewer rows are in the table, but not tested."""

TINY = 1e-100
"""What is taken for nothing where something is divided by it."""


class Change(NamedTuple):
    """How far the means of periods differ beyond their noise (a standard deviation), and how likely by chance."""

    p: float
    spread: float


class End(NamedTuple):
    """How many periods there are after the end's first one, its share of rewarded rows, that before, and how likely."""

    place: int
    last: float
    before: float
    p: float


def compare_periods(means: Means, numbers: Ints) -> Change | None:
    """Return whether the means of all periods may be the same; nothing if there are not two with enough rows.

    The p-value is the smaller one of two, times two: that of the chi-square, and that of the slope of a line, which
    finds slow changes. The spread is that of DerSimonian and Laird (1986), 0 where noise explains all differences.
    """
    kept = (means.rows >= FEWEST) & (means.variances > 0)
    values, precision, times = means.values[kept], 1 / means.variances[kept], numbers[kept].astype(np.float64)
    freedom = len(values) - 1
    if freedom < 1:
        return None
    apart, late = (one - one @ precision / precision.sum() for one in (values, times))
    square, slope = float(precision @ apart**2), precision @ (apart * late) / math.sqrt(precision @ late**2)
    p = min(special.chdtrc(freedom, square), 2 * special.ndtr(-abs(slope)))
    beyond = (square - freedom) / (precision.sum() - precision @ precision / precision.sum())
    return Change(min(1.0, 2 * float(p)), math.sqrt(max(beyond, 0.0)))


def find_end(weights: Weights, rewarded: Floats, expected: Floats, alike: float, late: float) -> End | None:
    """Return the end of a log, at most half of its periods, whose rows have rewards most surely too rarely.

    That is in less than `late` of the share before, where `rewarded` rows have one of as many as are `expected` to, up
    to a factor. `alike` is the design effect of groups. The p-value is that of the least of all ends.
    """
    most = len(rewarded) // 2
    share = rewarded.sum() / weights.total.sum()
    if not most or not share:
        return None
    scale = weights.total.sum() / expected.sum()
    hits, size, squares = (one[::-1].cumsum()[:most] for one in (rewarded, scale * expected, weights.squares))
    size, rest = np.maximum(size, TINY), np.maximum(weights.total.sum() - size, TINY)
    last, before = hits / size, (rewarded.sum() - hits) / rest
    error = np.sqrt(alike * share * (1 - share) * (squares / size**2 + (weights.squares.sum() - squares) / rest**2))
    far = np.where(last < late * before, before - last, 0.0) / np.maximum(error, TINY)
    place = int(np.argmax(far))
    return End(place, float(last[place]), float(before[place]), most * float(special.ndtr(-far[place])))
