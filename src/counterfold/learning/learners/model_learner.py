"""ModelLearner: the action with the highest reward by any reward model, such as the stack."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.errors import ParameterError
from counterfold.base.messages import shorten
from counterfold.learning.learners.base import Learner, TrainingRows, name_with
from counterfold.models.base import Examples, Predictor, check_predictions
from counterfold.models.stack import Stack, as_member, require_member
from counterfold.policies.learned.scorers import Scorer


@dataclass(frozen=True)
class ModelLearner(Learner):
    r"""Take the action whose predicted reward is the highest, by any reward model that can be fitted.

    $$\pi(x) = \arg\max_a \hat q(x, a)$$

    Qian, Murphy (2011), "Performance guarantees for individualized treatment rules".

    By default the model is a `Stack`, which finds rewards that no line describes, and takes seconds where
    `GreedyLearner` takes milliseconds. `model` may be another reward model, or a regressor or classifier of
    scikit-learn's kind, which is seeded if it has a `random_state` that is not set.

    >>> from counterfold.learning.learners.base import example_training_rows
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> import numpy as np
    >>> scores = ModelLearner(DecisionTreeRegressor()).fit(example_training_rows(), 0).score(np.array([[0.0], [3.0]]))
    >>> scores.argmax(axis=1)
    array([0, 1])
    """

    model: Any = field(default_factory=Stack)

    def __post_init__(self) -> None:
        if as_member(self.model) is None:
            rule = "a reward model that can be fitted, or a scikit-learn estimator, such as Lasso()"
            raise ParameterError(f"`model` must be {rule}, got {shorten(self.model)}.")

    @property
    def name(self) -> str:
        return name_with(self, self.model, Stack())

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        model = require_member(self.model)
        examples = replace(rows.examples, seed=seed)
        return ModelScorer(
            predict=model.fit(examples),
            n_actions=examples.n_actions,
            name=type(self.model).__name__,
        )


@dataclass(frozen=True, eq=False)
class ModelScorer(Scorer):
    """The rewards that a fitted model, which is called `name`, predicts of every action."""

    predict: Predictor
    n_actions: int
    name: str

    @property
    def heading(self) -> str:
        return "by the highest predicted reward:"

    def score(self, context: Floats) -> Floats:
        if not len(context):
            return np.empty((0, self.n_actions))
        n_rows = len(context)
        ids = np.arange(n_rows)
        nothing = np.empty((n_rows, 0))
        examples = Examples(  # the model predicts by the context alone
            ids=ids,
            units=ids,
            context=context,
            actions=np.zeros(n_rows, dtype=np.intp),
            rewards=np.zeros(n_rows),
            doses=nothing,
            importance=np.ones(n_rows),
            target_probs=nothing,
            logging_probs=nothing,
            n_actions=self.n_actions,
        )
        return check_predictions(self.predict(examples), examples)

    def describe(self, features: Sequence[str], labels: Sequence[str]) -> str:
        return f"the reward model {self.name}, on {len(features)} columns"

    def weigh_features(self, width: int) -> Floats:
        return np.zeros(width)

    def is_sound(self, width: int, n_actions: int) -> bool:
        return bool(self.n_actions == n_actions)
