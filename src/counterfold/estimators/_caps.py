"""All caps of a weight at once: one look at each weight instead of one for each cap."""

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.log.partition import Partition

CELLS = 4096


def excess_sums(target: Floats, logging: Floats, values: Floats, caps: Floats, partition: Partition) -> Floats:
    r"""Return $\sum_i \sum_a \max(\pi - M \pi_0, 0)\, q$ over each unit, for every cap M (caps x units).

    A pair of row and action counts for the caps below its weight: each pair goes into the bin between two caps, and the
    sums for a cap are those of all bins above it.
    """
    order = np.argsort(caps)
    bins = len(caps) + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        below = caps_below(target / logging, caps[order])
    place = (below + partition.of_rows[:, None] * bins).ravel()
    taken, logged = (
        np.bincount(place, partition.weigh(probs * values).ravel(), len(partition) * bins)
        .reshape(-1, bins)[:, :0:-1]
        .cumsum(axis=1)
        for probs in (target, logging)
    )
    ascending = np.where(caps[order] < np.inf, caps[order], 0.0)
    found = np.empty((len(caps), len(partition)))
    found[order] = (taken[:, ::-1] - ascending * logged[:, ::-1]).T
    return found


def caps_below(weights: Floats, caps: Floats) -> Ints:
    """Return how many of the ascending caps lie below each weight, 0 for weights that are no number.

    A search would stumble over random weights; a table of cells of their logarithms says nearly where each belongs.
    """
    known = caps[(caps > 0) & (caps < np.inf)]
    if len(known) == 0:
        return np.asarray((caps[:, None, None] < weights).sum(axis=0))
    low, high = np.log(known[0] / 2), np.log(known[-1] * 2)
    scale = CELLS / (high - low)
    kept = np.fmin(np.fmax(weights, known[0] / 2), known[-1] * 2)
    cell = np.minimum(((np.log(kept) - low) * scale).astype(np.intp), CELLS - 1)
    edges = np.exp(low + np.arange(CELLS + 1) / scale) * (1 - 1e-9)
    first = np.searchsorted(caps, edges)
    below = first[cell]
    ends = np.append(caps, np.inf)
    for _ in range(int(np.diff(first).max()) + 1):
        below += kept > ends[below]
    return np.asarray(below)
