"""Differences to the log on rare responses in a subgroup: how far they are shrunk, and how often they are covered.

The settings are simulated with a fixed seed. Error rates are stated with each test.
"""

from functools import cache

import numpy as np
import pytest
from scipy.stats import binomtest

import counterfold as cf

ROWS = 2000
LOGS = 100
SHARE = 0.2
"""How much of the population is in the subgroup."""

BASE = 0.01
"""How often the log's usual action is rewarded."""

LIFT = 4.0
"""How many times as often the other action is rewarded in the subgroup."""

SHARES = np.array([0.7, 0.3])
"""How often the log takes each action."""

GAIN = SHARE * BASE * (LIFT - 1) * SHARES[0] + (1 - SHARE) * BASE * 0.3 * SHARES[1]
"""How much more than the log the target earns."""


def draw_log(seed):
    """Return a log, and a target that takes the other action in the subgroup alone."""
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(ROWS, 5))
    is_inside = context[:, 0] > 0.8416212335729143
    means = np.column_stack([np.full(ROWS, BASE), np.where(is_inside, BASE * LIFT, BASE * 0.7)])
    action = (rng.random(ROWS) < SHARES[1]).astype(int)
    reward = (rng.random(ROWS) < means[np.arange(ROWS), action]).astype(float)
    log = cf.Log(context=context, action=action, reward=reward, logging_probs=np.tile(SHARES, (ROWS, 1)))
    return log, np.column_stack([~is_inside, is_inside]).astype(float)


@cache
def evaluate_all():
    """Return the evaluations of all logs."""
    results = []
    for seed in range(LOGS):
        log, target = draw_log([31, seed])
        results.append(cf.evaluate(log, target, progress=False, threads=1))
    return results


@pytest.mark.slow
@pytest.mark.statistical
def test_differences_are_nearly_unbiased_where_values_are_drawn_towards_the_log():
    """The mean of 100 differences in standard errors has itself a standard error of about 0.1.

    A bias of 0.2 fails with a probability of about 2 %; that of the values' own shares is 0.4 or more.
    """
    gaps = [result.uplift() for result in evaluate_all()]
    error = np.mean([gap.stderr for gap in gaps])
    stated = np.mean([gap.value for gap in gaps])
    by_values = np.mean([result.value - result.logged.value for result in evaluate_all()])
    assert abs(stated - GAIN) < 0.4 * error
    assert by_values < stated


@pytest.mark.slow
@pytest.mark.statistical
def test_intervals_of_differences_cover_where_responses_are_rare():
    """With a coverage of 95 %, this fails with a probability of 0.1 %."""
    covered = 0
    for result in evaluate_all():
        low, high = result.uplift().interval()
        covered += low <= GAIN <= high
    assert binomtest(covered, LOGS, 0.95, alternative="less").pvalue > 0.001


def test_values_and_differences_are_close():
    """The two answers of a log differ by less than a stated error: they are climbs of the same ladders."""
    log, target = draw_log([31, 0])
    result = cf.evaluate(log, target, progress=False)
    gap = result.uplift()
    assert gap.value != result.value - result.logged.value
    assert abs(gap.value - (result.value - result.logged.value)) < gap.stderr
    assert result.planned_value == pytest.approx(result.logged.value + gap.value, rel=1e-12)
