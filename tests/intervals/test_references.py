"""Each interval against a naive loop, SciPy or theory, and what it does with weights."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binomtest, bootstrap, f, norm, t

import counterfold as cf
import reference
from contributions import VALUES, WEIGHTS, skewed
from counterfold.base import registry
from counterfold.estimators.unseen_rewards import Unseen
from problems import log_of

NAMES = registry.names("intervals")


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


def grown(surplus, scale, level):
    """Return the lower end of what is at least 0, by its formula."""
    chance, rows = math.log(2 / (1 - level)), len(surplus)
    stake = math.sqrt(2 * chance / rows) / scale
    mean = sum(math.log(1 + stake * one) for one in surplus) / rows
    return max((math.exp(mean - chance / rows) - 1) / stake, 0.0)


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-2.0, 3.0), (0.5, 1.5), (-4.0, 0.0)])
def test_log_bound_against_naive_loop(level, low, high):
    rewards = low + (high - low) * np.random.default_rng(1).random(200)
    known = cf.Estimate("x", WEIGHTS * rewards, weights=WEIGHTS).interval(level, cf.LogBound(low, high))
    below = grown([w * (r - low) for w, r in zip(WEIGHTS, rewards, strict=True)], high - low, level)
    above = grown([w * (high - r) for w, r in zip(WEIGHTS, rewards, strict=True)], high - low, level)
    value = (WEIGHTS * rewards).mean()
    assert known == pytest.approx((min(low + below, value), max(high - above, value)))
    unknown = cf.Estimate("x", WEIGHTS * rewards).interval(level, cf.LogBound(low, high))
    expected = low + below if low == 0 else low, high - above if high == 0 else high
    assert unknown == pytest.approx((min(expected[0], value), max(expected[1], value)))


def test_log_bound_without_a_range_takes_the_outermost_contributions():
    below, above = VALUES - VALUES.min(), VALUES.max() - VALUES
    ends = [grown(one, math.sqrt(sum(x * x for x in one) / 200), 0.9) for one in (below, above)]
    found = cf.Estimate("x", VALUES, weights=WEIGHTS).interval(0.9, cf.LogBound())
    assert found == pytest.approx((VALUES.min() + ends[0], VALUES.max() - ends[1]))
    assert cf.Estimate("x", VALUES).interval(0.9, cf.LogBound(low=0.0)).low > 0


def test_log_bound_of_no_click_at_all_and_of_one_row():
    weights = np.tile([0.2, 1.8], 50)
    low, high = cf.Estimate("x", np.zeros(100), weights=weights).interval(0.95, cf.LogBound(0.0, 1.0))
    assert low == 0
    assert 0.1 < high < 0.5
    one = cf.Estimate("x", np.array([0.3]), weights=np.ones(1)).interval(0.95, cf.LogBound(0.0, 1.0))
    assert one == (0.0, 1.0)


def test_log_bound_of_groups_of_unequal_sizes_and_of_rewards_that_lie_high():
    groups = np.repeat([0, 1, 2, 3], [1, 1, 4, 94])
    for reward in (0.0, 0.5, 1.0):
        estimate = cf.Estimate("x", WEIGHTS[:100] * reward, groups, weights=WEIGHTS[:100])
        low, high = estimate.interval(0.95, cf.LogBound(0.0, 1.0))
        assert low <= estimate.value <= high
        shifted = cf.Estimate("x", WEIGHTS[:100] * (5 + reward), groups, weights=WEIGHTS[:100])
        assert np.isfinite(shifted.interval(0.95, cf.LogBound(5.0, 6.0))).all()


def test_log_bound_refuses_what_is_not_weights_times_rewards_and_bad_ranges():
    for low, high, rule in ((1.0, 5.0, "least 1"), (-5.0, 0.1, "most 0.1")):
        with pytest.raises(
            cf.DataError, match=rf"^`contributions` must be weights times rewards of at {rule}, got 0.5 "
        ):
            cf.Estimate("x", np.full(9, 0.5), weights=np.ones(9)).interval(0.9, cf.LogBound(low, high))
    with pytest.raises(cf.ParameterError, match=r"`high` must be a finite number above 1\.0, got 1\.0"):
        cf.LogBound(1.0, 1.0)


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


def test_a_sequence_takes_rows_in_the_order_of_time_and_in_that_of_the_log_without_it():
    data, method = reference.random_data(0, rows=200, binary=True), cf.ConfidenceSequence(0.0, 100.0)
    time = np.random.default_rng(0).permutation(200)
    plain, timed = (cf.estimate(log_of(data, time=when), data.target, cf.IPS()) for when in (None, time))
    assert plain.order is None
    assert timed.order.tolist() == np.argsort(time).tolist()
    np.testing.assert_array_equal(timed.contributions, plain.contributions)
    ends = [method.path(values)[-1] for values in (plain.contributions, timed.contributions[timed.order])]
    for estimate, expected in zip((plain, timed), ends, strict=True):
        assert replace(estimate, unseen=Unseen()).interval(0.95, method) == pytest.approx(expected)
    assert ends[0].tolist() != ends[1].tolist()


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


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("known", [None, 1.0, -1.0])
def test_skewed_t_against_its_equation(level, known):
    """Both ends solve a quadratic equation in which the variance changes with the mean."""
    unseen = Unseen(slope=known)
    low, high = cf.Estimate("x", VALUES, unseen=unseen).interval(level, cf.SkewedT(1.5))
    wider = cf.Estimate("x", VALUES, unseen=unseen, bias_variance=4 * VALUES.var(ddof=1) / 200)
    mean, scale = VALUES.mean(), VALUES.std(ddof=1) / math.sqrt(200)
    quantile, reach = norm.ppf((1 + level) / 2), t.ppf((1 + level) / 2, max(1.0, freedom(VALUES) / 1.5)) * scale
    apart = [value - mean for value in VALUES]
    own = sum(d**3 for d in apart) / sum(d**2 for d in apart) / 200
    for times, (left, right) in ((1, (low, high)), (2, wider.interval(level, cf.SkewedT(1.5)))):
        slopes = own, own if known is None else known
        for end, slope in ((left, min(slopes)), (right, max(slopes))):
            assert (end - mean) ** 2 == pytest.approx((times * reach) ** 2 + quantile**2 * slope * (end - mean))
        assert left < mean < right


def test_skewed_t_is_nearly_wilsons_interval_for_rare_clicks():
    clicked = np.repeat([1.0, 0.0], [12, 4988])
    low, high = cf.Estimate("clicks", clicked).interval(0.95, cf.SkewedT(1.0))
    wilson = binomtest(12, 5000).proportion_ci(0.95, "wilson")
    assert (low, high) == pytest.approx((wilson.low, wilson.high), rel=0.15)
