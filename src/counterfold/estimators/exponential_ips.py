"""IPS with propensities raised to a power."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.estimators._reweighted import Reweighted
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class ExponentialIPS(Reweighted):
    r"""IPS with the propensity raised to `power`, which tames small propensities smoothly.

    $$v_i = \frac{\pi(a_i \mid x_i)}{\pi_0(a_i \mid x_i)^\alpha}\, r_i$$

    Aouali, Brunel, Rohde, Korba (2023), "Exponential smoothing for off-policy learning".

    >>> import counterfold as cf
    >>> cf.ExponentialIPS(power=0.5).contributions(cf.example_rows()).round(3)
    array([0.   , 0.   , 0.707, 1.789])
    """

    power: float = 0.9
    limits = {0.0: "rewards times the target's probability", 1.0: "ips"}

    def __post_init__(self) -> None:
        validation.within(0, 1, power=self.power)

    @staticmethod
    def reweigh(rows: Rows, power: float | Floats) -> Floats:
        return np.asarray(rows.weights * rows.propensity ** (1 - power))

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(float(power)) for power in np.linspace(1, 0, 30)]
