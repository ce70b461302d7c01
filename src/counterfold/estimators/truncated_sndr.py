"""Self-normalised doubly robust with weights cut off."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from counterfold import checks
from counterfold.arrays import Floats
from counterfold.estimators._ratio import Ratio, share_grid
from counterfold.estimators.sndr import SNDR
from counterfold.rows import Part, Rows


@dataclass(frozen=True)
class TruncatedSNDR(Ratio):
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
    limits: ClassVar[Mapping[float, str]] = {0.0: "dm", math.inf: "sndr"}
    needs: ClassVar[tuple[Part, ...]] = ("target_probs", "model")

    def __post_init__(self) -> None:
        """Check the cap."""
        checks.at_least(0, max_weight=self.max_weight)

    def terms(self, rows: Rows) -> Floats:
        """Return predictions, weighted residuals, weights and, to tell how much residuals vary, weighted squares."""
        weights = np.minimum(rows.weights, self.max_weight)
        weighted = weights * rows.residuals
        return np.stack([rows.q_policy, weighted, weights, weighted * rows.residuals])

    def weighing(self, means: Floats) -> tuple[Floats, Floats]:
        """Return the correction, and what each term adds to it."""
        constant, factors = SNDR().weighing(means)
        return constant, np.stack([*factors, np.zeros_like(constant)])

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        """Return caps by how much weight they leave."""
        return [cls(cap) for cap in share_grid(rows.weights)]
