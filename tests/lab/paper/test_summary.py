"""Summaries of the paper's runs: means, regrets, intervals, costs."""

import numpy as np
import pytest

from counterfold_lab.paper.figures import FIGURES
from counterfold_lab.paper.reproduction import measure_costs
from counterfold_lab.paper.results import (
    ALL,
    Line,
    read_published,
    sort_keys,
    squared_errors,
    summarise,
)
from counterfold_lab.results import percentile_interval, resample_means


def row(run, method, value, **more):
    where = {"dataset": "ecoli", "logging_beta": 1.0, "target_beta": 10.0, "size": 0, "run": run, "truth": 1.0}
    return where | {"family": "", "method": method, "chosen": "", "value": value} | more


def test_means_and_published_values():
    rows = [row(0, "IPS", 1.1), row(1, "IPS", 1.3), row(0, "new", 1.0), row(1, "new", 2.0)]
    ips, new = summarise(rows, FIGURES["figure1"], read_published("figure1"))
    assert (ips.method, ips.runs, ips.mean) == ("IPS", 2, pytest.approx(0.05))
    assert ips.published == pytest.approx(0.0147, rel=0.01)
    assert ips.overlaps
    assert (new.mean, new.published, new.overlaps) == (0.5, None, None)


def test_regret_is_the_error_beyond_the_best_single_candidate_of_the_run():
    rows = [row(0, "IPS", 1.1), row(0, "DM", 1.2), row(0, "OCV_DR", 1.2), row(1, "DM", 1.0), row(1, "OCV_DR", 1.5)]
    found = squared_errors(rows, FIGURES["figure7"])
    np.testing.assert_allclose(found, [0.0, 0.03, 0.03, 0.0, 0.25], atol=1e-12)


def test_all_datasets_come_last_where_families_are_compared():
    rows = [
        row(0, "OCV_DR", 1.1, family=family, dataset=name) for name in ("yeast", "ecoli") for family in ("CAB", "DRos")
    ]
    lines = summarise(rows, FIGURES["figure3"], {})
    assert [(line.dataset, line.family) for line in lines] == [
        (name, family) for name in ("yeast", "ecoli", ALL) for family in ("CAB", "DRos")
    ]
    assert [line.runs for line in lines] == [1, 1, 1, 1, 2, 2]
    assert sort_keys([("b", 2, "", "x"), ("a", 1, "", "x"), ("b", 1, "", "x")])[0] == ("b", 2, "", "x")


def test_intervals_cover_a_known_mean():
    """500 samples of 60; of so skewed a sample the bootstrap interval of 95 % covers 89 to 97 % of the time."""
    inside = 0
    for seed in range(500):
        low, high = percentile_interval(resample_means(np.random.default_rng(seed).exponential(size=60)))
        inside += low <= 1 <= high
    assert 0.89 <= inside / 500 <= 0.97


def test_overlap_is_that_of_intervals():
    def line(low, high):
        return Line("d", 0, "", "m", 1, 1.0, low, high, 2.0, 1.5, 2.5)

    assert line(0.0, 1.5).overlaps
    assert line(2.5, 3.0).overlaps
    assert not line(0.0, 1.49).overlaps
    assert not line(2.51, 3.0).overlaps


@pytest.mark.usefixtures("small")
def test_costs_are_ratios_to_ocv_ips():
    found = measure_costs(["ecoli"], 2, None, None, pasif=False, progress=None)
    assert [one.method for one in found] == ["OCV_IPS", "OCV_DR", "SLOPE"]
    assert found[0].ratio == 1.0
    assert all(one.seconds > 0 for one in found)
    assert found[1].published_ratio == pytest.approx(0.13 / 0.06)
