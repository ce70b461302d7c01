"""Problems with known truth from labelled data."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import counterfold as cf
from counterfold.simulation import draw_digits
from counterfold_lab.paper.classification import Classification


def clusters(rng, rows=300):
    labels = rng.integers(3, size=rows)
    return np.eye(3)[labels] + 0.5 * rng.normal(size=(rows, 3)), labels


def test_the_truth_is_what_playing_the_target_earns():
    rng = np.random.default_rng(0)
    features, labels = clusters(rng, rows=2000)
    problem = Classification(logging_beta=0.0, target_beta=3.0).draw_problem(features, labels, rng)
    assert problem.log.logging_probs == pytest.approx(1 / 3)
    uniform = cf.estimate(problem.log, problem.target, cf.IPS())
    assert abs(uniform.value - problem.truth) < 4 * uniform.stderr


def test_logits_are_sharper_than_probabilities():
    features, labels = clusters(np.random.default_rng(1))
    entropies = []
    for policies in ("probabilities", "logits"):
        target = Classification(policies=policies).draw_problem(features, labels, np.random.default_rng(2)).target
        entropies.append(-(target * np.log(np.maximum(target, 1e-300))).sum(axis=1).mean())
    assert entropies[1] < entropies[0]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_demonstration_is_a_problem_of_the_paper_s_protocol(seed):
    features, labels = load_digits(return_X_y=True)
    own = draw_digits(seed)
    published = Classification(1.0, 10.0).draw_problem(features, labels, np.random.default_rng(seed))
    assert own.truth == published.truth
    np.testing.assert_array_equal(own.target, published.target)
    for name in ("context", "action", "reward", "logging_probs"):
        np.testing.assert_array_equal(getattr(own.log, name), getattr(published.log, name))
    assert own.log.actions == published.log.actions
