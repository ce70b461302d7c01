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

NUMBERS, LEAST = 1 << 19, 1 << 10
"""At most how many probabilities are learnt from, or those of LEAST rows if they are more."""

STEPS = 50
"""How many steps are made towards the best slopes."""

LEVEL = 1e-3
"""How much less levels are drawn to 0 than slopes are."""


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

        count = rows.examples.n_actions
        some = rows.take(sample_least(np.arange(len(rows)), max(LEAST, NUMBERS // count)))
        scaling = Scaling.of(some.context)
        table = np.column_stack([np.ones(len(some)), (some.context - scaling.centre) / scaling.scale])
        wanted = some.logging_probs if some.logging_probs.size else np.eye(count)[some.examples.actions]
        counts = some.examples.counts
        counts = np.ones(len(some)) if counts is None else counts / counts.mean()
        penalty = self.alpha * np.append(LEVEL, np.ones(table.shape[1] - 1))[:, None]
        loss, start = Loss(table, wanted, counts[:, None], penalty), np.zeros(table.shape[1] * count)
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
        slopes = found.reshape(table.shape[1], count)
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
