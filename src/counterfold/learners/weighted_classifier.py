"""WeightedClassifier: a classifier of scikit-learn's kind that learns which action is worth the most."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.errors import ModelError, blame
from counterfold.learners.base import Learner, TrainingRows
from counterfold.policies.scorers import ClassifierScorer, Scorer

LARGEST = 1 << 20
"""At most how many pairs of a row and an action a classifier is fitted on."""


@dataclass(frozen=True)
class WeightedClassifier(Learner):
    r"""Fit a classifier to all actions of all rows, each with what it is worth there beyond the worst one as weight.

    $$\max_\pi \sum_i \sum_a (\Gamma_{ia} - \min_b \Gamma_{ib})\, 1[\pi(x_i) = a]$$

    which differs from the doubly robust estimate of the policy's value by what no policy can change. Its probabilities
    are the policy's. By default it is scikit-learn's logistic regression.
    """

    classifier: Any = None
    is_greedy = False

    @property
    def name(self) -> str:
        return f"WeightedClassifier({'' if self.classifier is None else type(self.classifier).__name__})"

    def explain_lack(self, rows: TrainingRows) -> str | None:
        if not rows.context.shape[1]:
            return "needs a context"
        return f"takes at most {LARGEST} rows times actions" if rows.robust_scores.size > LARGEST else None

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        from sklearn.base import clone
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        scores = rows.robust_scores[:, rows.allowed]
        weights = scores - scores.min(axis=1, keepdims=True)
        counts = rows.examples.counts
        weights = weights if counts is None else weights * counts[:, None]
        places, codes = np.nonzero(weights)
        weight, label = weights[places, codes], np.flatnonzero(rows.allowed)[codes]
        usual = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
        usual.fit  # noqa: B018
        if self.classifier is None:
            usual.fit(rows.context[places], label, logisticregression__sample_weight=weight / weight.mean())
            return ClassifierScorer(usual, rows.examples.n_actions)
        with blame(ModelError, "the classifier {}", type(self.classifier).__name__):
            fitted = clone(self.classifier).fit(rows.context[places], label, sample_weight=weight / weight.mean())
        return ClassifierScorer(fitted, rows.examples.n_actions)
