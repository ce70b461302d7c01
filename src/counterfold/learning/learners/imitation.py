"""Imitation: what the context tells of the logging policy, the nearest thing to it that can be saved."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.base.hashing import sample_least
from counterfold.learning.learners.base import Learner, TrainingRows
from counterfold.models.base import Scaling
from counterfold.policies.learned.scorers import LinearScorer, Scorer

MAX_PROBABILITIES = 1 << 19
"""At most so many probabilities are trained on, unless these are of fewer than MIN_ROWS rows."""

MIN_ROWS = 1 << 10
"""At least so many rows are trained on, if there are so many."""

MAX_STEPS = 50
"""At most so many steps are made towards the best slopes."""

LEVEL_PENALTY = 1e-3
"""The penalty of intercepts, relative to that of slopes."""


@dataclass(frozen=True)
class Imitation(Learner):
    r"""Do as the log did, as far as a softmax that is linear in the context can.

    $$\arg\min_{b, \beta} -\sum_i \sum_a \pi_0(a \mid x_i) \ln \operatorname{softmax}_a(b + x_i^\top \beta)
      + \tfrac{\alpha}{2} \lVert \beta \rVert^2$$

    Pomerleau (1991), "Efficient training of artificial neural networks for autonomous navigation".

    Columns are scaled to a standard deviation of 1. Where only propensities are known, the logged action stands for the
    whole policy. It is what a learnt policy is mixed with, and what is saved where nothing beats the log.

    >>> from counterfold.learning.learners.base import example_training_rows
    >>> import numpy as np
    >>> rows = example_training_rows()
    >>> scores = Imitation(alpha=0.01).fit(rows, 0).score(np.array([[0.0], [3.0]]))
    >>> (np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)).round(1)
    array([[0.8, 0.2],
           [0.2, 0.8]])
    """

    alpha: float = 1.0
    complexity = 3
    is_greedy = False
    sees_rewards = False

    def __post_init__(self) -> None:
        validation.positive(alpha=self.alpha)

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        from scipy.optimize import minimize

        n_actions = rows.examples.n_actions
        n_rows = max(MIN_ROWS, MAX_PROBABILITIES // n_actions)
        sample = rows.take(sample_least(np.arange(len(rows)), n_rows))
        scaling = Scaling.of(sample.context)
        table = np.column_stack([np.ones(len(sample)), (sample.context - scaling.centre) / scaling.scale])
        n_columns = table.shape[1]
        wanted = sample.logging_probs
        if not wanted.size:
            wanted = np.eye(n_actions)[sample.examples.actions]
        counts = sample.examples.counts
        counts = np.ones(len(sample)) if counts is None else counts / counts.mean()
        loss = Loss(
            table=table,
            wanted=wanted,
            counts=counts[:, None],
            penalty=self.alpha * np.append(LEVEL_PENALTY, np.ones(n_columns - 1))[:, None],
        )
        start = np.zeros(n_columns * n_actions)
        solution = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS})
        slopes = solution.x.reshape(n_columns, n_actions)
        return LinearScorer.of_scaled(slopes[0], slopes[1:], scaling.centre, scaling.scale)


class Loss(NamedTuple):
    """The cross-entropy of wanted probabilities (n x A) and a softmax that is linear in a table (n x p)."""

    table: Floats
    wanted: Floats
    counts: Floats
    penalty: Floats

    def __call__(self, flat: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient in the slopes (p x A), written one after the other."""
        slopes = flat.reshape(self.table.shape[1], -1)
        scores = self.table @ slopes
        scores -= scores.max(axis=1, keepdims=True)
        logarithms = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        gradient = self.table.T @ ((np.exp(logarithms) - self.wanted) * self.counts) + self.penalty * slopes
        loss = float((self.penalty * slopes**2).sum()) / 2 - float((self.wanted * logarithms * self.counts).sum())
        return loss, gradient.ravel()
