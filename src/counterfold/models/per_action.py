"""Any scikit-learn regressor or classifier, one per action."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.arrays import Floats
from counterfold.models._sklearn import expected_reward, fit_copy, require_estimator
from counterfold.models.base import Examples, Predictor, TrainedModel, constants


@dataclass(frozen=True, eq=False)
class PerAction(TrainedModel):
    r"""One copy of a scikit-learn estimator per action, $\hat q(x, a) = f_a(x)$.

    A regressor predicts the reward; a classifier's probabilities are averaged over the rewards it saw. An action whose
    logged rewards are all equal predicts that reward, one never logged 0. By default: histogram gradient boosting.

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
        learnt = {}
        for action in np.flatnonzero(np.isnan(constants(examples))).tolist():
            mine = examples.take(np.flatnonzero(examples.actions == action))
            learnt[action] = fit_copy(self.estimator, mine.context, mine.rewards, mine.counts)
        fixed = np.nan_to_num(constants(examples))

        def predict(rows: Examples) -> Floats:
            q = np.tile(fixed, (len(rows), 1))
            for action, model in learnt.items():
                q[:, action] = expected_reward(model, rows.context)
            return q

        return predict
