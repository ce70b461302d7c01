"""Estimators that are not linear in the rows: what they sum, and what they make of the sums."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows


class Ratio(Estimator):
    """An estimator that is not linear in the rows: `linearise` turns the means of its `terms` into contributions."""

    is_linear = False

    @abstractmethod
    def terms(self, rows: Rows) -> Floats:
        """Return what must be summed (terms x n)."""

    @abstractmethod
    def linearise(self, means: Floats) -> tuple[Floats, Floats]:
        """Return a constant and a factor for each term."""

    def contributions(self, rows: Rows) -> Floats:
        terms = self.terms(rows)
        constant, factors = self.linearise(rows.average(terms))
        return np.asarray(constant + factors @ terms)

    def combine_means(self, means: Floats) -> Floats:
        constant, factors = self.linearise(means)
        return np.asarray(constant + (factors * means).sum(axis=0))


class Capped(Ratio):
    """A self-normalised mean of outcomes under weights of which none is above `max_weight`.

    It sums one more term than its value needs, the weighted squares of the outcomes, so that sums over rows also tell
    how much outcomes vary under the capped weights; `outcome_sums` finds what tells.
    """

    max_weight: float

    def __post_init__(self) -> None:
        validation.at_least(0, max_weight=self.max_weight)

    @abstractmethod
    def outcomes(self, rows: Rows) -> Floats:
        """Return what is averaged."""

    @abstractmethod
    def levels(self, rows: Rows) -> Sequence[Floats]:
        """Return the terms that come before those of the outcomes."""

    def terms(self, rows: Rows) -> Floats:
        weights, outcomes = np.minimum(rows.weights, self.max_weight), self.outcomes(rows)
        weighted = weights * outcomes
        return np.stack([*self.levels(rows), weighted, weights, weighted * outcomes])

    @staticmethod
    def outcome_sums(sums: Floats) -> Floats:
        """Return the sums of weighted outcomes, weights and weighted squares, from those of all terms."""
        return sums[-3:]

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(cap) for cap in share_grid(rows.weights, rows.counts, rows.by_weight)]  # type: ignore[call-arg] # the only field


SHARES = (0.1, 0.3, 0.6, 0.9)
"""How much of all weight the caps of a grid leave."""


def share_grid(weights: Floats, counts: Floats | None = None, order: Ints | None = None) -> list[float]:
    r"""Return the caps M that leave these shares of all weight, $\sum_i c_i \min(w_i, M) = s \sum_i c_i w_i$.

    The sum is piecewise linear in M, with a knot at every weight. `order` sorts the weights, if that is known.

    >>> share_grid(np.array([1.0, 1.0, 8.0]))
    [0.3333333333333333, 1.0, 4.0, 7.0]
    """
    order = np.argsort(weights) if order is None else order
    ordered, each = weights[order], np.ones(len(weights)) if counts is None else counts[order]
    above = each.sum() - each.cumsum()
    left = np.concatenate([[0.0], (each * ordered).cumsum() + above * ordered])
    if left[-1] == 0:
        return []
    caps = np.interp(np.multiply(SHARES, left[-1]), left, np.concatenate([[0.0], ordered]))
    return sorted(set(caps.tolist()))
