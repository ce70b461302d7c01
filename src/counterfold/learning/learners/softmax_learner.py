"""Softmax: actions with higher predicted rewards are more likely."""

from dataclasses import dataclass

import numpy as np

from counterfold.base import validation
from counterfold.learning.learners.base import Learner, TrainingRows
from counterfold.policies.learned.scorers import LinearScorer, Scorer


@dataclass(frozen=True)
class SoftmaxLearner(Learner):
    r"""Take actions with probabilities that rise with their predicted rewards, by ridge regressions on the context.

    $$\pi(a \mid x) \propto \exp(\hat q(x, a) / (T \sigma))$$

    where $\sigma$ is the usual standard deviation over actions of the predictions in one context.

    Sutton, Barto (1998), "Reinforcement learning: an introduction".

    >>> from counterfold.learning.learners.base import example_training_rows
    >>> import numpy as np
    >>> scores = SoftmaxLearner(temperature=0.5).fit(example_training_rows(), 0).score(np.array([[0.0], [3.0]]))
    >>> (1 / (1 + np.exp(scores[:, 0] - scores[:, 1]))).round(1)
    array([0., 1.])
    """

    temperature: float = 0.3
    complexity = 3
    is_greedy = False

    def __post_init__(self) -> None:
        validation.positive(temperature=self.temperature)

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        model = rows.reward_scorer
        spread = float(np.median(model.score(rows.context).std(axis=1))) or 1.0
        scale = self.temperature * spread
        return LinearScorer(model.intercepts / scale, model.slopes / scale, model.spread)
