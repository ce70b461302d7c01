"""Subgaussian inverse propensity scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.estimators._reweighted import Reweighted
from counterfold.estimators._subgaussian import solve_equation
from counterfold.estimators.base import Rules
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class IPSLambda(Reweighted):
    r"""IPS with weights mixed harmonically with 1, so that none exceeds `1 / mix`.

    $$v_i = \frac{w_i}{1 - \lambda + \lambda w_i}\, r_i$$

    A weight of 0 counts as 1 where the parameter is 1. The authors solve for the parameter,

    $$x^2\, \frac1n \sum_i \Bigl(\frac{w_i}{1 - x + x w_i}\Bigr)^2 = \frac{2 \log(1 / \delta)}{3 \sqrt n}, \qquad
      \lambda = \frac{x}{n^{1/4}},$$

    with x = 1 where the left side is smaller even there. The paper on cross-validation quotes
    $\lambda^2 \frac1n \sum_i ((1 - \lambda)\, w_i^s + \lambda)^{2/s} = \frac{2 \log(1 / \delta)}{3 n}$ with
    $s = n^{1/4}$; `Theory(rules="paper")` takes that.

    Metelli, Russo, Restelli (2021), "Subgaussian and differentiable importance sampling for off-policy evaluation and
    learning".

    >>> import counterfold as cf
    >>> cf.IPSLambda(mix=0.5).contributions(cf.example_rows())
    array([0. , 0. , 1. , 1.6])
    """

    mix: float = 0.1
    has_rule = True
    limits = {0.0: "ips", 1.0: "the mean reward"}

    def __post_init__(self) -> None:
        validation.within(0, 1, mix=self.mix)

    @staticmethod
    def reweigh(rows: Rows, mix: float | Floats) -> Floats:
        mixed = 1 - mix + mix * rows.weights
        if np.max(mix) < 1:
            return np.asarray(rows.weights / mixed)
        return np.divide(rows.weights, mixed, out=np.ones_like(mixed), where=mixed > 0)

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(1 / (1 + float(np.exp(-h)))) for h in np.linspace(-10, 10, 30)]

    @classmethod
    def suggest(cls, rows: Rows, delta: float, rules: Rules) -> Sequence[Self]:
        return [cls(solve_equation(rows.weights, delta, rules))]

    def risk(self, rows: Rows, delta: float, rules: Rules) -> float:
        return abs(self.mix - solve_equation(rows.weights, delta, rules))
