"""BettingBound against naive loops and SciPy's exact binomial interval, how often it covers, and what it refuses."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

import counterfold as cf
import reference
from contributions import WEIGHTS
from problems import log_of

SURE = 1e-6
"""How rarely a test of coverage may fail if the interval is right."""


def owned(weights, rewards, mean, largest=None):
    """Return what the players own, of 1 that they had, if rewards are in [0, 1] and the value were so; row by row."""
    rows, total = len(weights), 0.0
    for place in range(14):
        stake = 0.3 * 1000 ** (place / 13) / math.sqrt(rows)
        plain = careful = 1.0
        for w, r in zip(weights, rewards, strict=True):
            plain *= (1 + stake * w * r) / (1 + stake * mean)
            careful *= 1 + min(stake, 0.99 / (mean * largest)) * w * (r - mean) if largest else 0.0
        total += (plain + careful) / (2 if largest else 1) / 14
    return total


@pytest.mark.parametrize("largest", [None, 60.0])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-2.0, 3.0), (0.5, 1.5)])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_just_inside_nobody_wins_enough_and_just_outside_somebody_does(level, low, high, largest):
    rewards = np.random.default_rng(1).random(200) ** 3
    given = low + (high - low) * rewards
    method = cf.BettingBound(low, high, largest)
    ends = cf.Estimate("x", WEIGHTS * given, weights=WEIGHTS).interval(level, method)
    enough = (2 if largest else 1) * 2 / (1 - level)
    for end, some in (((ends.low - low) / (high - low), rewards), ((high - ends.high) / (high - low), 1 - rewards)):
        assert owned(WEIGHTS, some, end * 0.999, largest) > enough > owned(WEIGHTS, some, end * 1.001, largest)


@pytest.mark.parametrize(("clicks", "rows"), [(0, 30), (1, 30), (12, 5000), (29, 30), (30, 30)])
def test_two_weights_are_clopper_and_pearson_at_half_the_chance(clicks, rows):
    exact = binomtest(clicks, rows).proportion_ci(0.975, "exact")
    once = cf.Estimate("x", np.repeat([1.0, 0.0], [clicks, rows - clicks]))
    matched = np.repeat([10.0, 0.0], [rows, 9 * rows])
    clicked = np.repeat([10.0, 0.0], [clicks, 10 * rows - clicks])
    weighted = cf.Estimate("x", clicked, weights=matched)
    for estimate, largest in ((once, 1.0), (weighted, 10.0)):
        found = estimate.interval(0.95, cf.BettingBound(0.0, 1.0, largest))
        assert found == pytest.approx((exact.low, exact.high), abs=1e-9)
    shifted = cf.Estimate("x", 3 + 4 * once.contributions).interval(0.95, cf.BettingBound(3.0, 7.0, 1.0))
    assert shifted == pytest.approx((3 + 4 * exact.low, 3 + 4 * exact.high))


def test_a_weight_or_a_reward_in_between_is_not_counted():
    weights, clicks = np.tile([0.0, 2.0], 100), np.repeat([1.0, 0.0], [20, 180])
    method = cf.BettingBound(0.0, 1.0, 2.0)
    plain = cf.Estimate("x", weights * clicks, weights=weights).interval(0.95, method)
    other_weight, other_reward = weights.copy(), clicks.copy()
    other_weight[-1], other_reward[-1] = 1.99, 0.01
    for some, given in ((other_weight, clicks), (weights, other_reward)):
        found = cf.Estimate("x", some * given, weights=some).interval(0.95, method)
        assert 1.05 * np.ptp(plain) < np.ptp(found) < 2 * np.ptp(plain)


def draw_rare(rng, rows=400):
    """Return IPS of one click in fifty, with weights up to 5 that are 1 on average and larger where clicks are."""
    kind = rng.choice(3, p=[0.5, 0.4, 0.1], size=rows)
    weights = np.array([0.2, 1.0, 5.0])[kind]
    clicked = rng.random(rows) < np.array([0.01, 0.02, 0.024])[kind]
    return cf.Estimate("x", weights * clicked, weights=weights)


RARE = 0.5 * 0.2 * 0.01 + 0.4 * 0.02 + 0.1 * 5 * 0.024


def draw_matched(rng, rows=300):
    """Return IPS of one click in twenty where the target takes one of five equally likely actions."""
    weights = 5.0 * (rng.random(rows) < 0.2)
    return cf.Estimate("x", weights * (rng.random(rows) < 0.05), weights=weights)


def count_failures(method, draw, truth, runs, level):
    """Return how often each end is on the wrong side."""
    ends = np.array([draw(np.random.default_rng([3, seed])).interval(level, method) for seed in range(runs)])
    return int((ends[:, 0] > truth).sum()), int((ends[:, 1] < truth).sum())


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("draw", "truth"), [(draw_rare, RARE), (draw_matched, 0.05)], ids=["rare", "matched"])
@pytest.mark.parametrize("level", [0.6, 0.95])
def test_each_end_fails_no_more_often_than_half_of_what_is_allowed_where_normal_does(draw, truth, level):
    runs = 1500
    for method in (cf.BettingBound(0.0, 1.0, 5.0), cf.BettingBound(0.0, 1.0)):
        for failed in count_failures(method, draw, truth, runs, level):
            assert binomtest(failed, runs, (1 - level) / 2, alternative="greater").pvalue > SURE
    wrong = sum(count_failures("normal", draw, truth, runs, 0.95))
    assert binomtest(wrong, runs, 0.05, alternative="greater").pvalue < SURE


@pytest.mark.slow
@pytest.mark.statistical
def test_weights_that_are_nearly_always_two_cannot_fool_the_count():
    """One row in 150 has another weight and all of the clicks: many logs of 100 rows do not show it."""
    runs, level = 3000, 0.8

    def draw(rng):
        kind = rng.choice(3, p=[0.5, 0.5 - 1 / 150, 1 / 150], size=100)
        weights = np.array([0.0, 2.0, 1.9])[kind] / (2 * (0.5 - 1 / 150) + 1.9 / 150)
        return cf.Estimate("x", weights * (kind == 2), weights=weights)

    truth = 1.9 / 150 / (2 * (0.5 - 1 / 150) + 1.9 / 150)
    largest = 2 / (2 * (0.5 - 1 / 150) + 1.9 / 150)
    for failed in count_failures(cf.BettingBound(0.0, 1.0, largest), draw, truth, runs, level):
        assert binomtest(failed, runs, (1 - level) / 2, alternative="greater").pvalue > SURE


def test_rare_rewards_have_a_near_upper_end_if_the_largest_weight_is_known():
    found = {}
    methods = {
        "known": cf.BettingBound(0.0, 1.0, 5.0),
        "unknown": cf.BettingBound(0.0, 1.0),
        "log": cf.LogBound(0.0, 1.0),
        "bernstein": cf.EmpiricalBernstein(0.0, 5.0),
    }
    for name, method in methods.items():
        drawn = (draw_rare(np.random.default_rng(seed), 4000) for seed in range(5))
        found[name] = np.mean([np.ptp(one.interval(0.95, method)) for one in drawn])
    assert found["known"] < 0.8 * found["bernstein"]
    assert found["known"] < 0.5 * min(found["log"], found["unknown"])


def test_evaluations_take_it_by_name_on_all_engines(save):
    data = reference.random_data(0, rows=300, binary=True)
    given = {"candidates": "ips", "progress": False}
    method = cf.BettingBound(0.0, 1.0, 100.0)
    named = cf.evaluate(log_of(data), data.target, interval="betting-bound:low=0:high=1:largest_weight=100", **given)
    assert named.interval == named.estimate.interval(0.95, method)
    low, high = named.uplift().interval()
    assert low < named.uplift().value < high
    large = cf.evaluate(save("log.parquet"), engine="local", interval=cf.BettingBound(-50.0, 50.0), **given)
    assert large.interval.low < large.value < large.interval.high


def test_unknown_weights_and_groups_of_unequal_sizes_leave_out_what_is_not_known():
    clicks = np.repeat([1.0, 0.0], [5, 195])
    known = cf.BettingBound(0.0, 1.0, 60.0)
    blind = cf.Estimate("x", clicks * WEIGHTS).interval(0.95, known)
    assert (blind.low > 0, blind.high) == (True, 1.0)
    uneven = cf.Estimate("x", clicks * WEIGHTS, np.arange(200) % 7, weights=WEIGHTS)
    assert uneven.interval(0.95, known) == uneven.interval(0.95, cf.BettingBound(0.0, 1.0))


def test_what_is_refused_is_one_sentence():
    with pytest.raises(cf.ParameterError, match=r"^`largest_weight` must be a number of at least 1, got 0\.5\.$"):
        cf.BettingBound(0.0, 1.0, 0.5)
    with pytest.raises(cf.ParameterError, match=r"^`largest_weight` must be a finite number, got inf\.$"):
        cf.BettingBound(0.0, 1.0, math.inf)
    with pytest.raises(cf.ParameterError, match=r"`high` must be a finite number above 1\.0, got 1\.0"):
        cf.BettingBound(1.0, 1.0)
    ips = cf.Estimate("x", np.array([0.0, 3.0]), weights=np.array([1.0, 3.0]))
    rule = r"^`weights` must be at most 2, the `largest_weight`, got 3\.0 in 1 of 2 rows, first at row 1"
    with pytest.raises(cf.DataError, match=rule):
        ips.interval(0.95, cf.BettingBound(0.0, 1.0, 2.0))
    with pytest.raises(cf.DataError, match=r"^`contributions` must be weights times rewards of at most 0\.5, got"):
        ips.interval(0.95, cf.BettingBound(0.0, 0.5, 3.0))
