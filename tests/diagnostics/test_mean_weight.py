"""Right weights are hardly ever called wrong, however skewed they are; wrong ones are found as often as before."""

import numpy as np
import pytest
from scipy.stats import binomtest, norm, ttest_1samp

from counterfold.diagnostics.mean_weight import MeanWeight, find_p
from counterfold.intervals.base import Units
from counterfold.simulation import draw_actions, softmax

SURPRISING = MeanWeight().surprising

MISTAKES = {
    "noise": lambda logging, rng: logging * np.exp(0.5 * rng.normal(size=logging.shape)),
    "permuted": lambda logging, rng: rng.permutation(logging),
    "other columns": lambda logging, _rng: np.roll(logging, 1, axis=1),
    "square roots": lambda logging, _rng: np.sqrt(logging),
    "squares": lambda logging, _rng: logging**2,
}


def draw_weights(rng, rows, mistake=None):
    """Return the weights of a sharp target in a random bandit with little exploration."""
    actions = int(rng.choice([2, 5, 20]))
    context = rng.normal(size=(rows, 5))
    scores = context @ rng.normal(size=(2, 5, actions)) / np.sqrt(5)
    exploration = rng.choice([0.01, 0.03, 0.1])
    logging = (1 - exploration) * softmax(rng.choice([1.0, 2.0, 4.0]) * scores[0]) + exploration / actions
    target = softmax(rng.choice([1.0, 2.0, 4.0]) * scores[int(rng.integers(2))])
    action = draw_actions(logging, rng.random(rows))
    logged = logging
    if mistake is not None:
        logged = MISTAKES[mistake](logging, rng)
        logged /= logged.sum(axis=1, keepdims=True)
    place = np.arange(rows)
    return target[place, action] / logged[place, action]


def judge(weights):
    return find_p(Units.of(weights), expected=1.0, design_effect=1.0, added_variance=0.0)


@pytest.mark.statistical
@pytest.mark.parametrize("rows", [200, 500, 2000])
def test_right_weights_are_called_wrong_in_about_half_a_percent(rows):
    """At most 1 % of 1,500 logs, whose rate does not exceed 0.5 % significantly. A normal test has 5 %, 2 % and 1 %."""
    rng = np.random.default_rng(rows)
    wrong = sum(judge(draw_weights(rng, rows)) < SURPRISING for _ in range(1500))
    assert binomtest(wrong, 1500, 0.005, alternative="greater").pvalue > 0.001
    assert wrong <= 0.01 * 1500


@pytest.mark.statistical
@pytest.mark.parametrize("mistake", MISTAKES)
def test_wrong_weights_are_found_as_by_a_normal_test(mistake):
    """At least nine tenths of what a normal test finds, whose alarms are partly false ones, in 300 logs each."""
    rng = np.random.default_rng(1)
    found, normal = 0, 0
    for _ in range(300):
        weights = draw_weights(rng, 1000, mistake)
        found += judge(weights) < SURPRISING
        normal += 2 * norm.sf(abs(ttest_1samp(weights, 1.0).statistic)) < SURPRISING
    assert normal > 75
    assert found >= 0.9 * normal


def test_weights_that_are_not_skewed_are_judged_by_students_test():
    weights = np.array([0.5, 1.7] * 30)
    assert judge(weights) == pytest.approx(ttest_1samp(weights, 1.0).pvalue)


def test_one_row_shows_no_error_to_judge_by():
    assert judge(np.array([2.0])) == 1.0


def test_equal_weights_that_are_not_the_expected_one_are_wrong():
    assert judge(np.full(40, 2.0)) < 1e-10
    assert judge(np.full(5000, 0.5)) < 1e-10
    assert judge(np.full(40, 1.0)) == 1.0


def test_a_few_equal_weights_may_be_chance():
    assert judge(np.full(4, 2.0)) == pytest.approx(1 / 16)
    assert judge(np.full(40, 0.526)) > 0.1
