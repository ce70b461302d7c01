"""Inverse propensity scores of groups of actions with similar predicted rewards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, row_sums
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class GroupIPS(Estimator):
    r"""IPS on groups instead of actions: pairs (x, a) whose predicted rewards fall into the same of `groups` bins.

    $$v_i = \frac{\sum_a 1[g(x_i, a) = g_i]\, \pi(a \mid x_i)}{\sum_a 1[g(x_i, a) = g_i]\, \pi_0(a \mid x_i)}\, r_i,
      \qquad g_i = g(x_i, a_i)$$

    The bins are equal parts of the range of the predictions, over actions that either policy may take.

    Peng, Zou, Liu, Li, Jiang, Pei, Cui (2023), "Offline policy evaluation in large action spaces via outcome-oriented
    action grouping".

    >>> import counterfold as cf
    >>> cf.GroupIPS(groups=2).contributions(cf.example_rows())
    array([0., 0., 1., 4.])
    """

    groups: int = 8
    rowwise = False
    limits = {1: "the mean reward"}
    needs = ("target_probs", "logging_probs", "model")

    def __post_init__(self) -> None:
        validation.whole(1, groups=self.groups)

    def contributions(self, rows: Rows) -> Floats:
        low, high = rows.predicted_range
        bins = rows.q - low
        bins *= self.groups / ((high - low) or 1.0)
        np.floor(np.clip(bins, 0, self.groups - 1, out=bins), out=bins)
        same = (bins == bins[np.arange(len(rows)), rows.actions][:, None]).astype(np.float64)
        return row_sums(same, rows.target_probs) / row_sums(same, rows.logging_probs) * rows.rewards

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(groups) for groups in (2, 4, 8, 16, 32)]
