"""IPS with the logarithm of large contributions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.estimators.base import Estimator, space_geometrically
from counterfold.estimators.rows import Rows

LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class LogSmoothing(Estimator):
    r"""IPS whose contributions grow as their logarithm once they are large, so that few rows cannot carry the value.

    $$v_i = \operatorname{sign}(r_i)\, \frac{\log(1 + \lambda\, w_i\, |r_i|)}{\lambda}$$

    `smoothing` is $\lambda$, in units of one over a reward: contributions well below $1 / \lambda$ stay as they are.
    Rewards of at least 0 are never valued too high on average, whatever the weights. The authors have rewards of one
    sign; for those of the other one the same is done with the sign changed, and with both signs a bias may go either
    way. The bias grows with $\lambda$, and falls with the number of rows if $\lambda$ does, as $1 / \sqrt n$.

    Sakhi, Aouali, Alquier, Chopin (2024), "Logarithmic smoothing for pessimistic off-policy evaluation, selection and
    learning".

    >>> import counterfold as cf
    >>> cf.LogSmoothing(smoothing=0.5).contributions(cf.example_rows()).round(3)
    array([0.   , 0.   , 0.811, 2.197])
    """

    smoothing: float = 0.1
    limits = {0.0: "ips", math.inf: "0"}

    def __post_init__(self) -> None:
        validation.at_least(0, smoothing=self.smoothing)

    def contributions(self, rows: Rows) -> Floats:
        exact = rows.weights * rows.rewards
        with np.errstate(over="ignore", invalid="ignore"):
            size = np.fmin(self.smoothing * np.abs(exact), LARGEST)
        return np.asarray(exact * np.divide(np.log1p(size), size, out=np.ones_like(size), where=size > 0))

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        usual = float(rows.average(np.abs(rows.weights * rows.rewards)))
        return [cls(share / usual) for share in space_geometrically(1e-3, 10)] if usual > 0 else []
