"""Greedy: the action with the highest predicted reward."""

from dataclasses import dataclass

from counterfold.learning.learners.base import Learner, TrainingRows
from counterfold.policies.learned.scorers import Scorer


@dataclass(frozen=True)
class GreedyLearner(Learner):
    r"""Take the action whose predicted reward is the highest, by ridge regressions on the context.

    $$\pi(x) = \arg\max_a \hat q(x, a)$$

    Qian, Murphy (2011), "Performance guarantees for individualized treatment rules".

    It is a `SharedRidge`; where the log has features of the actions, what they tell of rewards comes first. Rows count
    more where their action was unlikely, so that the model is right for all actions alike.

    >>> from counterfold.learning.learners.base import example_training_rows
    >>> import numpy as np
    >>> scores = GreedyLearner().fit(example_training_rows(), 0).score(np.array([[0.0], [3.0]]))
    >>> scores.argmax(axis=1)
    array([0, 1])
    """

    complexity = 2

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        return rows.reward_scorer
