"""How often the intervals of estimate() cover on a known bandit, judged by binomial tests."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import binomtest

import counterfold as cf
from problems import evaluate_as_paper


def known_bandit(rng, rows=400):
    """Return a log, a target and the target's value, for a bandit whose rewards are known."""
    x = rng.normal(size=(rows, 2))
    logging, target = (np.exp(b * x @ [[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]) for b in (0.3, -0.5))
    logging, target = (probs / probs.sum(axis=1, keepdims=True) for probs in (logging, target))
    a = (logging.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    means = np.column_stack([x[:, 0], x[:, 0] * x[:, 1], np.ones(rows)])
    reward = means[np.arange(rows), a] + rng.normal(size=rows)
    return cf.Log(context=x, action=a, reward=reward, logging_probs=logging), target


def slow(estimator):
    """Return a case that `make test` leaves out, as it runs one like it."""
    return pytest.param(estimator, marks=pytest.mark.slow)


TRUTH_ROWS = 2_000_000


@cache
def bandit_value():
    x = np.random.default_rng(99).normal(size=(TRUTH_ROWS, 2))
    target = np.exp(-0.5 * x @ [[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    target /= target.sum(axis=1, keepdims=True)
    return float((target * np.column_stack([x[:, 0], x[:, 0] * x[:, 1], np.ones(TRUTH_ROWS)])).sum(axis=1).mean())


@pytest.mark.statistical
@pytest.mark.parametrize("estimator", [slow(cf.IPS()), cf.SNIPS(), cf.DR(), slow(cf.SNDR())], ids=str)
def test_unbiased_estimators_cover_the_truth(estimator):
    truth, rng = bandit_value(), np.random.default_rng(7)
    intervals = [
        cf.estimate(*known_bandit(rng), estimator, reward_model=cf.CrossFitted(cf.RidgePerAction())).interval(0.9)
        for _ in range(400)
    ]
    covered = sum(low <= truth <= high for low, high in intervals)
    assert binomtest(covered, 400, 0.9).pvalue > 0.001


@pytest.mark.statistical
@pytest.mark.parametrize("estimator", [cf.DM(), slow(cf.CAB(0.5))], ids=str)
def test_errors_include_the_noise_of_fitting_the_model(estimator):
    """The standard deviation over 80 logs is known to 8 %; the errors must be within a quarter of it."""
    rng = np.random.default_rng(9)
    results = [evaluate_as_paper(*known_bandit(rng), [estimator], "ocv:splits=2") for _ in range(80)]
    deviation = np.std([result.value for result in results], ddof=1)
    assert np.mean([result.stderr for result in results]) == pytest.approx(deviation, rel=0.25)
    assert np.mean([result.table[0].stderr for result in results]) < 0.75 * deviation


@pytest.mark.statistical
def test_grouped_rows_widen_the_interval_as_they_should():
    rng = np.random.default_rng(8)
    covered, naive = 0, 0
    for _ in range(400):
        user = np.repeat(np.arange(60), 5)
        action, effect = rng.integers(2, size=300), rng.normal(size=60)[user]
        log = cf.Log(action=action, reward=effect + action, propensity=np.full(300, 0.5), group=user)
        alone = cf.Log(action=action, reward=effect + action, propensity=np.full(300, 0.5))
        target = np.tile([0.5, 0.5], (300, 1))
        covered += _covers(cf.estimate(log, target, cf.IPS()), 0.5)
        naive += _covers(cf.estimate(alone, target, cf.IPS()), 0.5)
    assert binomtest(covered, 400, 0.9).pvalue > 0.001
    assert binomtest(naive, 400, 0.9, alternative="less").pvalue < 1e-6


def _covers(estimate, truth):
    low, high = estimate.interval(0.9)
    return low <= truth <= high
