"""Sums over units of segments: the jackknife of one segment, fewer units, and what rows elsewhere teach the model."""

import numpy as np
import pytest

import counterfold as cf
from counterfold.estimators.sums import Sums
from counterfold.evidence.segments.sums import Facts, SegmentSums, merge_units
from counterfold.log.partition import ByNumber
from counterfold.policies.given import as_target
from counterfold.selectors._model_pull import ModelPull

ESTIMATORS = [cf.SNIPS(), cf.TruncatedSNIPS(1.0)]
UNITS = 16


@pytest.fixture(scope="module")
def column():
    rng = np.random.default_rng(0)
    rows = 90
    log = cf.Log(
        context=rng.normal(size=(rows, 1)),
        action=rng.integers(2, size=rows),
        reward=rng.normal(size=rows),
        propensity=rng.uniform(0.2, 0.8, rows),
        actions=[0, 1],
    )
    seen = cf.Rows.of(log, as_target(np.tile([0.3, 0.7], (rows, 1)), log), None)
    codes, unit = np.arange(rows) % 3, rng.integers(12, size=rows)  # so that some units are empty
    sums = Sums.of(seen, ESTIMATORS, ByNumber(codes * UNITS + unit, 3 * UNITS))
    return SegmentSums(3, sums, Facts(*np.zeros((4, 3))))


def test_the_jackknife_of_a_segment_is_that_of_its_own_units_plus_pulls(column):
    pull = ModelPull(1.0)
    elsewhere = np.linspace(-1.0, 1.0, UNITS)
    units = column.of_segment(1, {pull: elsewhere})
    there = units.sizes > 0
    own = Sums(units.layout, units.sizes[there], units.weights[there], units.terms[:, there])
    values, moves = units.jackknife([ESTIMATORS[1], pull, ESTIMATORS[0]])
    expected_values, expected = own.jackknife([ESTIMATORS[1], ESTIMATORS[0]])
    assert 2 < there.sum() < UNITS
    assert values[[0, 2]] == pytest.approx(expected_values)
    np.testing.assert_allclose(moves[np.ix_([0, 2], there)], expected)
    assert not moves[np.ix_([0, 2], ~there)].any()
    np.testing.assert_array_equal(moves[1], elsewhere)


def test_fewer_units_hold_the_same_sums(column):
    fewer = column.coarsen(4)
    assert (fewer.units, column.units) == (4, UNITS)
    for place in range(3):
        before, after = (one.of_segment(place, {}) for one in (column, fewer))
        np.testing.assert_allclose(after.terms, merge_units(before.terms, 4))
        assert after.sizes.sum() == before.sizes.sum()
        values = [one.jackknife(ESTIMATORS)[0] for one in (before, after)]
        np.testing.assert_allclose(*values)
    np.testing.assert_allclose(fewer.unit_sizes, merge_units(column.unit_sizes, 4))
    assert column.coarsen(UNITS) is column
