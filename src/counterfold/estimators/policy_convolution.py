"""IPS with both policies smoothed over similar actions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.estimators._similar import distances, pooled_weights
from counterfold.estimators.base import Estimator, space_geometrically
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class PolicyConvolution(Estimator):
    r"""IPS with both policies convolved: an action's probability is spread over actions with features like its own.

    $$v_i = \frac{\sum_a \pi(a \mid x_i)\, S(a, a_i)}{\sum_a \pi_0(a \mid x_i)\, S(a, a_i)}\, r_i, \qquad
      S(a, b) = \frac{k(a, b)}{\sum_c k(a, c)}, \quad k(a, b) = e^{-\lVert e_a - e_b \rVert^2 / 2 h^2}$$

    `bandwidth` h is in the units of the action features $e$; at 0 only actions with the same features are alike.

    Sachdeva, Wang, Liang, Kallus, McAuley (2024), "Off-policy evaluation for large action spaces via policy
    convolution", with its kernel smoothing, the same for both policies.

    >>> import counterfold as cf
    >>> cf.PolicyConvolution(bandwidth=1.0).contributions(cf.example_rows()).round(3)
    array([0.   , 0.   , 1.   , 1.345])
    """

    bandwidth: float = 1.0
    limits = {0.0: "mips", math.inf: "the mean reward"}
    needs = ("target_probs", "logging_probs", "action_features")

    def __post_init__(self) -> None:
        validation.at_least(0, bandwidth=self.bandwidth)

    def contributions(self, rows: Rows) -> Floats:
        apart = distances(rows.action_features)
        near = np.exp(-np.square(apart / self.bandwidth) / 2) if self.bandwidth else (apart == 0).astype(np.float64)
        return pooled_weights(rows, near / near.sum(axis=1, keepdims=True)) * rows.rewards

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        apart = distances(rows.action_features)
        if not apart.any():
            return [cls()]
        return [cls(width) for width in space_geometrically(apart[apart > 0].min() / 3, apart.max(), 20)]
