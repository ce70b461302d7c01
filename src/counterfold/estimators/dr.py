"""Doubly robust."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class DR(Estimator):
    r"""The reward model, corrected by reweighting what it got wrong on the logged actions.

    $$v_i = \hat q_i^\pi + w_i\, (r_i - \hat q_i)$$

    Unbiased when the propensities are right or the model is.

    Dudík, Erhan, Langford, Li (2014), "Doubly robust policy evaluation and optimization".

    >>> import counterfold as cf
    >>> cf.DR().contributions(cf.example_rows())
    array([ 0.16, -0.36,  1.  ,  2.12])
    """

    needs = ("target_probs", "model")
    is_affine = True

    def contributions(self, rows: Rows) -> Floats:
        return rows.q_policy + rows.weights * rows.residuals

    def factor_terms(self, rows: Rows) -> tuple[Floats, Floats]:
        factors = rows.target_probs.copy()
        factors[np.arange(len(rows)), rows.actions] -= rows.weights
        return (rows.weights * rows.rewards)[None], factors[None]
