"""Bootstrap intervals of means."""

import numpy as np

from counterfold.arrays import Floats

REPLICATES = 2000
"""The number of bootstrap samples."""


def resample_means(values: Floats, seed: int = 0) -> Floats:
    """Return the mean of each bootstrap sample; a seed draws the same places from all arrays of one length."""
    places = np.random.default_rng(seed).integers(len(values), size=(REPLICATES, len(values)))
    return np.asarray(values[places].mean(axis=1))


def percentile_interval(replicates: Floats, level: float = 0.95) -> tuple[float, float]:
    """Return the bounds between which the middle `level` of the replicates lie."""
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def mean_interval(values: Floats) -> tuple[float, float]:
    """Return the bootstrap interval of a mean at 95 %, the same each time."""
    return percentile_interval(resample_means(values))
