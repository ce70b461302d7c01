"""Estimators that are not linear in the rows: what they sum, and what they make of the sums."""

from abc import abstractmethod

import numpy as np

from counterfold.arrays import Floats
from counterfold.estimators.base import Estimator
from counterfold.rows import Rows


class Ratio(Estimator):
    """`terms` are summed, `weighing` tells what the means say; contributions are linearised around them."""

    @abstractmethod
    def terms(self, rows: Rows) -> Floats:
        """Return what must be summed (terms x n)."""

    @abstractmethod
    def weighing(self, means: Floats) -> tuple[Floats, Floats]:
        """Return a constant and a factor for each term."""

    def contributions(self, rows: Rows) -> Floats:
        """Return contributions linearised around the means."""
        terms = self.terms(rows)
        constant, factors = self.weighing(terms.mean(axis=1))
        return np.asarray(constant + factors @ terms)


def ratio(above: Floats, below: Floats) -> Floats:
    """Return the ratio, 0 where there is nothing to divide by."""
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)


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
