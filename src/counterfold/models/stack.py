"""A mixture of several reward models, whose shares are what predicts new rows best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.base import messages, validation
from counterfold.base.arrays import Ints
from counterfold.base.errors import ParameterError
from counterfold.base.hashing import assign_folds
from counterfold.models._sklearn import predicts_classes
from counterfold.models._stacked import Stacking
from counterfold.models.action_encoded import ActionEncoded
from counterfold.models.base import Examples, Predictor, TrainedModel
from counterfold.models.linear_plus import LinearPlus
from counterfold.models.logistic_ridge import LogisticRidge
from counterfold.models.nearest_neighbours import NearestNeighbours
from counterfold.models.pooled_ridge import PooledRidge
from counterfold.models.shared_ridge import SharedRidge

MANY = 100
"""With more actions than this, those alone take part by default that predict all actions at once."""


@dataclass(frozen=True, eq=False)
class Stack(TrainedModel):
    r"""The mixture of several reward models that predicts rows best that none of them saw.

    $$s = \arg\min_{s \ge 0,\ \sum_m s_m = 1} \sum_i u_i \Bigl(r_i - \sum_m s_m\, \hat q_m^{(-f(i))}(x_i, a_i)\Bigr)^2$$

    Each member predicts each of `folds` folds of the rows from the other ones, groups as a whole; a member that is of
    no use has a share of 0. Rows count $u_i \propto (w_i + 0.1)^{\text{aim}}$, more where the target goes. No
    prediction is outside the rewards that were seen.

    Members are by default `PooledRidge`, `LogisticRidge` and, for at most 100 actions, `LinearPlus` of gradient
    boosting, of extra trees and of `NearestNeighbours`, which see what both policies think of an action, too. Your own
    may be reward models, or scikit-learn estimators: regressors become `LinearPlus` of them, too. What cannot be solved
    from sums learns from at most 20,000 rows. Within `CrossFitted` no row has a say in its own prediction, and what is
    fitted without two folds serves both, if there are as many `folds`. `reward_model="best"` is `CrossFitted(Stack())`.

    How far rows move a value by what the stack learns from them is taken to be what it is for `SharedRidge`.

    Breiman (1996), "Stacked regressions".

    >>> import counterfold as cf
    >>> cf.example_rows(cf.Stack(members=[cf.SharedRidge(), cf.RidgePerAction()])).q.shape
    (4, 2)
    """

    members: Sequence[Any] = ()
    folds: int = 5
    aim: float = 0.5
    knows_pulls = True

    def __post_init__(self) -> None:
        validation.whole(3, folds=self.folds)
        validation.within(0, 1, aim=self.aim)
        for one in require_several(self.members):
            require_member(one)

    def fit(self, examples: Examples) -> Predictor:
        linear = SharedRidge(aim=self.aim).fit(examples)
        return self.start(examples).combine(np.ones(len(examples), dtype=bool), linear)

    def fit_outside(self, examples: Examples, fold: Ints, folds: int) -> Sequence[Predictor]:
        linear, stacking = SharedRidge(aim=self.aim).fit_outside(examples, fold, folds), self.start(examples)
        return [stacking.combine(fold != number, one) for number, one in enumerate(linear)]

    def start(self, examples: Examples) -> Stacking:
        """Return what finds shares on these rows, of which nothing is fitted yet."""
        members = list(map(require_member, self.members)) or make_usual_members(examples.n_actions)
        counts = SharedRidge(aim=self.aim).counts(examples)
        return Stacking(members, examples, counts, assign_folds(examples.units, self.folds))


def make_usual_members(n_actions: int) -> list[TrainedModel]:
    """Return the models that take part where the user does not say."""
    linear: list[TrainedModel] = [PooledRidge(), LogisticRidge()]
    if n_actions > MANY:
        return linear
    from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor

    boosting = HistGradientBoostingRegressor(max_iter=40, max_leaf_nodes=15, early_stopping=False)
    forest = ExtraTreesRegressor(30, min_samples_leaf=10, max_features=0.5)
    return [*linear, *map(require_member, (boosting, forest)), LinearPlus(NearestNeighbours())]


def require_several(members: Any) -> Sequence[Any]:
    """Return the members, which must be a list of any length."""
    if isinstance(members, (str, bytes)) or not isinstance(members, Sequence):
        wanted = "a list of reward models or scikit-learn estimators, such as [SharedRidge(), Lasso()]"
        raise ParameterError(f"`members` must be {wanted}, got {messages.shorten(members)}.")
    return members


def require_member(value: Any) -> TrainedModel:
    """Return the reward model that one of the members stands for."""
    found = as_member(value)
    if found is None:
        wanted = "reward models that can be fitted, or scikit-learn estimators, such as [SharedRidge(), Lasso()]"
        raise ParameterError(f"`members` must be {wanted}, got {messages.shorten(value)} among them.")
    return found


def as_member(value: Any) -> TrainedModel | None:
    """Return a reward model that can be fitted, from one or from a scikit-learn estimator; nothing from others."""
    if isinstance(value, TrainedModel) and value.suits("labels"):
        return value
    if isinstance(value, type) or not (hasattr(value, "fit") and hasattr(value, "predict")):
        return None
    encoded = ActionEncoded(value, sees_policies=True)
    return encoded if predicts_classes(value) else LinearPlus(encoded)
