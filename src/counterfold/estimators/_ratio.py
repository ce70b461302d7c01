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
