"""Every interval: ordered ends that hold the value, shifts, groups, ties, names, and what is refused."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import counterfold as cf
import reference
from contributions import VALUES, WEIGHTS, skewed
from counterfold.base import registry
from counterfold.intervals.base import Units
from problems import log_of

NAMES = registry.names("intervals")
BOUNDED = [cf.EmpiricalBernstein, cf.ConfidenceSequence]


@pytest.fixture(params=NAMES)
def kind(request):
    return registry.find("intervals", request.param)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weights"])
def test_ends_are_ordered_hold_the_value_and_widen_with_the_level(kind, weights):
    estimate = cf.Estimate("x", VALUES, weights=weights)
    found = [estimate.interval(level, kind()) for level in (0.01, 0.5, 0.8, 0.95, 0.99, 0.999)]
    for bounds in found:
        assert isinstance(bounds, cf.Bounds)
        assert all(type(end) is float for end in bounds)
        assert bounds.low <= estimate.value <= bounds.high
    lows, highs = np.transpose(found)
    assert (np.diff(lows) <= 1e-12).all()
    assert (np.diff(highs) >= -1e-12).all()
    assert lows[-1] < lows[0] <= estimate.value <= highs[0] < highs[-1]
    assert weights is not None or lows[1] < estimate.value < highs[1]


@pytest.mark.parametrize("groups", [None, np.arange(200) % 37], ids=["rows", "groups"])
def test_an_interval_shifts_and_scales_with_the_contributions(kind, groups):
    plain = cf.Estimate("x", VALUES, groups).interval(0.9, kind())
    moved = cf.Estimate("x", 3 + 10 * VALUES, groups).interval(0.9, kind())
    assert moved == pytest.approx([3 + 10 * end for end in plain], rel=1e-6)
    mirrored = cf.Estimate("x", -VALUES, groups).interval(0.9, kind())
    tolerance = 0.02 if kind is cf.Bootstrap else 1e-6  # another sample of replicates, in effect
    assert [-mirrored.high, -mirrored.low] == pytest.approx(plain, rel=tolerance)


@pytest.mark.parametrize("bounded", BOUNDED)
def test_a_known_range_shifts_and_scales_too(bounded):
    plain = cf.Estimate("x", VALUES).interval(0.9, bounded(0.0, 20.0))
    moved = cf.Estimate("x", 3 + 10 * VALUES).interval(0.9, bounded(3.0, 203.0))
    assert moved == pytest.approx([3 + 10 * end for end in plain])


def test_groups_of_equal_rows_are_one_observation(kind):
    groups = np.repeat(np.arange(200), 3)
    repeated = cf.Estimate("x", np.repeat(VALUES, 3), groups, weights=np.repeat(WEIGHTS, 3))
    once = cf.Estimate("x", VALUES, weights=WEIGHTS)
    assert repeated.interval(0.9, kind()) == pytest.approx(once.interval(0.9, kind()))
    unaware = replace(repeated, groups=None).interval(0.9, kind())
    assert unaware.high - unaware.low < 0.8 * np.ptp(once.interval(0.9, kind()))


def test_units_of_rows_are_like_groups(kind):
    groups = np.random.default_rng(1).integers(60, size=200)
    order = list(dict.fromkeys(groups.tolist()))
    sizes = np.array([np.count_nonzero(groups == one) for one in order], dtype=float)
    means = np.array([VALUES[groups == one].mean() for one in order])
    grouped, summed = cf.Estimate("x", VALUES, groups), cf.Estimate("x", means, sizes=sizes)
    assert summed.interval(0.9, kind()) == pytest.approx(grouped.interval(0.9, kind()))


def test_one_observation_of_a_group_against_naive_loop():
    groups = np.array([7, 2, 7, 5, 2, 7])
    values, weights = VALUES[:6], WEIGHTS[:6]
    units, mean = Units.of(values, groups, None, weights), sum(values) / 6
    for place, group in enumerate([7, 2, 5]):
        mine = [row for row in range(6) if groups[row] == group]
        assert units.values[place] == pytest.approx(mean + sum(values[row] - mean for row in mine) / 2)
        assert units.excess[0, place] == pytest.approx(sum(weights[row] - 1 for row in mine) / 2)
    assert (units.value, units.largest) == (pytest.approx(mean), 1.5)


def test_equal_contributions_are_a_point(kind):
    for value in (0.0, 0.1, -1e6 / 3):
        bounds = cf.Estimate("x", np.full(30, value)).interval(0.95, kind())
        assert bounds == pytest.approx((value, value))
        assert bounds.low <= bounds.high


@pytest.mark.parametrize("values", [[0.0, 1.0], [5.0, 5.0], [0.0, 0.0, 1e9], [1.0, 1.0, 2.0, 2.0], [0.0, 1e-9, 1.0]])
@pytest.mark.parametrize("level", [0.001, 0.95, 0.999999])
def test_few_rows_and_ties_work(kind, values, level):
    for weights in (None, np.linspace(0.1, 3.0, len(values)), np.full(len(values), 7.0)):
        estimate = cf.Estimate("x", np.array(values), weights=weights)
        bounds = estimate.interval(level, kind())
        assert np.isfinite(bounds).all()
        assert bounds.low <= estimate.value <= bounds.high


def test_differences_whose_squares_are_0_are_none(kind):
    bounds = cf.Estimate("x", 1e-200 * VALUES).interval(0.95, kind())
    assert np.isfinite(bounds).all()
    assert bounds.low <= 1e-200 * VALUES.mean() <= bounds.high


@pytest.mark.parametrize("seed", range(20))
def test_intervals_of_few_groups_hold_the_value_to_the_last_digit(kind, seed):
    values, weights = skewed(rows=30, seed=seed)
    for groups in (2, 3, 4):
        estimate = cf.Estimate("x", values, np.arange(30) % groups, weights=weights)
        low, high = estimate.interval(0.01, kind())
        assert low <= estimate.value <= high


def test_one_row_is_a_point(kind):
    assert cf.Estimate("x", np.array([2.0])).interval(0.95, kind()) == (2.0, 2.0)


def test_noise_that_contributions_do_not_show_stretches(kind):
    plain = cf.Estimate("x", VALUES)
    noisy = replace(plain, bias_variance=9 * plain.stderr**2)
    for end, stretched in zip(plain.interval(0.9, kind()), noisy.interval(0.9, kind()), strict=True):
        if kind is cf.SkewedT:  # skewness moves it no farther
            assert 1.5 < (stretched - plain.value) / (end - plain.value) < 5
        else:
            assert stretched - plain.value == pytest.approx(3 * (end - plain.value))
    assert replace(plain, bias_variance=plain.stderr**2 / 2).interval(0.9, kind()) == plain.interval(0.9, kind())
    constant = cf.Estimate("x", np.zeros(9), bias_variance=4.0).interval(0.9, kind())
    assert constant == pytest.approx(norm.interval(0.9, scale=2.0))
    rounded = cf.Estimate("x", 0.1 + 1e-17 * np.arange(9.0), np.arange(9) % 4, bias_variance=4.0)
    assert rounded.units.stderr > 0
    assert rounded.interval(0.9, kind()) == pytest.approx(norm.interval(0.9, 0.1, 2.0))


def test_differences_are_paired(kind):
    others, weights = skewed(seed=5)
    first, second = cf.Estimate("a", VALUES + 1, weights=WEIGHTS), cf.Estimate("b", VALUES, weights=weights)
    assert (first - second).interval(0.95, kind()) == pytest.approx((1.0, 1.0))
    apart = cf.Estimate("a", VALUES + 0.01 * others, weights=WEIGHTS) - second
    low, high = apart.interval(0.95, kind())
    assert high - low < 0.2 * np.ptp(second.interval(0.95, kind()))
    assert (first - replace(second, weights=None)).weights.shape == (1, 200)
    assert (first - replace(second, weights=WEIGHTS)).weights.shape == (1, 200)
    assert apart.weights.shape == (2, 200)


def test_a_known_range_is_that_of_each_of_two_estimates_which_differences_know():
    first, second = (
        cf.Estimate("x", values, method=cf.EmpiricalBernstein(0.0, 20.0)) for values in (VALUES, VALUES / 2)
    )
    assert (first - second).method == cf.EmpiricalBernstein(-20.0, 20.0)
    assert cf.ConfidenceSequence(0.0, 3.0).for_differences() == cf.ConfidenceSequence(-3.0, 3.0)
    assert cf.EmpiricalBernstein(low=0.0).for_differences() == cf.EmpiricalBernstein()
    assert cf.LogBound(0.0, 1.0).for_differences() == cf.LogBound()
    assert cf.StudentT(2.0).for_differences() == cf.StudentT(2.0)


@pytest.mark.parametrize(
    "method", [cf.EmpiricalBernstein(0.0, 50.0), cf.ConfidenceSequence(0.0, 50.0), cf.LogBound(0.0, 1.0)], ids=str
)
def test_evaluations_take_a_known_range(method):
    data = reference.random_data(0, rows=300, binary=True)
    result = cf.evaluate(log_of(data), data.target, "ips", interval=method, progress=False)
    assert result.interval == result.estimate.interval(0.95, method)
    low, high = result.uplift().interval()
    assert low < result.uplift().value < high


def test_kinds_are_values(kind):
    assert kind() == kind()
    assert hash(kind()) == hash(kind())
    assert pickle.loads(pickle.dumps(kind())) == kind()  # noqa: S301 (our own bytes)
    estimate = cf.Estimate("x", VALUES)
    name = next(name for name in NAMES if registry.find("intervals", name) is kind)
    assert estimate.interval(0.9, name) == estimate.interval(0.9, kind())


def test_the_default_is_normal_and_names_may_have_parameters():
    estimate = cf.Estimate("x", VALUES)
    assert estimate.interval() == estimate.interval(0.95, cf.Normal())
    named = estimate.interval(0.9, "empirical-bernstein:low=0:high=20")
    assert named == estimate.interval(0.9, cf.EmpiricalBernstein(0.0, 20.0))


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan, "0.9", True])
def test_bad_levels_are_refused(kind, level):
    with pytest.raises(cf.ParameterError, match=r"`level` must be in \(0, 1\), got"):
        cf.Estimate("x", VALUES).interval(level, kind())
    if kind is cf.ConfidenceSequence:
        with pytest.raises(cf.ParameterError, match=r"`level` must be in \(0, 1\), got"):
            kind().path(VALUES, level)


def test_bad_methods_are_refused():
    estimate = cf.Estimate("x", VALUES)
    with pytest.raises(cf.ParameterError, match=r"unknown interval `norml`. Did you mean `normal`\?"):
        estimate.interval(0.9, "norml")
    with pytest.raises(cf.ParameterError, match="`method` must be an interval or the name of one, got 3"):
        estimate.interval(0.9, 3)
    with pytest.raises(cf.ParameterError, match="`replicates` must be a whole number of at least 2, got 1"):
        cf.Bootstrap(replicates=1)
    with pytest.raises(cf.ParameterError, match="`seed` must be a whole number of at least 0, got -1"):
        cf.Bootstrap(seed=-1)


@pytest.mark.parametrize("bounded", BOUNDED)
def test_bad_ranges_are_refused(bounded):
    with pytest.raises(cf.ParameterError, match=r"`high` must be a finite number above 1\.0, got 1\.0"):
        bounded(1.0, 1.0)
    with pytest.raises(cf.ParameterError, match="`low` must be a finite number, got -inf"):
        bounded(low=-math.inf)
    with pytest.raises(
        cf.DataError, match=r"`contributions` must be in \[0, 1\], got 2.0 in 1 of 3 rows, first at row 1"
    ):
        cf.Estimate("x", np.array([0.0, 2.0, 1.0])).interval(0.9, bounded(0.0, 1.0))
