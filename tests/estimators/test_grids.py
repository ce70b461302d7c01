"""The grids of estimators: those of the paper, and what they span."""

from dataclasses import fields

import numpy as np
import pytest

import counterfold as cf
import reference
from counterfold.base import registry
from counterfold.evaluation.candidates import SETS
from problems import close, dose_rows, rows_of


def test_the_paper_s_candidates_are_those_of_the_paper():
    rows = rows_of(reference.random_data(6, rows=500))
    count = {name: len(registry.find("estimators", name).candidates(rows)) for name in SETS["paper"]}
    single = dict.fromkeys(["ips", "snips", "dm", "dr", "sndr"], 1)
    tuned = dict.fromkeys(["switch-dr", "cab", "dros", "drps", "ips-lambda"], 30)
    assert count == single | tuned | {"truncated-ips": 31, "group-ips": 5}


def test_grids_span_the_quantiles_of_the_positive_weights():
    data = reference.random_data(7, rows=500)
    data.target[:100] = np.eye(4)[(data.a[:100] + 1) % 4]
    rows = rows_of(data)
    low, high = np.quantile([w for w in data.weights() if w > 0], [0.05, 0.95])
    caps = [candidate.max_weight for candidate in cf.TruncatedIPS.candidates(rows)]
    close([caps[0], caps[29], caps[30]], [low, high, np.sqrt(500)])
    close(np.diff(np.log(caps[:30])), np.log(high / low) / 29)
    shrinkages = [candidate.shrinkage for candidate in cf.DRos.candidates(rows)]
    close([shrinkages[0], shrinkages[-1]], [0.01 * low**2, 100 * high**2])
    mixes = [candidate.mix for candidate in cf.IPSLambda.candidates(rows)]
    close([mixes[0], mixes[-1]], [1 / (1 + np.exp(10)), 1 / (1 + np.exp(-10))])


def test_grids_of_the_estimators_that_the_paper_does_not_tune():
    data = reference.random_data(7, rows=500)
    data.features = np.arange(8.0).reshape(4, 2)
    rows, doses = rows_of(data), dose_rows(reference.random_doses(7, rows=500))
    thumb = 2.34 * doses.dose.std() * 500**-0.2
    apart = np.sqrt(8)
    usual = np.abs(rows.weights * rows.rewards).mean()
    for kind, where, first, last, size in [
        (cf.ExponentialIPS, rows, 1.0, 0.0, 30),
        (cf.LogSmoothing, rows, 1e-3 / usual, 10 / usual, 30),
        (cf.ControlVariateIPS, rows, 1.0, 0.25, 4),
        (cf.MIPS, rows, 2, 1, 2),
        (cf.LearnedMIPS, rows, 2, 2, 1),
        (cf.OffCEM, rows, 2, 2, 1),
        (cf.PolicyConvolution, rows, apart / 3, 3 * apart, 20),
        (cf.KernelIPS, doses, thumb / 4, thumb * 2, 13),
        (cf.KernelDR, doses, thumb / 4, thumb * 2, 13),
    ]:
        grid = [getattr(candidate, fields(kind)[0].name) for candidate in kind.candidates(where)]
        assert (grid[0], grid[-1], len(grid)) == (pytest.approx(first), pytest.approx(last), size), kind.__name__


def test_numbers_of_clusters_are_powers_of_two_below_the_number_of_actions():
    for actions, expected in [(2, [1]), (3, [2]), (16, [8, 4, 2]), (17, [16, 8, 4, 2])]:
        rows = rows_of(reference.random_data(0, actions=actions))
        assert [candidate.clusters for candidate in cf.OffCEM.candidates(rows)] == expected


def test_tables_of_distances_are_features_like_any_other():
    data = reference.random_data(0, actions=5)
    data.features = 1 - np.eye(5)
    rows = rows_of(data)
    close(cf.OffCEM(5).contributions(rows), cf.DR().contributions(rows))
    assert np.isfinite(cf.OffCEM(2).contributions(rows)).all()


def test_dimensions_are_whole():
    for bad in (1.5, -1):
        with pytest.raises(
            cf.ParameterError, match="`dimensions` must be a whole number of at least 0, or infinity, got"
        ):
            cf.MIPS(bad)


def test_equal_weights_leave_one_value_in_a_grid():
    data = reference.random_data(8)
    data.target = data.logging
    close([candidate.threshold for candidate in cf.SwitchDR.candidates(rows_of(data))], [1.0])
