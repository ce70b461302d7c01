"""A shared ridge regression, and another model of what it leaves over."""

from dataclasses import dataclass, field, replace

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.models._action_predictor import ActionPredictor, predict_one
from counterfold.models.action_encoded import ActionEncoded
from counterfold.models.base import Examples, Predictor, TrainedModel
from counterfold.models.shared_ridge import SharedRidge


@dataclass(frozen=True, eq=False)
class LinearPlus(TrainedModel):
    r"""The predictions of `SharedRidge`, and what another model adds to them.

    $$\hat q(x, a) = \bar q(x, a) + \hat\delta(x, \bar q(x, a), a)$$

    The other `model` learns from $r_i - \bar q(x_i, a_i)$, with $\bar q$ of the action as one more column of the
    context. So what is linear need not be made of steps, as forests do, and few rows are enough for it.

    >>> from sklearn.tree import DecisionTreeRegressor
    >>> import counterfold as cf
    >>> cf.example_rows(cf.LinearPlus(cf.PerAction(DecisionTreeRegressor()))).q_logged
    array([0., 0., 1., 1.])
    """

    model: TrainedModel = field(default_factory=lambda: ActionEncoded(sees_policies=True))

    def __post_init__(self) -> None:
        validation.an_object(
            TrainedModel, "a reward model that can be fitted, such as PerAction(Lasso())", model=self.model
        )

    def fit(self, examples: Examples) -> Predictor:
        linear = SharedRidge().fit(examples)
        q = predict_one(linear, examples, examples.actions)
        return Sum(linear, self.model.fit(replace(add_column(examples, q), rewards=examples.rewards - q)))


@dataclass(frozen=True, eq=False)
class Sum(ActionPredictor):
    """What a linear model predicts, and what another one adds."""

    linear: Predictor
    added: Predictor

    def predict(self, rows: Examples, actions: Ints) -> Floats:
        q = predict_one(self.linear, rows, actions)
        return q + predict_one(self.added, add_column(rows, q), actions)

    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""
        q = self.linear(rows)
        every = (np.full(len(rows), action) for action in range(rows.n_actions))
        added = [
            predict_one(self.added, add_column(rows, one), actions) for one, actions in zip(q.T, every, strict=True)
        ]
        return q + np.column_stack(added)


def add_column(rows: Examples, values: Floats) -> Examples:
    """Return the rows with one more column of context."""
    scores = rows.normal_scores
    if scores is not None:
        scores = np.column_stack([scores, values])
    return replace(rows, context=np.column_stack([rows.context, values]), normal_scores=scores)
