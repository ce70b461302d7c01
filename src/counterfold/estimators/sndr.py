"""Self-normalised doubly robust."""

from dataclasses import dataclass
from typing import ClassVar

from counterfold.arrays import Floats
from counterfold.estimators.base import Estimator, shares
from counterfold.rows import Part, Rows


@dataclass(frozen=True)
class SNDR(Estimator):
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

    needs: ClassVar[tuple[Part, ...]] = ("target_probs", "model")

    def contributions(self, rows: Rows) -> Floats:
        """Return contributions linearised around the ratio."""
        share, residual = shares(rows.weights), rows.rewards - rows.q_logged
        correction = float((share * residual).mean())
        return rows.q_policy + correction + share * (residual - correction)
