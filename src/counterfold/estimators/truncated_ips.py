"""IPS with weights cut off."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.estimators._reweighted import Reweighted
from counterfold.estimators.base import Rules, weight_grid
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class TruncatedIPS(Reweighted):
    r"""IPS with no weight above `max_weight`.

    $$v_i = \min(w_i, M)\, r_i$$

    Ionides (2008), "Truncated importance sampling", which suggests $M = \sqrt n$.

    >>> import counterfold as cf
    >>> cf.TruncatedIPS(max_weight=3.0).contributions(cf.example_rows())
    array([0., 0., 1., 3.])
    """

    max_weight: float = 10.0
    has_rule = True
    limits = {0.0: "0", math.inf: "ips"}

    def __post_init__(self) -> None:
        validation.at_least(0, max_weight=self.max_weight)

    @staticmethod
    def reweigh(rows: Rows, max_weight: float | Floats) -> Floats:
        return np.minimum(rows.weights, max_weight)

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(cap) for cap in [*weight_grid(rows), math.sqrt(rows.total)]]

    def risk(self, rows: Rows, delta: float, rules: Rules) -> float:
        best = math.sqrt(rows.total)
        return 1 - min(self.max_weight, best) / max(self.max_weight, best)
