"""Whether the actions depend on a column, or on the order of the rows, in a way that all probabilities do not say."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import special

from counterfold.base.arrays import Bools, Floats, Ints, ratio
from counterfold.base.cached import cached_property
from counterfold.log.assignment.base import PropensityTest, Suspicion, Tested
from counterfold.log.assignment.features import CHANGED, FeatureRange
from counterfold.log.assignment.tails import TOLERANCE, tame
from counterfold.log.log import Log

PRODUCTS, MOST = 1 << 12, 32
"""At most so many products of features and pairs of actions are summed, and at most so many actions stand alone."""

EXPLAINED = 0.5
"""From this correlation with the logging probability of an action on, a column may be what that was made of."""

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

    @property
    def are_explained(self) -> Bools:
        r"""Say which features, but the first one, go with the probability of an action more than with that action.

        If $z$ was known to the logging policy, the action goes with $z$ only through its probability $p$, so $z$ goes
        with $p$ more than with the action. If $z$ came of the action, it is the other way round.
        """
        rows = float(self.expected[0, 0].sum())
        sums = self.expected[:, 1:].sum(axis=2)  # of each feature and its square, as probabilities sum to 1
        means = sums[0] / rows
        errors = np.sqrt(np.maximum(sums[1] / rows - means**2, 0.0))
        likely = self.expected[0, 0] / rows
        likely_errors = np.sqrt(np.maximum(np.diagonal(self.products[0, 0]) / rows - likely**2, 0.0))
        taken = likely + self.residuals[0] / rows
        taken_errors = np.sqrt(np.maximum(taken * (1 - taken), 0.0))
        together = self.expected[0, 1:] / rows
        with_probability = together - means[:, None] * likely
        with_action = together + self.residuals[1:] / rows - means[:, None] * taken
        probability_size = np.abs(ratio(with_probability, errors[:, None] * likely_errors)).max(axis=1)
        action_size = np.abs(ratio(with_action, errors[:, None] * taken_errors)).max(axis=1)
        return np.asarray((probability_size >= EXPLAINED) & (probability_size > action_size))


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

    def test(self, sums: DependenceSums, design_effect: float) -> Tested:
        p = find_p(sums, design_effect)
        general = [Suspicion(float(p[0]), CHANGED, needs_time=True)]
        return Tested(general=general, columns=p[1:], explained=sums.are_explained[1:])


def find_p(sums: DependenceSums, design_effect: float = 1.0) -> Floats:
    """Return the p-value of every feature but the first one, which is 1, given that one."""
    level, (first, second) = sums.covariances[0, 0], sums.covariances[:, 1:]
    change = first @ np.linalg.pinv(level, rcond=1e-10, hermitian=True)
    residuals, covariances = sums.residuals[1:] - change @ sums.residuals[0], second - change @ first
    variances, squares = (np.diagonal(one, axis1=1, axis2=2) for one in (covariances, second))
    centres = np.diagonal(first, axis1=1, axis2=2) / np.maximum(np.diag(level), 1e-300)
    largest = np.maximum(sums.ends.high[1:, None] - centres, centres - sums.ends.low[1:, None])
    kept = variances > LEAST * largest**2 + 1e-9 * squares
    every = np.flatnonzero(kept.all(axis=1))
    kept[every, variances[every].argmax(axis=1)] = False  # which the others determine
    counts, once, twice = sums.expected[0, 0], *sums.expected[:, 1:]
    allowed = TOLERANCE**2 * counts * (twice - 2 * centres * once + centres**2 * counts)
    kept_residuals = np.where(kept, residuals, 0.0)
    return find_p_of_residuals(kept_residuals, covariances, largest, allowed, kept, design_effect)


def find_p_of_residuals(
    residuals: Floats, covariances: Floats, largest: Floats, allowed: Floats, kept: Bools, design_effect: float
) -> Floats:
    r"""Return the p-values of residuals (J x K) by their chi-squares, less of them where few rows carry them.

    $X = T^\top C^{-1} T$ is the sum of $d^\top e_i z_i$ for $d = C^{-1} T$, and its own variance; Bennett's inequality
    for terms of at most $b = \max_a |d_a z|$ shrinks it. Only residuals that are `kept` take part.
    """
    errors = np.sqrt(np.where(kept, np.diagonal(covariances, axis1=1, axis2=2), 1.0))
    alone = ~(kept[:, :, None] & kept[:, None, :])
    scaled = covariances / (errors[:, :, None] * errors[:, None, :])
    values, vectors = np.linalg.eigh(np.where(alone, np.eye(kept.shape[1]), scaled))
    is_known = values > 1e-6
    turned = np.where(is_known, (vectors.transpose(0, 2, 1) @ (residuals / errors)[:, :, None])[:, :, 0], 0.0)
    steps = turned / np.where(is_known, values, 1.0)
    squares, reach = (turned * steps).sum(axis=1), (vectors @ steps[:, :, None])[:, :, 0] / errors * largest
    shrunk = tame(squares, squares, np.abs(np.where(kept, reach, 0.0)).max(axis=1)) ** 2
    freedom = is_known.sum(axis=1) - (~kept).sum(axis=1)
    excess = 1 + np.where(kept, allowed / errors**2, 0.0).max(axis=1)
    chi_squares = shrunk / (excess * design_effect)
    return np.where(freedom > 0, special.chdtrc(np.maximum(freedom, 1), chi_squares), 1.0)
