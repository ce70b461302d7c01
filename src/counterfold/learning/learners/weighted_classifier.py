"""WeightedClassifier: a classifier of scikit-learn's kind that learns which action is worth the most."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import ModelError, blame
from counterfold.base.seeding import copy_seeded
from counterfold.learning.learners.base import Learner, TrainingRows, name_with
from counterfold.models.base import Scaling
from counterfold.policies.learned.scorers import LEAST, ClassifierScorer, LinearScorer, Scorer

LARGEST = 1 << 20
"""At most how many pairs of a row and an action a classifier is fitted on."""


@dataclass(frozen=True)
class WeightedClassifier(Learner):
    r"""Fit a classifier to all actions of all rows, each with what it is worth there beyond the worst one as weight.

    $$\max_\pi \sum_i \sum_a (\Gamma_{ia} - \min_b \Gamma_{ib})\, 1[\pi(x_i) = a]$$

    Zhao, Zeng, Rush, Kosorok (2012), "Estimating individualized treatment rules using outcome weighted learning".

    The sum differs from the doubly robust estimate of the policy's value by what no policy can change. Probabilities
    of the classifier are the policy's. By default it is scikit-learn's logistic regression on scaled columns. Where one
    action alone is worth anything it is taken, and where none is, as all rewards are the same, all are equally likely.

    >>> from counterfold.learning.learners.base import example_training_rows
    >>> import numpy as np
    >>> scores = WeightedClassifier().fit(example_training_rows(), 0).score(np.array([[0.0], [3.0]]))
    >>> scores.argmax(axis=1)
    array([0, 1])
    """

    classifier: Any = None
    is_greedy = False

    @property
    def name(self) -> str:
        return name_with(self, self.classifier, None)

    def explain_lack(self, rows: TrainingRows) -> str | None:
        if not rows.context.shape[1]:
            return "needs a context"
        return f"takes at most {LARGEST} rows times actions" if len(rows) * rows.examples.n_actions > LARGEST else None

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        scores, counts = rows.robust_scores[:, rows.allowed], rows.examples.counts
        worth = scores - scores.min(axis=1, keepdims=True)
        worth = worth if counts is None else worth * counts[:, None]
        places, codes = np.nonzero(worth)
        weights, actions = worth[places, codes], np.flatnonzero(rows.allowed)[codes]
        if len(np.unique(actions)) < 2:
            return prefer(actions[:1], rows)
        given = rows.context[places], actions, weights / weights.mean()
        if self.classifier is None:
            return fit_logistic(*given, rows.examples.n_actions)
        with blame(ModelError, "the classifier {}", type(self.classifier).__name__):
            fitted = copy_seeded(self.classifier, seed).fit(*given[:2], sample_weight=given[2])
        return ClassifierScorer(fitted, rows.examples.n_actions)


def prefer(actions: Ints, rows: TrainingRows) -> Scorer:
    """Return scores by which some actions are taken always; all are alike if there are none to prefer."""
    intercepts, width = np.zeros(rows.examples.n_actions), rows.context.shape[1]
    intercepts[actions] = -np.log(LEAST)
    return LinearScorer(intercepts, np.zeros((width, len(intercepts))), np.ones(width))


def fit_logistic(context: Floats, actions: Ints, weights: Floats, count: int) -> LinearScorer:
    """Return the scores of so many actions by a logistic regression on columns with a standard deviation of 1.

    The mean of its scores is the same in all contexts, so an action that is never best has a chance of LEAST at most.
    """
    from sklearn.linear_model import LogisticRegression

    scaling = Scaling.of(context)
    known = LogisticRegression(max_iter=300).fit((context - scaling.centre) / scaling.scale, actions, weights)
    levels, several = known.intercept_, known.coef_.T
    if len(known.classes_) == 2:  # these are of the second class less the first one
        levels, several = np.outer(levels, [-0.5, 0.5])[0], several * [-0.5, 0.5]
    intercepts, slopes = np.full(count, levels.mean() + np.log(LEAST)), np.zeros((context.shape[1], count))
    intercepts[known.classes_], slopes[:, known.classes_] = levels, several
    return LinearScorer.of_scaled(intercepts, slopes, scaling.centre, scaling.scale)
