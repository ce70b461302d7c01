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

MAX_EXAMPLES = 1 << 20
"""A classifier is fitted on at most so many pairs of a row and an action."""


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
        if len(rows) * rows.examples.n_actions > MAX_EXAMPLES:
            return f"takes at most {MAX_EXAMPLES} rows times actions"
        return None

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        scores = rows.robust_scores[:, rows.allowed]
        counts = rows.examples.counts
        gains = scores - scores.min(axis=1, keepdims=True)
        if counts is not None:
            gains = gains * counts[:, None]
        places, codes = np.nonzero(gains)
        actions = np.flatnonzero(rows.allowed)[codes]
        if len(np.unique(actions)) < 2:
            return prefer(actions[:1], rows)
        context = rows.context[places]
        weights = gains[places, codes]
        weights = weights / weights.mean()
        n_actions = rows.examples.n_actions
        if self.classifier is None:
            return fit_logistic(context, actions, weights, n_actions)
        with blame(ModelError, "the classifier {}", type(self.classifier).__name__):
            fitted = copy_seeded(self.classifier, seed).fit(context, actions, sample_weight=weights)
        return ClassifierScorer(fitted, n_actions)


def prefer(actions: Ints, rows: TrainingRows) -> Scorer:
    """Return scores by which some actions are taken always; all are alike if there are none to prefer."""
    width = rows.context.shape[1]
    intercepts = np.zeros(rows.examples.n_actions)
    intercepts[actions] = -np.log(LEAST)
    return LinearScorer(intercepts, np.zeros((width, len(intercepts))), np.ones(width))


def fit_logistic(context: Floats, actions: Ints, weights: Floats, n_actions: int) -> LinearScorer:
    """Return the scores of all actions by a logistic regression on columns with a standard deviation of 1.

    The mean of its scores is the same in all contexts, so an action that is never best has a chance of LEAST at most.
    """
    from sklearn.linear_model import LogisticRegression

    scaling = Scaling.of(context)
    scaled = (context - scaling.centre) / scaling.scale
    model = LogisticRegression(max_iter=300).fit(scaled, actions, weights)
    own_intercepts = model.intercept_
    own_slopes = model.coef_.T
    if len(model.classes_) == 2:  # scikit-learn keeps those of the second class minus the first
        own_intercepts = np.outer(own_intercepts, [-0.5, 0.5])[0]
        own_slopes = own_slopes * [-0.5, 0.5]
    intercepts = np.full(n_actions, own_intercepts.mean() + np.log(LEAST))
    slopes = np.zeros((context.shape[1], n_actions))
    intercepts[model.classes_] = own_intercepts
    slopes[:, model.classes_] = own_slopes
    return LinearScorer.of_scaled(intercepts, slopes, scaling.centre, scaling.scale)
