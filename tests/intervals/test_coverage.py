"""How often intervals cover: each bound is a binomial test that a right interval passes with probability 1 - SURE."""

import numpy as np
import pytest
from scipy.stats import binomtest, norm

import counterfold as cf
from counterfold.base import registry

NAMES = registry.names("intervals")
SURE = 1e-6
"""How rarely a test of coverage may fail if the interval is right; seeds are fixed, so it does or does not for good."""


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


def heavy_rows(rng):
    """Return IPS with weights of infinite variance that are 1 on average; the truth is 0.3."""
    weights = (rng.pareto(1.3, size=300) + 1) * 0.3 / 1.3
    clicked = rng.random(300) < 0.3
    return cf.Estimate("x", weights * clicked, weights=weights)


@pytest.mark.statistical
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_log_bound_covers_weights_of_infinite_variance_with_no_largest_weight_known(level):
    runs = 1000
    hits = covered(cf.LogBound(0.0, 1.0), heavy_rows, 0.3, runs, level)
    assert binomtest(hits, runs, level, alternative="less").pvalue > SURE
    assert binomtest(covered("normal", heavy_rows, 0.3, runs), runs, 0.95, alternative="less").pvalue < SURE
    ends = np.array(
        [heavy_rows(np.random.default_rng(seed)).interval(level, cf.LogBound(0.0, 1.0)) for seed in range(50)]
    )
    assert ends[:, 0].mean() > 0.1
    assert ends[:, 1].mean() < 0.6


@pytest.mark.statistical
@pytest.mark.parametrize("side", [0, 1])
def test_each_end_of_log_bound_fails_no_more_often_than_half_of_what_is_allowed(side):
    runs, level = 1500, 0.6
    ends = [heavy_rows(np.random.default_rng([2, seed])).interval(level, cf.LogBound(0.0, 1.0)) for seed in range(runs)]
    failed = sum(end[0] > 0.3 if side == 0 else end[1] < 0.3 for end in ends)
    assert binomtest(failed, runs, (1 - level) / 2, alternative="greater").pvalue > SURE


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
