"""IPS on features of actions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.estimators._similar import pooled_weights, same
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class MIPS(Estimator):
    r"""IPS on what actions are like instead of which they are: actions with the same features count as one.

    $$v_i = \frac{\sum_a \pi(a \mid x_i)\, 1[e_a = e_{a_i}]}{\sum_a \pi_0(a \mid x_i)\, 1[e_a = e_{a_i}]}\, r_i$$

    $e_a$ are the first `dimensions` of the log's action features. Unbiased when the action matters for the reward only
    through these features, also where single actions lack support. Features that set every action apart leave IPS.

    Saito, Joachims (2022), "Off-policy evaluation for large action spaces via embeddings".

    >>> import counterfold as cf
    >>> cf.MIPS().contributions(cf.example_rows())
    array([0., 0., 1., 4.])
    """

    dimensions: float = math.inf
    limits = {0: "the mean reward"}
    needs = ("target_probs", "logging_probs", "action_features")

    def __post_init__(self) -> None:
        validation.whole_or_infinite(0, dimensions=self.dimensions)

    def contributions(self, rows: Rows) -> Floats:
        used = rows.action_features[:, : int(min(self.dimensions, rows.action_features.shape[1]))]
        if used.shape[1] == 0:
            return rows.rewards
        codes = np.unique(used, axis=0, return_inverse=True)[1].reshape(-1)
        return pooled_weights(rows, same(codes)) * rows.rewards

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(number) for number in range(rows.action_features.shape[1], 0, -1)]
