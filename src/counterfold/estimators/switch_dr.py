"""Doubly robust where weights are small, the reward model elsewhere."""

import math
from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Floats
from counterfold.errors import ParameterError
from counterfold.estimators._reweighted import ShrunkDR
from counterfold.rows import Rows


@dataclass(frozen=True)
class SwitchDR(ShrunkDR):
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

    @staticmethod
    def transform(rows: Rows, parameter: float | Floats) -> Floats:
        return np.multiply(rows.weights, rows.weights <= parameter)

    def bias(self, rows: Rows) -> float:
        if reason := rows.explain_lack(["logging_probs"]):
            raise ParameterError(f"the tuning rule of SwitchDR {reason}.")
        switched = rows.target_probs > self.threshold * rows.logging_probs if self.threshold < math.inf else False
        share = np.where(switched, rows.target_probs, 0.0).sum(axis=1).mean()
        largest = max(rows.rewards.max(), 0.0) - min(rows.rewards.min(), 0.0)
        return float(share * largest)
