"""IPS with weights cut off."""

import math

from counterfold.estimators._reweighted import CappedWeights
from counterfold.estimators.base import weight_grid
from counterfold.rows import Rows


class TruncatedIPS(CappedWeights):
    r"""IPS with no weight above `max_weight`.

    $$v_i = \min(w_i, M)\, r_i$$

    Ionides (2008), "Truncated importance sampling", which suggests $M = \sqrt n$.

    >>> import counterfold as cf
    >>> cf.TruncatedIPS(max_weight=3.0).contributions(cf.example_rows())
    array([0., 0., 1., 3.])
    """

    has_rule = True
    limits = {0.0: "0", math.inf: "ips"}

    @classmethod
    def grid(cls, rows: Rows) -> list[float]:
        return [*weight_grid(rows), math.sqrt(rows.total)]

    def risk(self, rows: Rows, delta: float) -> float:
        best = math.sqrt(rows.total)
        return 1 - min(self.max_weight, best) / max(self.max_weight, best)
