"""Continuous adaptive blending."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, row_sums
from counterfold.estimators._caps import excess_sums
from counterfold.estimators.base import Estimator, weight_grid
from counterfold.estimators.rows import Rows
from counterfold.estimators.truncated_ips import TruncatedIPS
from counterfold.log.partition import Partition

SEVERAL = 6
"""From how many caps on it pays to look at each weight once."""


@dataclass(frozen=True)
class CAB(Estimator):
    r"""IPS up to `max_weight`, and the reward model for what each action's weight exceeds it by.

    $$v_i = \sum_a \pi(a \mid x_i)\,\bigl(1 - \min(M / w(x_i, a), 1)\bigr)\, \hat q(x_i, a) + \min(w_i, M)\, r_i$$

    The sum is computed as $\sum_a \max(\pi - M \pi_0, 0)\, \hat q$, which is the same and
    needs no division.

    Su, Wang, Santacatterina, Joachims (2019), "CAB: Continuous adaptive blending for policy evaluation and learning".

    >>> import counterfold as cf
    >>> cf.CAB(max_weight=1.0).contributions(cf.example_rows())
    array([0.16, 0.16, 1.  , 1.36])
    """

    max_weight: float = 10.0
    limits = {0.0: "dm", math.inf: "ips"}
    needs = ("target_probs", "logging_probs", "model")

    def __post_init__(self) -> None:
        validation.at_least(0, max_weight=self.max_weight)

    def contributions(self, rows: Rows) -> Floats:
        capped = np.minimum(rows.weights, self.max_weight) * rows.rewards
        if self.max_weight == np.inf:
            return capped
        excess = np.maximum(rows.target_probs - self.max_weight * rows.logging_probs, 0.0)
        return row_sums(excess, rows.q) + capped

    @classmethod
    def sums(cls, grid: Sequence[Self], rows: Rows, partition: Partition) -> Floats:
        if len(grid) < SEVERAL:
            return np.stack([partition.sums(one.terms(rows)) for one in grid])
        caps = np.array([one.max_weight for one in grid])
        excess = excess_sums(rows.target_probs, rows.logging_probs, rows.q, caps, partition)
        capped = TruncatedIPS.sums([TruncatedIPS(cap) for cap in caps.tolist()], rows, partition)
        return capped + excess[:, None, :]

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(cap) for cap in weight_grid(rows)]
