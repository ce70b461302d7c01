"""Any scikit-learn regressor or classifier, one for all actions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.models._action_predictor import ActionPredictor
from counterfold.models._sklearn import expected_reward, fit_copy, require_estimator
from counterfold.models.base import Examples, Predictor, TrainedModel


@dataclass(frozen=True, eq=False)
class ActionEncoded(TrainedModel):
    r"""One scikit-learn estimator on the context and the action, one-hot encoded or a dose: $\hat q(x, a) = f(x, e_a)$.

    Actions share what they have in common, which helps when there are many of them with few rows each. If all rewards
    are equal it predicts that reward. The default is scikit-learn's histogram gradient boosting. With `sees_policies`
    it sees what both policies think of an action besides, as `SharedRidge` does.

    >>> from sklearn.linear_model import LinearRegression
    >>> import counterfold as cf
    >>> cf.example_rows(cf.ActionEncoded(LinearRegression())).q.round(3)
    array([[ 0. , -0.5],
           [ 0.5,  0. ],
           [ 1. ,  0.5],
           [ 1.5,  1. ]])
    """

    estimator: Any = None
    sees_policies: bool = False
    kinds = ("labels", "doses")

    def __post_init__(self) -> None:
        require_estimator(self.estimator)
        validation.true_or_false(sees_policies=self.sees_policies)

    def fit(self, examples: Examples) -> Predictor:
        if len(examples) == 0 or np.ptp(examples.rewards) == 0:
            constant = examples.rewards[0] if len(examples) else 0.0
            return lambda rows: np.full((len(rows), examples.n_actions), constant)
        features = encode_actions(examples, examples.actions, sees_policies=self.sees_policies)
        fitted = fit_copy(self.estimator, features, examples.rewards, examples.counts, examples.seed)
        return Encoded(fitted, self.sees_policies)


@dataclass(frozen=True, eq=False)
class Encoded(ActionPredictor):
    """A fitted estimator, which is asked for one action in each row."""

    fitted: Any
    sees_policies: bool

    def predict(self, rows: Examples, actions: Ints) -> Floats:
        return expected_reward(self.fitted, encode_actions(rows, actions, sees_policies=self.sees_policies))


def encode_actions(rows: Examples, actions: Ints, *, sees_policies: bool) -> Floats:
    """Return the context of each row and one action, as columns of numbers."""
    encoded = rows.doses[np.arange(len(rows)), actions, None] if rows.doses.size else np.eye(rows.n_actions)[actions]
    return np.hstack([rows.see(actions) if sees_policies else rows.context, encoded])
