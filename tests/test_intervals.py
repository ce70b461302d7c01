"""Intervals: a contract for all of them, each against a naive loop, and how often they cover."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binomtest, bootstrap, f, norm, t

import counterfold as cf
import reference
from counterfold import registry
from counterfold.intervals.base import Units
from problems import log_of

NAMES = registry.names("intervals")
BOUNDED = [cf.EmpiricalBernstein, cf.ConfidenceSequence]
SURE = 1e-6
"""How rarely a test of coverage may fail if the interval is right; seeds are fixed, so it does or does not for good."""


def skewed(rows=200, seed=0):
    """Return contributions like those of IPS, and their weights, which are 1 on average."""
    rng = np.random.default_rng(seed)
    weights = rng.gamma(0.5, 2.0, size=rows)
    return weights * (rng.random(rows) < 0.4), weights


VALUES, WEIGHTS = skewed()


@pytest.fixture(params=NAMES)
def kind(request):
    return registry.find("intervals", request.param)


# the contract


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
    noisy = replace(plain, refit_stderr=3 * plain.stderr)
    for end, stretched in zip(plain.interval(0.9, kind()), noisy.interval(0.9, kind()), strict=True):
        assert stretched - plain.value == pytest.approx(3 * (end - plain.value))
    assert replace(plain, refit_stderr=plain.stderr / 2).interval(0.9, kind()) == plain.interval(0.9, kind())
    constant = cf.Estimate("x", np.zeros(9), refit_stderr=2.0).interval(0.9, kind())
    assert constant == pytest.approx(norm.interval(0.9, scale=2.0))
    rounded = cf.Estimate("x", 0.1 + 1e-17 * np.arange(9.0), np.arange(9) % 4, refit_stderr=2.0)
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


# each against a naive reference


def freedom(values):
    """Return the degrees of freedom by a kurtosis."""
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values) ** 2 / sum((v - mean) ** 4 for v in values)


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("doubt", [1.0, 2.0])
def test_student_t_against_scipy(level, doubt):
    degrees, scale = max(1.0, freedom(VALUES) / doubt), VALUES.std(ddof=1) / math.sqrt(200)
    expected = t.interval(level, degrees, loc=VALUES.mean(), scale=scale)
    assert cf.Estimate("x", VALUES).interval(level, cf.StudentT(doubt)) == pytest.approx(expected)
    with pytest.raises(cf.ParameterError, match=r"`doubt` must be "):
        cf.StudentT(doubt - 1.5)


def test_student_t_has_a_third_of_the_rows_for_normal_ones_and_one_for_a_single_large_one():
    normal = np.random.default_rng(0).normal(size=100_000)
    single = np.append(np.zeros(10_000), 1.0)
    for values, degrees in ((normal, 100_000 / 3), (single, 1.0)):
        low, high = cf.Estimate("x", values).interval(0.999, "student-t")
        reach = t.interval(0.999, degrees)[1] * values.std(ddof=1) / math.sqrt(len(values))
        assert (high - low) / 2 == pytest.approx(reach, rel=1e-3 if degrees > 1 else 0.01)


def likeliest(values, level, excess=None):
    """Return the ends of empirical likelihood by minimising and maximising the mean over all chances of the rows."""
    rows = len(values)
    equal = [{"type": "eq", "fun": lambda p: p.sum() - 1}]
    if excess is not None:
        equal += [{"type": "eq", "fun": lambda p: p @ excess}]

    def surprise(p):
        return -2 * np.log(rows * np.maximum(p, 1e-12)).sum()

    def solved(loss, constraints, start):
        found = minimize(
            loss, start, constraints=constraints, bounds=[(1e-9, 1)] * rows, options={"ftol": 1e-13, "maxiter": 300}
        )
        return found.x

    best = solved(surprise, equal, np.full(rows, 1 / rows))
    limit = f.ppf(level, 1, freedom(values)) + surprise(best)
    within = [*equal, {"type": "ineq", "fun": lambda p: limit - surprise(p)}]
    return [solved(lambda p, sign=sign: sign * p @ values, within, best) @ values for sign in (1, -1)]


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("known", [False, True], ids=["plain", "weights"])
@pytest.mark.parametrize("seed", [2, 3])
def test_empirical_likelihood_against_brute_force(level, known, seed):
    values, weights = skewed(rows=9, seed=seed)
    low, high = likeliest(values, level, weights - 1 if known else None)
    found = cf.Estimate("x", values, weights=weights if known else None).interval(level, "empirical-likelihood")
    expected = min(low, values.mean()), max(high, values.mean())
    assert found == pytest.approx(expected, abs=2e-4 * np.ptp(values))


def test_empirical_likelihood_stays_in_the_range_and_leans_to_the_long_tail():
    estimate = cf.Estimate("x", VALUES)
    for level in (0.5, 0.95, 0.999999):
        low, high = estimate.interval(level, "empirical-likelihood")
        assert VALUES.min() <= low < estimate.value < high <= VALUES.max()
        assert high - estimate.value > estimate.value - low


def test_weights_narrow_empirical_likelihood_where_they_explain_contributions():
    weights = WEIGHTS - WEIGHTS.mean() + 1
    known = cf.Estimate("x", 2 * weights + 0.01 * VALUES, weights=weights)
    plain = replace(known, weights=None)
    assert np.ptp(known.interval(0.95, "empirical-likelihood")) < 0.05 * np.ptp(plain.interval(0.95, "student-t"))
    for method in set(NAMES) - {"empirical-likelihood"}:
        assert known.interval(0.95, method) == plain.interval(0.95, method)


def test_an_interval_that_weights_move_away_still_holds_the_value():
    estimate = cf.Estimate("x", 2 * WEIGHTS + 0.01 * VALUES, weights=WEIGHTS)
    low, high = estimate.interval(0.95, "empirical-likelihood")
    assert WEIGHTS.mean() > 1.01
    assert low < 2.01 < high == estimate.value


def test_incredible_weights_are_not_used():
    plain = cf.Estimate("x", VALUES)
    for factor in (0.3, 3.0, 1000.0):
        wrong = replace(plain, weights=factor * WEIGHTS)
        assert wrong.interval(0.95, "empirical-likelihood") == plain.interval(0.95, "empirical-likelihood")


@pytest.mark.parametrize("seed", range(40))
def test_weights_that_alone_say_how_likely_each_unit_is_are_not_used(seed):
    rng = np.random.default_rng(seed)
    values, weights = rng.normal(size=(1, 3))[0], 1 + 0.1 * rng.normal(size=(2, 3))
    for lines, units in ((1, 2), (2, 3)):
        plain = cf.Estimate("x", values[:units])
        known = replace(plain, weights=weights[:lines, :units])
        assert known.interval(0.95, "empirical-likelihood") == plain.interval(0.95, "empirical-likelihood")


def test_empirical_bernstein_against_theory():
    mean, variance, chance = VALUES.mean(), VALUES.var(ddof=1), math.log(2 / 0.025)
    reach = math.sqrt(2 * variance * chance / 200) + 7 * 20.0 * chance / (3 * 199)
    found = cf.Estimate("x", VALUES).interval(0.95, cf.EmpiricalBernstein(0.0, 20.0))
    assert found == pytest.approx((max(0.0, mean - reach), mean + reach))
    one = cf.Estimate("x", np.array([0.3])).interval(0.95, cf.EmpiricalBernstein(0.0, 1.0))
    assert one == pytest.approx((0.0, 1.0))


def test_a_group_may_be_as_far_out_as_it_is_large():
    groups = np.repeat([0, 1, 2], [1, 1, 4])
    clicks = cf.Estimate("x", np.array([0.0, 0.0, 1.0, 1.0, 1.0, 1.0]), groups)
    low, high = clicks.interval(0.95, cf.EmpiricalBernstein(0.0, 1.0))
    value = 4 / 6
    assert (low, high) == pytest.approx((value - 2 * value, value + 2 * (1 - value)))


@pytest.mark.parametrize("rows", [40, 3000])
def test_bootstrap_against_scipy(rows):
    values, _ = skewed(rows)
    theirs = bootstrap((values,), np.mean, confidence_level=0.9, n_resamples=9999, method="BCa", rng=1, batch=500)
    ours = cf.Estimate("x", values).interval(0.9, cf.Bootstrap(replicates=9999))
    error = values.std() / math.sqrt(rows)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), abs=0.3 * error)  # 5 errors of such a difference
    again = cf.Estimate("x", values).interval(0.9, cf.Bootstrap(replicates=9999, seed=1))
    assert 0 < abs(again.low - ours.low) < 0.3 * error


@pytest.mark.parametrize("seed", range(20))
def test_bootstrap_counts_equal_means_as_half_below_whatever_the_rounding(seed):
    pair = np.random.default_rng(seed).normal(size=2)
    assert cf.Estimate("x", pair).interval(0.95, "bootstrap") == pytest.approx((pair.min(), pair.max()))


def test_bootstrap_takes_many_rows():
    values, _ = skewed(1_000_000)
    estimate = cf.Estimate("x", values)
    assert estimate.interval(0.95, "bootstrap") == pytest.approx(estimate.interval(0.95), abs=0.35 * estimate.stderr)


def sequence(values, low, high, level):
    """Return the ends after every row, one row at a time."""
    alpha, total, weighted, noise = 1 - level, 0.0, 0.0, 0.0
    mean, variance, seen, squares = 0.5, 0.25, 0.5, 0.25
    lowest, highest, path = 0.0, 1.0, []
    for step, value in enumerate(values, start=1):
        x = (value - low) / (high - low)
        stake = min(math.sqrt(2 * math.log(2 / alpha) / (variance * step * math.log(1 + step))), 0.5)
        total, weighted = total + stake, weighted + stake * x
        noise += 4 * (x - mean) ** 2 * (-math.log(1 - stake) - stake) / 4
        reach = (math.log(2 / alpha) + noise) / total
        lowest, highest = max(lowest, weighted / total - reach), min(highest, weighted / total + reach)
        path.append((low + (high - low) * lowest, low + (high - low) * highest))
        seen += x
        mean = seen / (step + 1)
        squares += (x - mean) ** 2
        variance = squares / (step + 1)
    return np.array(path)


def test_confidence_sequence_against_naive_loop():
    values = np.random.default_rng(0).beta(0.3, 1.0, size=700) * 5 - 1
    method = cf.ConfidenceSequence(-1.0, 4.0)
    path = method.path(values, 0.9)
    assert path == pytest.approx(sequence(values, -1.0, 4.0, 0.9))
    assert (np.diff(path[:, 0]) >= 0).all()
    assert (np.diff(path[:, 1]) <= 0).all()
    last = cf.Estimate("x", values).interval(0.9, method)
    assert last == pytest.approx(path[-1])
    assert method.path(values[:300], 0.9) == pytest.approx(path[:300])


def test_a_sequence_whose_mean_moves_keeps_what_was_left_last():
    path = cf.ConfidenceSequence(0.0, 1.0).path(np.repeat([0.0, 1.0], 5000))
    assert (path[:, 0] <= path[:, 1]).all()
    assert path[-1, 1] < 0.1


def test_a_sequence_takes_groups_in_the_order_of_time():
    values = np.sort(VALUES)
    forwards, backwards = np.arange(200), np.arange(200)[::-1].copy()
    plain = cf.Estimate("x", values).interval(0.9, "confidence-sequence")
    for groups in (forwards, backwards):
        assert cf.Estimate("x", values, groups).interval(0.9, "confidence-sequence") == pytest.approx(plain)


# weights of estimates


def test_estimates_know_their_weights_where_support_is_full(save):
    data = reference.random_data(0, rows=300)
    log = log_of(data)
    weights = np.array(data.weights())
    assert cf.estimate(log, data.target, cf.DR()).weights == pytest.approx(weights)
    assert cf.evaluate(log, data.target, [cf.DR()]).estimate.weights == pytest.approx(weights)
    alone = data.target[np.arange(300), data.a]
    assert cf.estimate(log, alone, cf.IPS()).weights is None
    data.logging[0] = [0.5, 0.5, 0.0, 0.0]
    data.a[0] = 0
    assert cf.estimate(log_of(data), data.target, cf.IPS()).weights is None
    large = cf.evaluate(save("log.parquet"), engine="local", progress=False).estimate
    assert large.weights.mean() == pytest.approx(cf.evaluate(save("log.parquet")).estimate.weights.mean())


# coverage: each bound is a binomial test that a right interval passes with probability 1 - SURE


def covered(method, draw, truth, runs, level=0.95):
    """Return in how many runs the interval covers."""
    found = (draw(np.random.default_rng([1, seed])) for seed in range(runs))
    return sum(low <= truth <= high for low, high in (one.interval(level, method) for one in found))


def normal_rows(rng):
    return cf.Estimate("x", rng.normal(3.0, 2.0, size=100))


def skewed_rows(rng):
    weights = rng.gamma(0.05, 20.0, size=150)
    return cf.Estimate("x", weights * (rng.random(150) < 0.5), weights=weights)


def clicks(rng):
    return cf.Estimate("x", (rng.random(60) < 0.03) * 1.0)


@pytest.mark.statistical
@pytest.mark.parametrize("name", NAMES)
def test_coverage_of_normal_rows(name):
    runs = 1500 if name != "bootstrap" else 400
    hits = covered(registry.find("intervals", name)(), normal_rows, 3.0, runs)
    low, high = (0.94, 0.97) if name in {"normal", "student-t", "empirical-likelihood", "bootstrap"} else (0.95, 1.0)
    assert binomtest(hits, runs, low, alternative="less").pvalue > SURE
    assert high == 1.0 or binomtest(hits, runs, high, alternative="greater").pvalue > SURE


@pytest.mark.statistical
def test_coverage_of_rows_with_few_large_weights():
    runs = 600
    hits = {name: covered(name, skewed_rows, 0.5, runs) for name in ("normal", "student-t", "empirical-likelihood")}
    assert binomtest(hits["normal"], runs, 0.95, alternative="less").pvalue < SURE
    assert hits["empirical-likelihood"] > hits["normal"]
    assert hits["student-t"] > hits["normal"]
    assert binomtest(hits["empirical-likelihood"], runs, 0.95, alternative="less").pvalue > SURE


@pytest.mark.statistical
def test_empirical_bernstein_covers_where_normal_does_not():
    runs = 1000
    assert binomtest(covered("normal", clicks, 0.03, runs), runs, 0.95, alternative="less").pvalue < SURE
    hits = covered(cf.EmpiricalBernstein(0.0, 1.0), clicks, 0.03, runs)
    assert binomtest(hits, runs, 0.95, alternative="less").pvalue > SURE


@pytest.mark.statistical
def test_a_sequence_covers_at_all_times_at_once_and_a_normal_interval_does_not():
    runs, rows, level = 1000, 1000, 0.8
    always = peeked = 0
    for seed in range(runs):
        values = (np.random.default_rng(seed).random(rows) < 0.2) * 1.0
        path = cf.ConfidenceSequence(0.0, 1.0).path(values, level)
        always += bool(((path[:, 0] <= 0.2) & (path[:, 1] >= 0.2)).all())
        means = values.cumsum() / np.arange(1, rows + 1)
        reach = norm.interval(level)[1] * np.sqrt(means * (1 - means) / np.arange(1, rows + 1))
        peeked += bool((abs(means - 0.2) <= reach)[50:].all())
    assert binomtest(always, runs, level, alternative="less").pvalue > SURE
    assert binomtest(peeked, runs, level, alternative="less").pvalue < SURE
    assert path[-1, 1] - path[-1, 0] < 0.15
