"""Contributions like those of IPS, with their weights."""

import numpy as np


def skewed(rows=200, seed=0):
    """Return contributions like those of IPS, and their weights, which are 1 on average."""
    rng = np.random.default_rng(seed)
    weights = rng.gamma(0.5, 2.0, size=rows)
    return weights * (rng.random(rows) < 0.4), weights


VALUES, WEIGHTS = skewed()
