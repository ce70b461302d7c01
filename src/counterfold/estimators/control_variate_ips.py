"""IPS less what the weights alone explain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, ratio
from counterfold.estimators._ratio import Ratio
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class ControlVariateIPS(Ratio):
    r"""IPS less a multiple of the weights' excess over 1, which is 0 on average and moves with the estimate.

    $$v_i = w_i\, r_i - c\, \hat\beta\, (w_i - 1), \qquad
      \hat\beta = \frac{\widehat{\mathrm{cov}}(w r, w)}{\widehat{\mathrm{var}}(w)}$$

    With `strength` c = 1 the variance is the least that this control variate allows. Where nothing lacks support the
    bias is that of estimating $\beta$, of order 1/n.

    Vlassis, Bibaut, Dimakopoulou, Jebara (2019), "On the design of estimators for bandit off-policy evaluation"; this
    is its simplest design, one variate for all contexts.

    >>> import counterfold as cf
    >>> cf.ControlVariateIPS(strength=0.5).contributions(cf.example_rows()).round(3)
    array([ 0.265, -0.53 ,  1.   ,  2.409])
    """

    strength: float = 1.0
    limits = {0.0: "ips"}

    def __post_init__(self) -> None:
        validation.within(0, 1, strength=self.strength)

    def terms(self, rows: Rows) -> Floats:
        weighted = rows.weights * rows.rewards
        return np.stack([weighted, rows.weights, weighted * rows.weights, rows.weights**2])

    def linearise(self, means: Floats) -> tuple[Floats, Floats]:
        weighted, weight, product, square = means
        spread = square - weight**2
        spread = np.where(spread > 1e-12 * square, spread, 0.0)
        slope = self.strength * ratio(product - weighted * weight, spread)
        nothing = np.zeros_like(slope)
        return slope, np.stack([nothing + 1, -slope, nothing, nothing])

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(strength) for strength in (1.0, 0.75, 0.5, 0.25)]
