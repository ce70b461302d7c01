"""Intervals of all segments at once, and differences that are drawn together."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import counterfold as cf
from counterfold.estimators.estimates import Estimate, Moves
from counterfold.estimators.unseen_rewards import Chance, Unseen
from counterfold.evidence.segments.pooling import draw_together, pool_differences
from counterfold.evidence.segments.simultaneous import bound_together, find_segment_level, stretch
from counterfold.intervals.betting_bound import BettingBound
from counterfold.intervals.confidence_sequence import ConfidenceSequence
from counterfold.intervals.empirical_bernstein import EmpiricalBernstein
from counterfold.intervals.skewed_t import SkewedT
from reference.segments import pool


def test_the_joint_level_is_sidaks_where_segments_are_apart_and_lower_where_they_go_together():
    rng = np.random.default_rng(0)
    apart, together = rng.normal(size=(6, 4000)), np.tile(rng.normal(size=4000), (6, 1))
    sidak = pytest.approx(0.95 ** (1 / 6), abs=1e-3)
    assert find_segment_level(6, 0.95) == 0.95 ** (1 / 6)
    assert find_segment_level(6, 0.95, apart) == sidak
    assert find_segment_level(6, 0.95, together) == pytest.approx(0.95, abs=2e-3)


def test_intervals_are_stretched_as_normal_quantiles_say_and_end_where_values_do():
    rng = np.random.default_rng(3)
    several = [Estimate("gap", rng.normal(size=12) ** 3, method=SkewedT()) for _ in range(7)]
    times = norm.ppf((1 + 0.95 ** (1 / 7)) / 2) / norm.ppf(0.975)
    for one, (low, high) in zip(several, bound_together(several), strict=True):
        alone = one.interval()
        assert low == pytest.approx(one.value - times * (one.value - alone.low))
        assert high == pytest.approx(one.value + times * (alone.high - one.value))
    for one in several:
        raised = replace(one, unseen=Unseen(beyond=(0.0, 0.25)))
        (low, high), (plain_low, plain_high) = (stretch(each, times, 0.99) for each in (raised, one))
        assert (low, high) == (plain_low, pytest.approx(plain_high + 0.25))
    clicks = Unseen((Chance(100.0, 0.0, 1.0),), limits=(0.0, 1.0))
    low, high = bound_together([Estimate("clicks", np.zeros(50), unseen=clicks)] * 7)[0]
    assert (low, high) == (0.0, pytest.approx(1 - ((1 - 0.95 ** (1 / 7)) / 2) ** (1 / 100)))


@pytest.mark.parametrize("method", [EmpiricalBernstein(0, 1), BettingBound(0, 1), ConfidenceSequence(0, 1)])
def test_intervals_with_a_guarantee_are_found_at_the_higher_level(method):
    clicks = (np.random.default_rng(4).random((7, 200)) < 0.1).astype(float)
    several = [Estimate("clicks", one, weights=np.ones(200), method=method) for one in clicks]
    for one, found in zip(several, bound_together(several), strict=True):
        assert found == one.interval(0.95 ** (1 / 7))


@pytest.mark.slow
@pytest.mark.statistical
def test_segments_with_few_heavy_rewards_are_held_at_once():
    """All of 20 segments in 200 logs: 95 % would fail with a chance of 0.1 %, and 85 % pass with one of 2.5 %."""
    rng, held = np.random.default_rng(5), 0
    for _ in range(200):
        several = [Estimate("gap", rng.standard_t(4, size=100), method=SkewedT()) for _ in range(20)]
        held += all(low <= 0 <= high for low, high in bound_together(several))
    assert held >= 180


@pytest.mark.slow
@pytest.mark.statistical
def test_whole_evaluations_hold_all_segments_of_skewed_rewards():
    """Differences in 30 segments of 60 logs: 95 % would fail with a chance of 0.3 %, and 75 % pass with one of 1 %."""
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        action, place = rng.integers(2, size=6000), np.repeat(np.arange(30), 200)
        reward = np.where(action == 1, 1.3, 1.0) * np.exp(rng.normal(size=6000) - 0.5)
        context, by = rng.normal(size=(6000, 2)), {"place": place.astype(str)}
        log = cf.Log(context=context, action=action, reward=reward, propensity=np.full(6000, 0.5), by=by)
        lines = cf.evaluate(log, np.tile([0.1, 0.9], (6000, 1)), progress=False).segments
        held += all(one.difference_low <= 0.12 <= one.difference_high for one in lines)
    assert held >= 52


def test_pooling_against_a_plain_integral():
    rng = np.random.default_rng(1)
    errors = np.array([0.05, 0.1, 0.3, 0.02, 0.2])
    for spread in (0.0, 0.1, 1.0):
        values = 0.5 + spread * rng.normal(size=5) + errors * rng.normal(size=5)
        gaps = [
            Estimate("gap", np.full(2, v), moves=Moves("u", np.array([e]))) for v, e in zip(values, errors, strict=True)
        ]
        found = draw_together(gaps, Estimate("whole", np.full(2, 0.5)), 0.1)
        expected = pool(values, errors, 0.5, 0.1)
        for (value, error), (mean, wanted) in zip(found, expected, strict=True):
            assert value == pytest.approx(mean, abs=0.01 * max(spread, 0.1))
            assert error == pytest.approx(wanted, rel=0.02)


def make_gaps(values, error):
    return [Estimate("gap", np.full(2, value), moves=Moves("units", np.array([error]))) for value in values]


def test_a_difference_far_from_all_others_is_drawn_by_one_standard_error_at_most():
    values = np.array([0.0, 0.01, -0.02, 0.01, 0.02, -0.01, 0.0, -0.02, 0.01, 0.6])
    gaps, whole = make_gaps(values, 0.2), Estimate("whole", np.full(2, values.mean()))
    found = pool_differences(gaps, whole, 0.1)
    plain = draw_together(gaps, whole, 0.1)
    assert plain[-1][0] < 0.4  # without a limit it would lose more than a standard error
    assert found[-1].value == pytest.approx(0.4)
    for gap, one, (value, error) in zip(gaps, found, plain, strict=True):
        own = gap.interval(0.9)
        assert one.low == pytest.approx(min(own.low, value - norm.ppf(0.975) * error))
        assert one.high == pytest.approx(max(own.high, value + norm.ppf(0.975) * error))
        assert one.low < one.value < one.high


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("distance", [0.0, 2.0, 4.0, 8.0])
def test_pooled_intervals_cover_the_one_segment_that_differs(distance):
    """In 1,000 draws of 20 segments: 95 % would fail with a chance of 0.2 %, and 91 % pass with one of 2 %."""
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(1000):
        truths = np.zeros(20)
        truths[0] = distance
        gaps = make_gaps(truths + rng.normal(size=20), 1.0)
        whole = Estimate("whole", np.full(2, np.mean([one.value for one in gaps])))
        one = pool_differences(gaps, whole, 1.0)[0]
        covered += one.low <= distance <= one.high
    assert covered >= 929
