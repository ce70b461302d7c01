"""Doubly robust where weights are small, the reward model elsewhere."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.base.errors import ParameterError
from counterfold.estimators._reweighted import Reweighted
from counterfold.estimators.base import Rules, bounded_risk, weight_grid
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class SwitchDR(Reweighted):
    r"""Doubly robust where the weight is at most `threshold`, the reward model alone elsewhere.

    $$v_i = \hat q_i^\pi + 1[w_i \le \tau]\, w_i\, (r_i - \hat q_i)$$

    The authors choose the threshold that minimises the estimated variance plus the square of a bound on the bias,

    $$\frac{\hat\sigma_\tau^2}n + \Bigl(\frac1n \sum_i \sum_a \pi(a \mid x_i)\,
      1[w(x_i, a) > \tau]\, R\Bigr)^2,$$

    where R is the largest reward, less the least one if that is negative.

    Wang, Agarwal, Dudík (2017), "Optimal and adaptive off-policy evaluation in contextual bandits".

    >>> import counterfold as cf
    >>> cf.SwitchDR(threshold=3.0).contributions(cf.example_rows())
    array([ 0.16, -0.36,  1.  ,  0.52])
    """

    threshold: float = 10.0
    corrects = True
    has_rule = True
    limits = {0.0: "dm", math.inf: "dr"}
    needs = ("target_probs", "model")

    def __post_init__(self) -> None:
        validation.at_least(0, threshold=self.threshold)

    @staticmethod
    def reweigh(rows: Rows, threshold: float | Floats) -> Floats:
        return np.multiply(rows.weights, rows.weights <= threshold)

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(threshold) for threshold in weight_grid(rows)]

    def risk(self, rows: Rows, delta: float, rules: Rules) -> float:
        reason = rows.explain_lack(["logging_probs"])
        if reason:
            raise ParameterError(f"the tuning rule of SwitchDR {reason}.")
        switched = rows.target_probs > self.threshold * rows.logging_probs if self.threshold < math.inf else False
        share = np.where(switched, rows.target_probs, 0.0).sum(axis=1).mean()
        largest = max(rows.rewards.max(), 0.0) - min(rows.rewards.min(), 0.0)
        return bounded_risk(self, rows, float(share * largest))
