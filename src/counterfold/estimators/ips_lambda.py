"""Subgaussian inverse propensity scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold import checks
from counterfold.arrays import Floats
from counterfold.estimators.base import Estimator
from counterfold.rows import Rows


@dataclass(frozen=True)
class IPSLambda(Estimator):
    r"""IPS with weights mixed harmonically with 1, so that none exceeds `1 / mix`.

    $$v_i = \frac{w_i}{1 - \lambda + \lambda w_i}\, r_i$$

    0 is IPS. 1 is the mean reward of the log, whatever the target; a weight of 0 counts as 1 there, too.

    Metelli, Russo, Restelli (2021), "Subgaussian and differentiable importance sampling for off-policy evaluation and
    learning".

    >>> import counterfold as cf
    >>> cf.IPSLambda(mix=0.5).contributions(cf.example_rows())
    array([0. , 0. , 1. , 1.6])
    """

    mix: float = 0.1

    def __post_init__(self) -> None:
        """Check the parameter."""
        checks.within(0, 1, mix=self.mix)

    def contributions(self, rows: Rows) -> Floats:
        """Return rewards with corrected weights."""
        if self.mix == 1:
            return rows.rewards
        return rows.weights / (1 - self.mix + self.mix * rows.weights) * rows.rewards

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        """Return 30 values, evenly spaced on the logistic scale."""
        del rows
        return [cls(1 / (1 + float(np.exp(-h)))) for h in np.linspace(-10, 10, 30)]
