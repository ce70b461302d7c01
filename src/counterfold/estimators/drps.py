"""Doubly robust with pessimistic shrinkage."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.estimators._reweighted import Reweighted
from counterfold.estimators.base import Rules, bounded_risk, weight_grid
from counterfold.estimators.dr import DR
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class DRps(Reweighted):
    r"""Doubly robust with no weight above `max_weight`.

    $$v_i = \hat q_i^\pi + \min(w_i, \lambda)\,(r_i - \hat q_i)$$

    The authors choose the parameter that minimises the estimated variance plus the square of an estimate of the bias,
    $\frac1n \sum_i (\hat w_i - w_i)(r_i - \hat q_i)$, where $\hat w_i$ is the weight after shrinking.

    Su, Dimakopoulou, Krishnamurthy, Dudík (2020), "Doubly robust off-policy evaluation with shrinkage".

    >>> import counterfold as cf
    >>> cf.DRps(max_weight=3.0).contributions(cf.example_rows())
    array([ 0.16, -0.36,  1.  ,  1.72])
    """

    max_weight: float = 10.0
    corrects = True
    has_rule = True
    limits = {0.0: "dm", math.inf: "dr"}
    needs = ("target_probs", "model")

    def __post_init__(self) -> None:
        validation.at_least(0, max_weight=self.max_weight)

    @staticmethod
    def reweigh(rows: Rows, max_weight: float | Floats) -> Floats:
        return np.minimum(rows.weights, max_weight)

    def risk(self, rows: Rows, delta: float, rules: Rules) -> float:
        return bounded_risk(self, rows, self.value(rows) - DR().value(rows))

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(cap) for cap in weight_grid(rows)]
