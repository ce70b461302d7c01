"""Means of periods with their variances, from sums over rows that may stand for several decisions each."""

from typing import NamedTuple

import numpy as np

from counterfold.base.arrays import Floats


class Weights(NamedTuple):
    """How many rows each period has, and the sums of the decisions that they stand for, and of their squares."""

    rows: Floats
    total: Floats
    squares: Floats

    @property
    def effective(self) -> Floats:
        """Return how many rows that all stand for the same number of decisions would tell as much."""
        return self.total**2 / self.squares


class Squares(NamedTuple):
    """Sums over rows of c², c² x and c² x², where c are the decisions that a row stands for."""

    ones: Floats
    values: Floats
    squares: Floats

    def around(self, centre: Floats | float) -> Floats:
        """Return the sums of c² (x - centre)²."""
        return np.asarray(self.squares - 2 * centre * self.values + centre**2 * self.ones)


class Means(NamedTuple):
    """The means of some numbers in each period, and the variances of these means."""

    rows: Floats
    values: Floats
    variances: Floats

    @classmethod
    def of(cls, weights: Weights, sums: Floats, squares: Squares) -> "Means":
        """Return means from sums; the variance is that of the period's own rows, or of the whole log's if larger.

        A period whose few rows happen to be alike would seem to be sure; and one large number moves the mean of its
        period as much as it moves the error.
        """
        values, mean = sums / weights.total, sums.sum() / weights.total.sum()
        freedom = weights.effective / np.maximum(weights.effective - 1, 1.0)
        own = freedom * np.maximum(squares.around(values), 0.0) / weights.total**2
        spread = max(squares.around(mean).sum(), 0.0) / weights.squares.sum()
        return cls(weights.rows, values, np.maximum(own, spread / weights.effective))
