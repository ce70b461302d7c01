"""Doubly robust with optimistic shrinkage."""

from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Floats
from counterfold.estimators._reweighted import ShrunkDR
from counterfold.estimators.base import space_geometrically, weight_grid
from counterfold.rows import Rows


@dataclass(frozen=True)
class DRos(ShrunkDR):
    r"""Doubly robust with weights shrunk smoothly, large ones towards 0.

    $$v_i = \hat q_i^\pi + \frac{\lambda\, w_i}{w_i^2 + \lambda}\,(r_i - \hat q_i)$$

    The authors choose the parameter that minimises the estimated variance plus the square of an estimate of the bias,
    $\frac1n \sum_i (\hat w_i - w_i)(r_i - \hat q_i)$, where $\hat w_i$ is the weight after shrinking.

    Su, Dimakopoulou, Krishnamurthy, Dudík (2020), "Doubly robust off-policy evaluation with shrinkage".

    >>> import counterfold as cf
    >>> cf.DRos(shrinkage=4.0).contributions(cf.example_rows()).round(3)
    array([0.184, 0.04 , 0.92 , 0.84 ])
    """

    shrinkage: float = 100.0

    @staticmethod
    def transform(rows: Rows, parameter: float | Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(rows.weights / (rows.weights**2 / np.maximum(parameter, np.finfo(float).tiny) + 1))

    @classmethod
    def grid(cls, rows: Rows) -> list[float]:
        weights = weight_grid(rows)
        return space_geometrically(0.01 * weights[0] ** 2, 100 * weights[-1] ** 2) if weights else []
