"""Doubly robust where weights are small, the reward model elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from counterfold import checks
from counterfold.arrays import Floats
from counterfold.estimators.base import Estimator, weight_grid
from counterfold.rows import Part, Rows


@dataclass(frozen=True)
class SwitchDR(Estimator):
    r"""Doubly robust where the weight is at most `threshold`, the reward model alone elsewhere.

    $$v_i = \hat q_i^\pi + 1[w_i \le \tau]\, w_i\, (r_i - \hat q_i)$$

    0 is DM, infinity is DR.

    Wang, Agarwal, Dudík (2017), "Optimal and adaptive off-policy evaluation in contextual bandits".

    >>> import counterfold as cf
    >>> cf.SwitchDR(threshold=3.0).contributions(cf.example_rows())
    array([ 0.16, -0.36,  1.  ,  0.52])
    """

    threshold: float = 10.0
    needs: ClassVar[tuple[Part, ...]] = ("target_probs", "model")

    def __post_init__(self) -> None:
        """Check the threshold."""
        checks.at_least(0, threshold=self.threshold)

    def contributions(self, rows: Rows) -> Floats:
        """Return predictions, corrected where the weight allows."""
        kept = np.where(rows.weights <= self.threshold, rows.weights, 0.0)
        return rows.q_policy + kept * (rows.rewards - rows.q_logged)

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        """Return thresholds between the weights' quantiles."""
        return [cls(threshold) for threshold in weight_grid(rows)]
