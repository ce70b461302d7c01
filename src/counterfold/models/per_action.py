"""Any scikit-learn regressor or classifier, one per action."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.models._constants import constants
from counterfold.models._sklearn import expected_reward, fit_copy, require_estimator
from counterfold.models.base import Examples, Predictor, TrainedModel


@dataclass(frozen=True, eq=False)
class PerAction(TrainedModel):
    r"""One copy of a scikit-learn estimator per action, $\hat q(x, a) = f_a(x)$.

    A regressor predicts the reward; a classifier's probabilities are averaged over the rewards it saw, and one that
    has no probabilities predicts one of these. An action whose logged rewards are all equal predicts that reward, one
    never logged 0. By default: histogram gradient boosting.

    >>> from sklearn.tree import DecisionTreeRegressor
    >>> import counterfold as cf
    >>> cf.example_rows(cf.PerAction(DecisionTreeRegressor())).q
    array([[0., 0.],
           [0., 0.],
           [1., 0.],
           [1., 1.]])
    """

    estimator: Any = None

    def __post_init__(self) -> None:
        require_estimator(self.estimator)

    @property
    def is_aimed(self) -> bool:
        return False

    def fit(self, examples: Examples) -> Predictor:
        actions = np.flatnonzero(np.isnan(constants(examples))).tolist()
        models = []
        for action in actions:
            mine = examples.take(np.flatnonzero(examples.actions == action))
            models.append(fit_copy(self.estimator, mine.context, mine.rewards, mine.counts, mine.seed))
        return ActionModels(np.nan_to_num(constants(examples)), actions, models)


@dataclass(frozen=True, eq=False)
class ActionModels:
    """The rewards of actions that always earn the same, and the fitted models of the others."""

    fixed: Floats
    actions: list[int]
    models: list[Any]

    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""
        q = np.tile(self.fixed, (len(rows), 1))
        for action, model in zip(self.actions, self.models, strict=True):
            q[:, action] = expected_reward(model, rows.context)
        return q
