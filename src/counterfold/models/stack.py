"""A mixture of several reward models, with the shares that predict held-out rows best."""

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

MAX_ACTIONS_FOR_ALL_MEMBERS = 100
"""With more actions than this, the default members are only those that predict all actions at once."""


@dataclass(frozen=True, eq=False)
class Stack(TrainedModel):
    r"""The mixture of several reward models that predicts rows best that none of them saw.

    $$s = \arg\min_{s \ge 0,\ \sum_m s_m = 1} \sum_i u_i \Bigl(r_i - \sum_m s_m\, \hat q_m^{(-f(i))}(x_i, a_i)\Bigr)^2$$

    Each member predicts each of `folds` folds of the rows from the other folds, groups as a whole. A member that does
    not improve the mixture has a share of 0. Rows have the weights $u_i \propto (w_i + 0.1)^{\text{aim}}$, which are
    larger where the target goes. Predictions are clipped to the range of the observed rewards.

    Members are by default `PooledRidge`, `LogisticRidge` and, for at most 100 actions, `LinearPlus` of gradient
    boosting, of extra trees and of `NearestNeighbours`, whose features include the log-probabilities of the action
    under both policies. You can pass reward models or scikit-learn estimators; regressors are wrapped in `LinearPlus`,
    too. Models that are not solved from sums are trained on at most 20,000 rows. Within `CrossFitted` the prediction of
    a row does not depend on its reward. If both have the same number of `folds`, each model without two folds is fitted
    once and used for both. `reward_model="best"` is `CrossFitted(Stack())`.

    The influence of training rows on a value is taken to be that of `SharedRidge`.

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
        for member in require_sequence(self.members):
            require_member(member)

    def fit(self, examples: Examples) -> Predictor:
        linear = SharedRidge(aim=self.aim).fit(examples)
        return self.start(examples).combine(np.ones(len(examples), dtype=bool), linear)

    def fit_outside(self, examples: Examples, fold: Ints, folds: int) -> Sequence[Predictor]:
        linear = SharedRidge(aim=self.aim).fit_outside(examples, fold, folds)
        stacking = self.start(examples)
        return [stacking.combine(fold != number, predictor) for number, predictor in enumerate(linear)]

    def start(self, examples: Examples) -> Stacking:
        """Return the `Stacking` of these rows, before any member is fitted."""
        members = [require_member(member) for member in self.members]
        return Stacking(
            members=members or make_usual_members(examples.n_actions),
            examples=examples,
            counts=SharedRidge(aim=self.aim).counts(examples),
            fold=assign_folds(examples.units, self.folds),
        )


def make_usual_members(n_actions: int) -> list[TrainedModel]:
    """Return the default members."""
    linear: list[TrainedModel] = [PooledRidge(), LogisticRidge()]
    if n_actions > MAX_ACTIONS_FOR_ALL_MEMBERS:
        return linear
    from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor

    boosting = HistGradientBoostingRegressor(max_iter=40, max_leaf_nodes=15, early_stopping=False)
    forest = ExtraTreesRegressor(30, min_samples_leaf=10, max_features=0.5)
    return [*linear, require_member(boosting), require_member(forest), LinearPlus(NearestNeighbours())]


def require_sequence(members: Any) -> Sequence[Any]:
    """Return the members; raise `ParameterError` unless they are a list, which may be empty."""
    if isinstance(members, (str, bytes)) or not isinstance(members, Sequence):
        wanted = "a list of reward models or scikit-learn estimators, such as [SharedRidge(), Lasso()]"
        raise ParameterError(f"`members` must be {wanted}, got {messages.shorten(members)}.")
    return members


def require_member(value: Any) -> TrainedModel:
    """Return the reward model of a member; raise `ParameterError` if it has none."""
    member = as_member(value)
    if member is None:
        wanted = "reward models that can be fitted, or scikit-learn estimators, such as [SharedRidge(), Lasso()]"
        raise ParameterError(f"`members` must be {wanted}, got {messages.shorten(value)} among them.")
    return member


def as_member(value: Any) -> TrainedModel | None:
    """Return the reward model that is `value` or that wraps it, if it is a scikit-learn estimator; otherwise None."""
    if isinstance(value, TrainedModel) and value.suits("labels"):
        return value
    if isinstance(value, type) or not (hasattr(value, "fit") and hasattr(value, "predict")):
        return None
    encoded = ActionEncoded(value, sees_policies=True)
    if predicts_classes(value):
        return encoded
    return LinearPlus(encoded)
