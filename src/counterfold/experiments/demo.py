"""The demonstration: scikit-learn's handwritten digits as a bandit with known truth."""

import numpy as np

from counterfold.experiments.paper.classification import Classification, Problem


def digits(seed: int) -> Problem:
    """Return a log of guessed digits under a nearly uniform policy, and a sharper policy to value."""
    from sklearn.datasets import load_digits

    features, labels = load_digits(return_X_y=True)
    return Classification(logging_beta=1.0, target_beta=10.0).problem(features, labels, np.random.default_rng(seed))
