"""The bootstrap, corrected for bias and skewness."""

from dataclasses import dataclass

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.intervals.base import Bounds, Interval, Units, normal_quantile

BUCKETS, BLOCK = 1024, 256
"""How many units are drawn from at most, and how many replicates are drawn at a time."""

TIE = 1e-9
"""How many standard errors apart means are equal: those of few different numbers often are, but for rounding errors."""


@dataclass(frozen=True)
class Bootstrap(Interval):
    r"""Quantiles of the means of rows drawn with replacement, shifted for bias and skewness (BCa).

    $$\hat G^{-1}\!\left( \Phi\!\left( z_0 + \frac{z_0 \pm z}{1 - a\, (z_0 \pm z)} \right) \right), \qquad
      z_0 = \Phi^{-1}(\hat G(\bar v)), \qquad a = \frac{\sum_i d_i^3}{6\, (\sum_i d_i^2)^{3/2}}$$

    $\hat G$ is the distribution of the means of `replicates` samples. More than 1,024 rows are put into as many buckets
    at random first, so that the cost hardly grows with the log.

    Efron (1987), "Better bootstrap confidence intervals".

    >>> import counterfold as cf
    >>> low, high = cf.Estimate("IPS", cf.IPS().contributions(cf.example_rows())).interval(0.9, cf.Bootstrap())
    >>> 0 <= low < 1.25 < high <= 4
    True
    """

    replicates: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        validation.whole(2, replicates=self.replicates)
        validation.seeds(seed=self.seed)

    def bounds(self, units: Units, level: float) -> Bounds:
        from scipy.special import ndtr, ndtri

        if units.constant or len(units) < 2:
            return Bounds(units.value, units.value)
        deviations = (units.values - units.value) / units.stderr
        means = self._means(deviations)
        below = (np.count_nonzero(means < -TIE) + np.count_nonzero(means <= TIE) + 1) / (2 * self.replicates + 2)
        bias, skewness = ndtri(below), (deviations**3).sum() / (6 * np.square(deviations).sum() ** 1.5)
        moved = bias + np.array([-1, 1]) * normal_quantile(level)
        room = 1 - skewness * moved
        shares = ndtr(np.where(room > 0, bias + moved / np.maximum(room, 1e-9), np.copysign(np.inf, moved)))
        return Bounds(*(units.value + units.stderr * np.quantile(means, shares)).tolist())

    def _means(self, deviations: Floats) -> Floats:
        """Return the means of all samples; those of buckets stand for those of rows."""
        rng, count = np.random.default_rng(self.seed), len(deviations)
        if count > BUCKETS:
            deviations = np.asarray(np.bincount(rng.permutation(count) % BUCKETS, deviations), dtype=np.float64)
        shapes = ((min(BLOCK, self.replicates - start), len(deviations)) for start in range(0, self.replicates, BLOCK))
        return np.concatenate([deviations[rng.integers(shape[1], size=shape)].sum(axis=1) for shape in shapes]) / count
