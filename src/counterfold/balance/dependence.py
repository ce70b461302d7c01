"""Whether the actions depend on a column, or on the order of the rows, in a way that all probabilities do not say."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import special

from counterfold.arrays import Floats, Ints
from counterfold.balance.base import PropensityTest, Suspicion, Tested
from counterfold.balance.features import CHANGED, FeatureRange
from counterfold.balance.tails import TOLERANCE, tame
from counterfold.cached import cached_property
from counterfold.log import Log

PRODUCTS, MOST = 1 << 12, 32
"""At most so many products of features and pairs of actions are summed, and at most so many actions stand alone."""

LEAST = 5.0
"""An action takes part in the test of a feature if it is worth that many rows there."""


@dataclass(frozen=True, eq=False)
class DependenceSums:
    r"""Sums over rows for J features and K pools of actions, in which $e_{ia} = 1[a_i = a] - p_{ia}$.

    `residuals` (J x K) sum $z e_{ia}$; `expected` (2 x J x K) and `products` (2 x J x K x K) sum $z^k p_{ia}$ and
    $z^k p_{ia} p_{ib}$ for $k$ = 1 and 2.
    """

    residuals: Floats
    expected: Floats
    products: Floats
    ends: FeatureRange

    def __add__(self, other: "DependenceSums") -> "DependenceSums":
        residuals, products = self.residuals + other.residuals, self.products + other.products
        return DependenceSums(residuals, self.expected + other.expected, products, self.ends + other.ends)

    @cached_property
    def covariances(self) -> Floats:
        """Return the covariances of residuals, summed with each feature and with its square (2 x J x K x K)."""
        return np.asarray(self.expected[..., None] * np.eye(self.expected.shape[-1]) - self.products)


@dataclass(frozen=True, eq=False)
class DependenceTest(PropensityTest[DependenceSums]):
    r"""Rao's score test of $p_{ia} \propto p_0(a \mid x_i) \exp(\alpha_a + \beta_a z_i)$ for every feature $z$.

    With $C_k = \sum_i z_i^k (\operatorname{diag} p_i - p_i p_i^\top)$, the residuals $T = \sum_i z_i e_i - C_1 C_0^+
    \sum_i e_i$ have the covariance $C_2 - C_1 C_0^+ C_1$. The likeliest actions stand alone, the others are pooled.
    """

    pools: Ints

    @classmethod
    def of(cls, probs: Floats, features: int) -> Self:
        """Return the test for a log with such probabilities in its first rows."""
        likely = np.argsort(-probs.sum(axis=0), kind="stable")
        most = max(2, min(MOST, int(np.sqrt(PRODUCTS / features))))
        pools = np.empty(len(likely), dtype=np.intp)
        pools[likely] = np.minimum(np.arange(len(likely)), most - 1)
        return cls(pools)

    def sum_rows(self, log: Log, place: Ints | slice, features: Floats, probs: Floats) -> DependenceSums:
        return self.sum_codes(log.action[place], features, probs)

    def sum_codes(self, codes: Ints, features: Floats, probs: Floats) -> DependenceSums:
        """Return the sums of some rows, given what was taken there and how likely all there was to take."""
        number = int(self.pools.max()) + 1
        pooled = np.empty((len(probs), number))
        pooled[:, self.pools[self.pools < number - 1]] = probs[:, self.pools < number - 1]
        pooled[:, -1] = probs[:, self.pools == number - 1].sum(axis=1)
        residuals = features.T @ (np.eye(number)[self.pools[codes]] - pooled)
        powers = np.concatenate([features, features**2], axis=1).T
        left, right = np.triu_indices(number)
        products = np.empty((len(powers), number, number))
        products[:, left, right] = products[:, right, left] = powers @ (pooled[:, left] * pooled[:, right])
        shape = 2, features.shape[1], number
        expected = (powers @ pooled).reshape(shape)
        return DependenceSums(residuals, expected, products.reshape(*shape, number), FeatureRange.of(features))

    def test(self, sums: DependenceSums) -> Tested:
        inverse = np.linalg.pinv(sums.covariances[0, 0], rcond=1e-10, hermitian=True)
        p = np.array([find_p(sums, place, inverse) for place in range(1, len(sums.residuals))])
        return Tested([Suspicion(float(p[0]), CHANGED, needs_time=True)], p[1:])


def find_p(sums: DependenceSums, place: int, inverse: Floats) -> float:
    """Return the p-value of one feature, given the first one, which is 1; `inverse` is that of its covariance."""
    level, (first, second) = sums.covariances[0, 0], sums.covariances[:, place]
    change = first @ inverse
    residuals, covariance = sums.residuals[place] - change @ sums.residuals[0], second - change @ first
    variances, centres = np.diag(covariance), np.diag(first) / np.maximum(np.diag(level), 1e-300)
    largest = np.maximum(sums.ends.high[place] - centres, centres - sums.ends.low[place])
    kept = np.flatnonzero(variances > LEAST * largest**2 + 1e-9 * np.diag(second))
    if len(kept) == len(variances):
        kept = np.delete(kept, np.argmax(variances))  # which the others determine
    if len(kept) == 0:
        return 1.0
    counts, once, twice = sums.expected[0, 0], *sums.expected[:, place]
    allowed = TOLERANCE**2 * counts * (twice - 2 * centres * once + centres**2 * counts)
    return find_p_of_residuals(residuals[kept], covariance[np.ix_(kept, kept)], largest[kept], allowed[kept])


def find_p_of_residuals(residuals: Floats, covariance: Floats, largest: Floats, allowed: Floats) -> float:
    r"""Return the p-value of residuals by their chi-square, less of it where few rows carry it.

    $X = T^\top C^{-1} T$ is the sum of $d^\top e_i z_i$ for $d = C^{-1} T$, and its own variance; Bennett's inequality
    for terms of at most $b = \max_a |d_a z|$ shrinks it.
    """
    errors = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(errors, errors))
    kept = values > 1e-6
    turned = np.where(kept, vectors.T @ (residuals / errors), 0.0)
    square = np.array([np.square(turned)[kept] @ (1 / values[kept])])
    steps = vectors @ (turned / np.where(kept, values, 1.0)) / errors
    shrunk = float(tame(square, square, np.array([np.abs(steps * largest).max()]))[0]) ** 2
    return float(special.chdtrc(int(kept.sum()), shrunk / (1 + float((allowed / errors**2).max()))))
