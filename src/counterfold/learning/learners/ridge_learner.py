"""RidgeLearner: the action with the highest reward by a ridge regression for each action."""

from dataclasses import dataclass

import numpy as np

from counterfold.base import validation
from counterfold.learning.learners.base import Learner, TrainingRows, mean_rewards
from counterfold.models.base import Scaling
from counterfold.policies.learned.scorers import LinearScorer, Scorer


@dataclass(frozen=True)
class RidgeLearner(Learner):
    r"""Take the action whose predicted reward is the highest, by a ridge regression for each action alone.

    $$\pi(x) = \arg\max_a\, b_a + x^\top \beta_a$$

    Qian, Murphy (2011), "Performance guarantees for individualized treatment rules".

    Columns are scaled to a standard deviation of 1, and rows are not weighted. `GreedyLearner` differs in both: there,
    actions share what they have in common, and rows count more where their action was unlikely.

    >>> from counterfold.learning.learners.base import example_training_rows
    >>> import numpy as np
    >>> scores = RidgeLearner().fit(example_training_rows(), 0).score(np.array([[0.0], [3.0]]))
    >>> scores.argmax(axis=1)
    array([0, 1])
    """

    alpha: float = 1.0
    complexity = 2

    def __post_init__(self) -> None:
        validation.positive(alpha=self.alpha)

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        from sklearn.linear_model import Ridge

        examples = rows.examples
        scaling = Scaling.of(examples.context)
        context = (examples.context - scaling.centre) / scaling.scale
        intercepts = mean_rewards(rows)
        slopes = np.zeros((context.shape[1], examples.n_actions))
        for action in range(examples.n_actions if context.shape[1] else 0):
            index = np.flatnonzero(examples.actions == action)
            if not len(index):
                continue
            counts = None if examples.counts is None else examples.counts[index]
            model = Ridge(alpha=self.alpha).fit(context[index], examples.rewards[index], sample_weight=counts)
            intercepts[action] = model.intercept_
            slopes[:, action] = model.coef_
        return LinearScorer.of_scaled(intercepts, slopes, scaling.centre, scaling.scale)
