"""IPS with propensities raised to a power."""

from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Floats
from counterfold.estimators._reweighted import GridReweighted
from counterfold.rows import Rows


@dataclass(frozen=True)
class ExponentialIPS(GridReweighted):
    r"""IPS with the propensity raised to `power`, which tames small propensities smoothly.

    $$v_i = \frac{\pi(a_i \mid x_i)}{\pi_0(a_i \mid x_i)^\alpha}\, r_i$$

    Aouali, Brunel, Rohde, Korba (2023), "Exponential smoothing for off-policy learning".

    >>> import counterfold as cf
    >>> cf.ExponentialIPS(power=0.5).contributions(cf.example_rows()).round(3)
    array([0.   , 0.   , 0.707, 1.789])
    """

    power: float = 0.9
    largest = 1
    tried = tuple(np.linspace(1, 0, 30).tolist())
    limits = {0.0: "rewards times the target's probability", 1.0: "ips"}

    @staticmethod
    def transform(rows: Rows, parameter: float | Floats) -> Floats:
        return np.asarray(rows.weights * rows.propensity ** (1 - parameter))
