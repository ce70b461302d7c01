"""Estimate: the value, the error, the interval and differences of estimates."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import counterfold as cf
from counterfold.estimators.estimates import Exposure, Moves

VALUES = np.random.default_rng(0).gamma(2.0, size=50)


def test_value_and_error_are_those_of_a_mean():
    estimate = cf.Estimate("x", VALUES)
    assert estimate.value == pytest.approx(sum(VALUES) / 50)
    assert estimate.stderr == pytest.approx(VALUES.std(ddof=1) / math.sqrt(50))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_interval_against_theory(level):
    estimate = cf.Estimate("x", VALUES)
    expected = norm.interval(level, loc=estimate.value, scale=estimate.stderr)
    assert estimate.interval(level) == pytest.approx(expected)


def test_groups_against_naive_loop():
    groups = np.random.default_rng(1).integers(8, size=50)
    groups[groups == 3] = 4
    mean = VALUES.mean()
    totals = [sum(v - mean for v, g in zip(VALUES, groups, strict=True) if g == group) for group in set(groups)]
    expected = math.sqrt(len(totals) / (len(totals) - 1) * sum(total**2 for total in totals)) / 50
    assert cf.Estimate("x", VALUES, groups).stderr == pytest.approx(expected)


def test_groups_of_one_row_change_nothing():
    assert cf.Estimate("x", VALUES, np.arange(50)).stderr == pytest.approx(cf.Estimate("x", VALUES).stderr)


def test_differences_are_paired():
    difference = cf.Estimate("a", VALUES + 1) - cf.Estimate("b", VALUES)
    assert (difference.name, difference.value) == ("a - b", pytest.approx(1.0))
    assert difference.stderr == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(cf.DataError, match="estimates to compare must be of the same rows, got 50 and 49 rows"):
        _ = cf.Estimate("a", VALUES) - cf.Estimate("b", VALUES[1:])


def test_a_difference_is_paired_and_adds_what_errors_hide():
    rng = np.random.default_rng(0)
    shared, own = rng.normal(size=400), 0.1 * rng.normal(size=400)
    one, other = cf.Estimate("one", shared + own), cf.Estimate("other", shared)
    assert (one - other).stderr == pytest.approx(own.std(ddof=1) / 20)
    noisy = replace(one, moves=Moves("one way", np.array([one.stderr, 0.3])))
    fitted = replace(other, moves=Moves("another", np.array([other.stderr, 0.4])))
    assert noisy.stderr == pytest.approx(np.hypot(one.stderr, 0.3))
    assert (noisy - fitted).stderr == pytest.approx(np.hypot((one - other).stderr, 0.5))
    still = replace(one, moves=Moves("one way", np.array([one.stderr / 2])))
    assert (still - other).stderr == pytest.approx((one - other).stderr)


def test_moves_of_one_source_cancel():
    values = np.random.default_rng(0).normal(size=400)
    moved = np.array([0.3, -0.2, 0.1])
    one = cf.Estimate("one", values, moves=Moves("units", moved))
    other = replace(one, moves=Moves("units", 1.01 * moved))
    assert (one - one).stderr == 0.0
    assert (one - other).stderr == pytest.approx(np.linalg.norm(moved) / 100)


def test_biases_cancel_as_far_as_targets_weigh_the_same_rows():
    rng = np.random.default_rng(0)
    values, weights = np.zeros(400), rng.exponential(size=400)
    moves = Moves("units", np.zeros(3))

    def biased(exposure):
        return cf.Estimate("x", values, exposure=Exposure(exposure, 400), moves=moves, bias_variance=0.04)

    assert (biased(weights) - biased(weights.copy())).stderr == 0.0
    unlike = (biased(weights) - biased(rng.exponential(size=400))).stderr
    assert unlike == pytest.approx(0.2 * np.sqrt(2), rel=0.1)
    alike = (biased(weights) - biased(0.99 * weights + 0.01 * rng.exponential(size=400))).stderr
    assert 0 < alike < 0.01
    unbiased = cf.Estimate("x", values, exposure=Exposure(weights, 400), moves=moves)
    assert (biased(weights) - unbiased).stderr == pytest.approx(0.2)


def test_added_variance_is_added_whatever_shows_more():
    still = cf.Estimate("x", VALUES)
    for moved in (0.1, 1.0, 3.0):  # contributions show more, as much, or less than moves do
        plain = replace(still, moves=Moves("units", np.array([moved * still.stderr])), bias_variance=0.001)
        noisy = replace(plain, added_variance=0.04)
        other = replace(plain, contributions=VALUES[::-1])
        assert noisy.stderr**2 == pytest.approx(plain.stderr**2 + 0.04)
        assert noisy.hidden_variance == pytest.approx(plain.hidden_variance + 0.04)
        assert noisy.times(-2.0).stderr == pytest.approx(2 * noisy.stderr)
        for one in (other, replace(other, moves=Moves("other units", other.moves.values))):
            assert (noisy - one).stderr ** 2 == pytest.approx((plain - one).stderr ** 2 + 0.04)
            assert (one - noisy).stderr ** 2 == pytest.approx((one - plain).stderr ** 2 + 0.04)
        assert noisy.interval().low < plain.interval().low < plain.interval().high < noisy.interval().high


def test_added_variance_cancels_as_far_as_targets_weigh_the_same_rows():
    rng = np.random.default_rng(0)
    weights, others = rng.exponential(size=(2, 400))

    def add(exposure, variance):
        return cf.Estimate("x", np.zeros(400), exposure=Exposure(exposure, 400), added_variance=variance)

    assert (add(weights, 0.04) - add(weights.copy(), 0.04)).stderr == 0.0
    assert (add(weights, 0.04) - add(others, 0.01)).stderr == pytest.approx(np.sqrt(0.05), rel=0.1)
    assert (add(weights, 0.04) - add(others, 0.0)).stderr == pytest.approx(0.2)


METHODS = {"normal": cf.Normal(), "skewed-t": cf.SkewedT()}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shift", [-0.4, 0.0, 0.05, 0.2, 3.0])
def test_confidence_is_that_of_the_interval_that_ends_at_0(method, shift):
    rng = np.random.default_rng(0)
    noise = rng.exponential(size=300)
    estimate = cf.Estimate("gain", shift + noise - noise.mean(), method=METHODS[method])
    found = estimate.find_confidence()
    low, high = estimate.interval(0.95)
    assert (found > 0.975) == (low > 0)
    assert (found < 0.025) == (high < 0)
    if 0.001 < found < 0.999 and abs(found - 0.5) > 1e-3:
        ends = estimate.interval(1 - 2 * min(found, 1 - found))
        assert min(abs(end) for end in ends) == pytest.approx(0, abs=2e-4)
    if method == "normal" and abs(shift) < 0.3:
        assert found == pytest.approx(norm.cdf(shift / estimate.stderr), abs=1e-4)
