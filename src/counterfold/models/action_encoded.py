"""Any scikit-learn regressor or classifier, one for all actions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.arrays import Floats
from counterfold.models._sklearn import expected_reward, fit_copy, require_estimator
from counterfold.models.base import Examples, Predictor, TrainedModel


@dataclass(frozen=True, eq=False)
class ActionEncoded(TrainedModel):
    r"""One scikit-learn estimator on the context and the action, one-hot encoded or a dose: $\hat q(x, a) = f(x, e_a)$.

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
    kinds = ("labels", "doses")

    def __post_init__(self) -> None:
        require_estimator(self.estimator)

    def fit(self, examples: Examples) -> Predictor:
        if len(examples) == 0 or np.ptp(examples.rewards) == 0:
            constant = examples.rewards[0] if len(examples) else 0.0
            return lambda rows: np.full((len(rows), examples.n_actions), constant)
        logged = examples.doses[:, :1] if examples.doses.size else np.eye(examples.n_actions)[examples.actions]
        features = np.hstack([examples.context, logged])
        model = fit_copy(self.estimator, features, examples.rewards, examples.counts)

        def predict(rows: Examples) -> Floats:
            encoded = rows.doses.T[:, :, None] if rows.doses.size else np.eye(rows.n_actions)[:, None]
            tried = (np.hstack([rows.context, np.broadcast_to(one, (len(rows), one.shape[1]))]) for one in encoded)
            return np.column_stack([expected_reward(model, features) for features in tried])

        return predict
