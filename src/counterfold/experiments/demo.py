"""The demonstration: scikit-learn's handwritten digits as a bandit whose truth is known."""

import numpy as np

from counterfold.experiments.paper.classification import Classification
from counterfold.experiments.problem import Problem


def digits(seed: int) -> Problem:
    """Return a log of guessed digits under a nearly uniform policy, and a sharper policy to value."""
    from sklearn.datasets import load_digits

    features, labels = load_digits(return_X_y=True)
    return Classification(1.0, 10.0).draw_problem(features, labels, np.random.default_rng(seed))
