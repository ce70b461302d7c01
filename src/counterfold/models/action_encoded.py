"""Any scikit-learn regressor or classifier, one for all actions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.arrays import Floats
from counterfold.models._sklearn import expected_reward, fitted, or_default
from counterfold.models.base import Examples, Predictor, TrainedModel


@dataclass(frozen=True, eq=False)
class ActionEncoded(TrainedModel):
    r"""One scikit-learn estimator on the context and the one-hot encoded action, $\hat q(x, a) = f(x, e_a)$.

    Actions share what they have in common, which helps when there are many of them with few rows each. If all rewards
    are equal it predicts that reward. The default is scikit-learn's histogram gradient boosting.

    >>> from sklearn.linear_model import LinearRegression
    >>> import counterfold as cf
    >>> cf.example_rows(cf.ActionEncoded(LinearRegression())).q.round(3)
    array([[ 0. , -0.5],
           [ 0.5,  0. ],
           [ 1. ,  0.5],
           [ 1.5,  1. ]])
    """

    estimator: Any = None

    def fit(self, examples: Examples) -> Predictor:
        """Return the fitted model as a function that tries every action in turn."""
        actions = np.eye(examples.n_actions)
        if len(examples) == 0 or np.ptp(examples.rewards) == 0:
            constant = examples.rewards[0] if len(examples) else 0.0
            return lambda context: np.full((len(context), examples.n_actions), constant)
        features = np.hstack([examples.context, actions[examples.actions]])
        model = fitted(or_default(self.estimator), features, examples.rewards)

        def predict(context: Floats) -> Floats:
            tried = (np.hstack([context, np.tile(action, (len(context), 1))]) for action in actions)
            return np.column_stack([expected_reward(model, features) for features in tried])

        return predict
