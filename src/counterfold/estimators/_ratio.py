"""Estimators that are not linear in the rows: what they sum, and what they make of the sums."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfold.arrays import Floats
from counterfold.estimators.base import Estimator, Parametric
from counterfold.rows import Rows


class Ratio(Estimator):
    """`terms` are summed, `linearise` tells what the means say; contributions are linearised around them."""

    @abstractmethod
    def terms(self, rows: Rows) -> Floats:
        """Return what must be summed (terms x n)."""

    def contributions(self, rows: Rows) -> Floats:
        terms = self.terms(rows)
        constant, factors = self.linearise(terms.mean(axis=1))
        return np.asarray(constant + factors @ terms)

    def combine_means(self, means: Floats) -> Floats:
        constant, factors = self.linearise(means)
        return np.asarray(constant + (factors * means).sum(axis=0))


@dataclass(frozen=True)
class CappedRatio(Ratio, Parametric):
    """Another ratio with no weight above `max_weight`; its outcomes are rewards or, if it `corrects`, residuals.

    It sums one more term than its value needs, the weighted squares of the outcomes, so that sums over rows also tell
    how much outcomes vary under the capped weights: the last three are weighted outcomes, weights, weighted squares.
    """

    max_weight: float = 10.0
    uncapped: ClassVar[Ratio]
    corrects: ClassVar[bool] = False

    def terms(self, rows: Rows) -> Floats:
        weights, outcomes = np.minimum(rows.weights, self.max_weight), rows.residuals if self.corrects else rows.rewards
        weighted = weights * outcomes
        return np.stack([*([rows.q_policy] if self.corrects else []), weighted, weights, weighted * outcomes])

    def linearise(self, means: Floats) -> tuple[Floats, Floats]:
        constant, factors = self.uncapped.linearise(means)
        return constant, np.stack([*factors, np.zeros_like(constant)])

    @classmethod
    def grid(cls, rows: Rows) -> list[float]:
        return share_grid(rows.weights)


SHARES = (0.1, 0.3, 0.6, 0.9)
"""How much of all weight the caps of a grid leave."""


def share_grid(weights: Floats) -> list[float]:
    r"""Return the caps M that leave these shares of all weight, $\sum_i \min(w_i, M) = s \sum_i w_i$.

    The sum is piecewise linear in M, with a knot at every weight.

    >>> share_grid(np.array([1.0, 1.0, 8.0]))
    [0.3333333333333333, 1.0, 4.0, 7.0]
    """
    ordered = np.sort(weights)
    above = np.arange(len(ordered) - 1, -1, -1)
    left = np.concatenate([[0.0], ordered.cumsum() + above * ordered])
    if left[-1] == 0:
        return []
    caps = np.interp(np.multiply(SHARES, left[-1]), left, np.concatenate([[0.0], ordered]))
    return sorted(set(caps.tolist()))
