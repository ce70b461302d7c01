"""Self-normalised doubly robust."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats, ratio
from counterfold.estimators._ratio import Ratio
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class SNDR(Ratio):
    r"""Doubly robust with the correction divided by the mean weight.

    $$V = \frac1n \sum_i \hat q_i^\pi + C, \quad C = \frac{\sum_i w_i (r_i - \hat q_i)}{\sum_i w_i}, \qquad
      v_i = \hat q_i^\pi + C + \frac{w_i}{\bar w}\,(r_i - \hat q_i - C)$$

    If all weights are 0 it is DM.

    Robins, Sued, Lei-Gomez, Rotnitzky (2007), "Performance of double-robust estimators when inverse probability weights
    are highly variable".

    >>> import counterfold as cf
    >>> cf.SNDR().contributions(cf.example_rows()).round(3)
    array([0.425, 0.006, 0.863, 1.252])
    """

    needs = ("target_probs", "model")
    is_affine = True

    def terms(self, rows: Rows) -> Floats:
        return np.stack([rows.q_policy, rows.weights * rows.residuals, rows.weights])

    def factor_terms(self, rows: Rows) -> tuple[Floats, Floats]:
        factors = np.zeros((3, *rows.target_probs.shape))
        factors[0] = rows.target_probs
        factors[1, np.arange(len(rows)), rows.actions] = -rows.weights
        return np.stack([np.zeros(len(rows)), rows.weights * rows.rewards, rows.weights]), factors

    def linearise(self, means: Floats) -> tuple[Floats, Floats]:
        correction, share = ratio(means[1], means[2]), ratio(np.ones_like(means[2]), means[2])
        return correction, np.stack([np.ones_like(share), share, -correction * share])
