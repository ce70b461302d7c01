"""The direct method."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class DM(Estimator):
    r"""Believe the reward model: its mean prediction under the target.

    $$v_i = \hat q_i^\pi = \sum_a \pi(a \mid x_i)\, \hat q(x_i, a)$$

    Hardly any variance, and all the bias of the model.

    Dudík, Erhan, Langford, Li (2014), "Doubly robust policy evaluation and optimization".

    >>> import counterfold as cf
    >>> cf.DM().contributions(cf.example_rows())
    array([0.56, 0.44, 0.6 , 0.52])
    """

    needs = ("target_probs", "model")
    is_affine = True
    kinds = ("labels", "doses")

    def contributions(self, rows: Rows) -> Floats:
        return rows.q_policy

    def factor_terms(self, rows: Rows) -> tuple[Floats, Floats]:
        return np.zeros((1, len(rows))), rows.target_probs[None]
