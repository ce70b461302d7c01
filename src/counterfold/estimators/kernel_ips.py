"""IPS for doses: those near the target's stand for it."""

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
class KernelIPS(Estimator):
    r"""IPS for doses: rewards of logged doses within `bandwidth` of the target's, the nearer the more.

    $$v_i = \frac{K_h(t_i - d_i)}{f_0(d_i \mid x_i)}\, r_i, \qquad K_h(u) = \tfrac3{4h} \bigl(1 - (u/h)^2\bigr)_+$$

    $d_i$ is the logged dose, $f_0$ its density, $t_i$ the target's; a target that draws its dose is averaged over its
    draws. The bias is of order $h^2$ for smooth rewards, the variance of order $1 / nh$; near the end of the doses that
    could be logged the kernel loses weight, and the estimate is too near to 0.

    Kallus, Zhou (2018), "Policy evaluation and optimization with continuous treatments".

    >>> import counterfold as cf
    >>> cf.KernelIPS(bandwidth=2.0).contributions(cf.example_doses())
    array([0.   , 1.125, 1.5  , 0.   ])
    """

    bandwidth: float = 1.0
    limits = {math.inf: "0"}
    kinds = ("doses",)

    def __post_init__(self) -> None:
        validation.positive(bandwidth=self.bandwidth)

    def contributions(self, rows: Rows) -> Floats:
        return kernels.smooth_density(rows.dose, rows.target_doses, self.bandwidth) / rows.propensity * rows.rewards

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(width) for width in bandwidths(rows)]
