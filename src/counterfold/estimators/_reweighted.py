"""Estimators that differ from IPS or DR by what they do to the weights."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows
from counterfold.log.partition import Partition

LARGEST = 1 << 19
"""How many numbers a matrix of weights may hold; it should not leave the cache."""


class Reweighted(Estimator):
    r"""$v_i = \hat w_i r_i$ or, if it `corrects` a reward model, $v_i = \hat q_i^\pi + \hat w_i (r_i - \hat q_i)$.

    All parameters of a grid are tried at once, since `reweigh` takes a column of them as well as one.
    """

    corrects: ClassVar[bool] = False

    @staticmethod
    @abstractmethod
    def reweigh(rows: Rows, parameter: float | Floats) -> Floats:
        """Return the changed weights, or a line of them for each parameter in a column."""

    @property
    def parameter(self) -> float:
        """Return the only parameter."""
        return float(getattr(self, self.list_parameters()[0]))

    def contributions(self, rows: Rows) -> Floats:
        weights = self.reweigh(rows, self.parameter)
        return rows.q_policy + weights * rows.residuals if self.corrects else weights * rows.rewards

    @classmethod
    def sums(cls, grid: Sequence[Self], rows: Rows, partition: Partition) -> Floats:
        column = np.array([one.parameter for one in grid])[:, None]
        outcome = rows.residuals if cls.corrects else rows.rewards
        step = max(1, LARGEST // len(rows))
        starts = range(0, len(grid), step)
        weighed = [partition.products(cls.reweigh(rows, column[start : start + step]), outcome) for start in starts]
        found = np.concatenate(weighed)[:, None, :]
        return found + partition.sums(rows.q_policy) if cls.corrects else found
