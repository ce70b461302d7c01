"""Self-normalised IPS with weights cut off."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from counterfold import checks
from counterfold.arrays import Floats
from counterfold.estimators._ratio import Ratio, share_grid
from counterfold.estimators.snips import SNIPS
from counterfold.rows import Rows


@dataclass(frozen=True)
class TruncatedSNIPS(Ratio):
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
    limits: ClassVar[Mapping[float, str]] = {0.0: "0", math.inf: "snips"}

    def __post_init__(self) -> None:
        """Check the cap."""
        checks.at_least(0, max_weight=self.max_weight)

    def terms(self, rows: Rows) -> Floats:
        """Return weighted rewards, weights and, to tell how much rewards vary, weighted squares."""
        weights = np.minimum(rows.weights, self.max_weight)
        weighted = weights * rows.rewards
        return np.stack([weighted, weights, weighted * rows.rewards])

    def weighing(self, means: Floats) -> tuple[Floats, Floats]:
        """Return the ratio, and what each term adds to it."""
        constant, factors = SNIPS().weighing(means)
        return constant, np.stack([*factors, np.zeros_like(constant)])

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        """Return caps by how much weight they leave."""
        return [cls(cap) for cap in share_grid(rows.weights)]
