"""Self-normalised doubly robust with weights cut off."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators._ratio import Capped
from counterfold.estimators.rows import Rows
from counterfold.estimators.sndr import SNDR


@dataclass(frozen=True)
class TruncatedSNDR(Capped):
    r"""SNDR with no weight above `max_weight`.

    $$V = \frac1n \sum_i \hat q_i^\pi + \frac{\sum_i \min(w_i, M)\, (r_i - \hat q_i)}{\sum_i \min(w_i, M)}$$

    The lower the cap, the nearer to the reward model with its mean residual added. The grid has the caps that leave a
    tenth, 30 %, 60 % and 90 % of all weight.

    Robins, Sued, Lei-Gomez, Rotnitzky (2007), "Performance of double-robust estimators when inverse probability weights
    are highly variable"; Ionides (2008), "Truncated importance sampling".

    >>> import counterfold as cf
    >>> round(cf.TruncatedSNDR(max_weight=1.0).value(cf.example_rows()), 4)
    0.53
    """

    max_weight: float = 10.0
    limits = {0.0: "dm", math.inf: "sndr"}
    needs = ("target_probs", "model")

    def outcomes(self, rows: Rows) -> Floats:
        return rows.residuals

    def levels(self, rows: Rows) -> Sequence[Floats]:
        return [rows.q_policy]

    def linearise(self, means: Floats) -> tuple[Floats, Floats]:
        constant, factors = SNDR().linearise(means)
        return constant, np.stack([*factors, np.zeros_like(constant)])
