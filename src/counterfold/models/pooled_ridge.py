"""A shared ridge regression, mixed with one regression on its predictions over the rows of all actions."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.base.hashing import sample_least
from counterfold.models._moments import Solved, Summed
from counterfold.models._policy_models import PolicyModels
from counterfold.models._pooled import fit_pooled
from counterfold.models.base import Examples, Predictor, Scaling
from counterfold.models.shared_ridge import SharedRidge

MIN_SHARE = 0.01
"""With a smaller share than this the pooled regression is left out, because its predictions take time in long logs."""


@dataclass(frozen=True)
class PooledRidge(Summed):
    r"""`SharedRidge`, mixed with one regression for all actions where few rows tell of the target.

    $$\hat q(x, a) = (1 - m)\, \bar q_a + m\, g^{-1}\bigl(b + \beta^\top [g(\bar q_a), z_a]\bigr), \qquad
      m = \frac{k}{k + n_{\text{eff}}}$$

    $\bar q_a$ is the prediction of `SharedRidge`. It weights rows and has a model for each action, so that it is
    accurate where the target goes, but noisy if the effective number of rows $n_{\text{eff}}$ is small. The pooled
    regression, on that prediction and on the features $z_a$ of `SharedRidge`, weights all rows equally and shrinks
    towards the mean reward. $g$ is the log-odds if rewards have two values, otherwise the identity. `even` is k, the
    effective number of rows at which both have a share of one half.

    Columns are scaled by their standard deviation or, if the target's actions lie farther (root mean square) from the
    mean of the logged ones than that, by the geometric mean of both. $\beta$ has a penalty of 8 rows, or groups. On
    log-odds it is a quarter of that, because the slope of a probability in the log-odds is at most a quarter. The
    pooled regression is trained on a random sample of at most 16,384 rows. $n_{\text{eff}}$ counts rows, not groups.
    The influence of training rows on a value is taken to be that of `SharedRidge`.

    >>> import counterfold as cf
    >>> cf.example_rows(cf.PooledRidge()).q.shape
    (4, 2)
    """

    ridge: SharedRidge = field(default_factory=SharedRidge)
    even: float = 100.0
    knows_pulls = True
    sees_rows = 1 << 14

    def __post_init__(self) -> None:
        validation.an_object(SharedRidge, "a `SharedRidge`", ridge=self.ridge)
        validation.at_least(0, even=self.even)

    def weigh_rows(self, examples: Examples) -> Floats:
        return self.ridge.weigh_rows(examples)

    def widen(self, examples: Examples) -> Examples:
        return self.ridge.widen(examples)

    def tune(self, examples: Examples) -> Self:
        return replace(self, ridge=self.ridge.tune(examples))

    def tune_on_folds(self, folds: Floats) -> Self:
        return replace(self, ridge=self.ridge.tune_on_folds(folds))

    def from_moments(self, totals: Solved, scaling: Scaling) -> PolicyModels:
        return self.ridge.from_moments(totals, scaling)

    def fit(self, examples: Examples) -> Predictor:
        sampled = sample_least(examples.ids, self.sees_rows)
        return self.refine(self.ridge.fit(examples), examples.take(sampled))

    def fit_outside(self, examples: Examples, fold: Ints, folds: int) -> Sequence[Predictor]:
        solved = self.ridge.fit_outside(examples, fold, folds)
        sampled = sample_least(examples.ids, self.sees_rows)
        return self.refine_outside(solved, examples.take(sampled), fold[sampled])

    def refine(self, solved: PolicyModels, rows: Examples) -> Predictor:
        share = self.even / (self.even + solved.effective) if self.even else 0.0
        if share < MIN_SHARE:
            return solved
        return fit_pooled(solved, rows, share)
