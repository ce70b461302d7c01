"""Lepski's principle: the least variable candidate that no more variable one contradicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.base.threads import Pool
from counterfold.estimators.estimates import Estimate
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import Sums
from counterfold.selectors.base import Candidates, Selector

Order = Literal["variance", "given"]


@dataclass(frozen=True)
class SLOPE(Selector):
    r"""Walk from the most to the least variable candidate, and stop before the first that contradicts one before it.

    $$I_j = \Bigl[\hat V_j - c \max_{k \ge j} \hat\sigma_k,\; \hat V_j + c \max_{k \ge j} \hat\sigma_k\Bigr], \qquad
      j^* = \max \{ j : I_1 \cap \dots \cap I_j \ne \emptyset \}$$

    It assumes that bias grows as variance shrinks along the `order`: that of the estimated variances, or the one
    "given", as the paper does for IPS, DR, DM. Where an error grows along a given order, those before it are taken to
    be as large, as its authors do: an interval that is narrow by chance rules nothing out. `width` is c; 2 is the
    paper's interval of 95 %. The score is the number of steps from the chosen candidate, those after it counted from
    the start.

    Su, Srinath, Krishnamurthy (2020), "Adaptive estimator selection for off-policy evaluation".

    >>> import numpy as np
    >>> import counterfold as cf
    >>> rows = cf.example_rows()
    >>> cf.SLOPE().scores(rows, [cf.IPS(), cf.DM(), cf.DR()], np.random.default_rng(0), cf.Pool()).tolist()
    [2.0, 0.0, 1.0]
    """

    order: Order = "variance"
    width: float = 2.0

    def __post_init__(self) -> None:
        validation.one_of(get_args(Order), order=self.order)
        validation.above(0, width=self.width)

    def scores(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        return self.steps([Estimate(one.name, one.contributions(rows), rows.groups, rows.counts) for one in candidates])

    def score_sums(self, sums: Sums, candidates: Candidates, rng: np.random.Generator) -> Floats:
        return self.steps([sums.estimate(one.name, one) for one in candidates])

    def steps(self, estimates: Sequence[Estimate]) -> Floats:
        """Return how far from the chosen estimate each one is."""
        values, errors = np.array([(one.value, one.stderr) for one in estimates]).T
        order = np.argsort(-errors, kind="stable") if self.order == "variance" else np.arange(len(estimates))
        reach = self.width * np.maximum.accumulate(errors[order][::-1])[::-1]
        lows, highs = np.maximum.accumulate(values[order] - reach), np.minimum.accumulate(values[order] + reach)
        place = np.argsort(order)
        last = np.flatnonzero(lows <= highs)[-1]
        return np.where(place <= last, last - place, place).astype(np.float64)
