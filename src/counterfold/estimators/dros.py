"""Doubly robust with optimistic shrinkage."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.estimators._reweighted import Reweighted
from counterfold.estimators.base import Rules, bounded_risk, space_geometrically, weight_grid
from counterfold.estimators.dr import DR
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class DRos(Reweighted):
    r"""Doubly robust with weights shrunk smoothly, large ones towards 0.

    $$v_i = \hat q_i^\pi + \frac{\lambda\, w_i}{w_i^2 + \lambda}\,(r_i - \hat q_i)$$

    The authors choose the parameter that minimises the estimated variance plus the square of an estimate of the bias,
    $\frac1n \sum_i (\hat w_i - w_i)(r_i - \hat q_i)$, where $\hat w_i$ is the weight after shrinking.

    Su, Dimakopoulou, Krishnamurthy, Dudík (2020), "Doubly robust off-policy evaluation with shrinkage".

    >>> import counterfold as cf
    >>> cf.DRos(shrinkage=4.0).contributions(cf.example_rows()).round(3)
    array([0.184, 0.04 , 0.92 , 0.84 ])
    """

    shrinkage: float = 100.0
    corrects = True
    has_rule = True
    limits = {0.0: "dm", math.inf: "dr"}
    needs = ("target_probs", "model")

    def __post_init__(self) -> None:
        validation.at_least(0, shrinkage=self.shrinkage)

    @staticmethod
    def reweigh(rows: Rows, shrinkage: float | Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(rows.weights / (rows.weights**2 / np.maximum(shrinkage, np.finfo(float).tiny) + 1))

    def risk(self, rows: Rows, delta: float, rules: Rules) -> float:
        return bounded_risk(self, rows, self.value(rows) - DR().value(rows))

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        weights = weight_grid(rows)
        return (
            [cls(value) for value in space_geometrically(0.01 * weights[0] ** 2, 100 * weights[-1] ** 2)]
            if weights
            else []
        )
