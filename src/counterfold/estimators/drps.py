"""Doubly robust with pessimistic shrinkage."""

import math
from dataclasses import dataclass

from counterfold.estimators._reweighted import CappedWeights
from counterfold.estimators.base import bounded_risk
from counterfold.estimators.dr import DR
from counterfold.rows import Rows


@dataclass(frozen=True)
class DRps(CappedWeights):
    r"""Doubly robust with no weight above `max_weight`.

    $$v_i = \hat q_i^\pi + \min(w_i, \lambda)\,(r_i - \hat q_i)$$

    The authors choose the parameter as they do for `DRos`, with $\hat w_i = \min(w_i, \lambda)$.

    Su, Dimakopoulou, Krishnamurthy, Dudík (2020), "Doubly robust off-policy evaluation with shrinkage".

    >>> import counterfold as cf
    >>> cf.DRps(max_weight=3.0).contributions(cf.example_rows())
    array([ 0.16, -0.36,  1.  ,  1.72])
    """

    corrects = True
    has_rule = True
    limits = {0.0: "dm", math.inf: "dr"}
    needs = ("target_probs", "model")

    def risk(self, rows: Rows, delta: float) -> float:
        return bounded_risk(self, rows, self.value(rows) - DR().value(rows))
