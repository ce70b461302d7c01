"""Self-normalised IPS with weights cut off."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators._ratio import Capped
from counterfold.estimators.rows import Rows
from counterfold.estimators.snips import SNIPS


@dataclass(frozen=True)
class TruncatedSNIPS(Capped):
    r"""SNIPS with no weight above `max_weight`.

    $$V = \frac{\sum_i \min(w_i, M)\, r_i}{\sum_i \min(w_i, M)}$$

    The lower the cap, the nearer to the mean reward of the rows with positive weight, and the less a single row
    matters. The grid has the caps that leave a tenth, 30 %, 60 % and 90 % of all weight.

    Swaminathan, Joachims (2015), "The self-normalized estimator for counterfactual learning"; Ionides (2008),
    "Truncated importance sampling".

    >>> import counterfold as cf
    >>> round(cf.TruncatedSNIPS(max_weight=1.0).value(cf.example_rows()), 4)
    0.5714
    """

    max_weight: float = 10.0
    limits = {0.0: "0", math.inf: "snips"}

    def outcomes(self, rows: Rows) -> Floats:
        return rows.rewards

    def levels(self, rows: Rows) -> Sequence[Floats]:
        return []

    def linearise(self, means: Floats) -> tuple[Floats, Floats]:
        constant, factors = SNIPS().linearise(means)
        return constant, np.stack([*factors, np.zeros_like(constant)])
