"""Doubly robust for doses."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.estimators.base import Estimator, bandwidths
from counterfold.estimators.rows import Rows
from counterfold.log import kernels


@dataclass(frozen=True)
class KernelDR(Estimator):
    r"""Doubly robust for doses: the reward model, corrected by what it got wrong at doses near the target's.

    $$v_i = \hat q(x_i, t_i) + \frac{K_h(t_i - d_i)}{f_0(d_i \mid x_i)}\, \bigl(r_i - \hat q(x_i, d_i)\bigr)$$

    With the kernel of `KernelIPS`; it is that with a model of zeros. Where the model is right, `bandwidth` causes no
    bias.

    Kallus, Zhou (2018), "Policy evaluation and optimization with continuous treatments".

    >>> import counterfold as cf
    >>> cf.KernelDR(bandwidth=2.0).contributions(cf.example_doses())
    array([-0.1  ,  1.275,  1.2  , -0.075])
    """

    bandwidth: float = 1.0
    limits = {math.inf: "dm"}
    kinds = ("doses",)
    needs = ("model",)

    def __post_init__(self) -> None:
        validation.positive(bandwidth=self.bandwidth)

    def contributions(self, rows: Rows) -> Floats:
        weights = kernels.smooth_density(rows.dose, rows.target_doses, self.bandwidth) / rows.propensity
        return rows.q_policy + weights * rows.residuals

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(width) for width in bandwidths(rows)]
