"""A shared ridge regression, mixed with one regression on its predictions that all rows of all actions teach."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.base.hashing import sample_least
from counterfold.models._moments import Solved, Summed
from counterfold.models._policy_models import PolicyModels
from counterfold.models._pooled import fit_pooled
from counterfold.models.base import Examples, Predictor, Scaling
from counterfold.models.shared_ridge import SharedRidge

LEAST_SHARE = 0.01
"""A smaller share than this is none, as predictions of long logs take time."""


@dataclass(frozen=True)
class PooledRidge(Summed):
    r"""`SharedRidge`, mixed with one regression for all actions where few rows tell of the target.

    $$\hat q(x, a) = (1 - m)\, \bar q_a + m\, g^{-1}\bigl(b + \beta^\top [g(\bar q_a), z_a]\bigr), \qquad
      m = \frac{k}{k + n_{\text{eff}}}$$

    $\bar q_a$ is the prediction of `SharedRidge`. It counts rows by weight and has a model for each action, so it is
    right where the target goes, and noisy if few rows say so: $n_{\text{eff}}$ of them. The pooled regression, on
    that prediction and on the columns $z_a$ that it sees, counts all rows alike and is drawn towards the mean reward.
    $g$ is the log-odds where rewards have two values, else the identity. `even` is k, the effective number of rows with
    which each has a share of one half.

    Columns are scaled by the geometric mean of their standard deviation and of how far the target's actions lie from
    the logged ones (root mean square), if that is more; $\beta$ has a penalty of 8 rows, or groups, and a quarter of
    that on log-odds, of which chances are at most a quarter as steep a function. At most 16,384 rows, a random sample,
    teach it. In $n_{\text{eff}}$ all rows count, also those of a group. How far rows move a value by what all of this
    learns from them is taken to be what it is for `SharedRidge`.

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

    def from_moments(self, known: Solved, scaling: Scaling) -> PolicyModels:
        return self.ridge.from_moments(known, scaling)

    def fit(self, examples: Examples) -> Predictor:
        return self.refine(self.ridge.fit(examples), examples.take(sample_least(examples.ids, self.sees_rows)))

    def fit_outside(self, examples: Examples, fold: Ints, folds: int) -> Sequence[Predictor]:
        solved, kept = self.ridge.fit_outside(examples, fold, folds), sample_least(examples.ids, self.sees_rows)
        return self.refine_outside(solved, examples.take(kept), fold[kept])

    def refine(self, solved: Any, rows: Examples) -> Predictor:
        share = self.even / (self.even + solved.effective) if self.even else 0.0
        return solved if share < LEAST_SHARE else fit_pooled(solved, rows, share)
