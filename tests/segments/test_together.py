"""Intervals of all segments at once, and differences that are drawn together."""

import numpy as np
import pytest

from counterfold.estimates import Estimate, Moves
from counterfold.segments.pooling import pool_differences
from counterfold.segments.simultaneous import find_segment_level
from reference.segments import pool


def make_estimates(moves):
    return [Estimate("gap", np.zeros(2), moves=Moves("units", one)) for one in moves]


def test_the_joint_level_is_sidaks_where_segments_are_apart_and_lower_where_they_go_together():
    rng = np.random.default_rng(0)
    apart, together = rng.normal(size=(6, 4000)), np.tile(rng.normal(size=4000), (6, 1))
    sidak = pytest.approx(0.95 ** (1 / 6), abs=1e-3)
    assert find_segment_level(make_estimates(apart), 0.95, shares_units=False) == 0.95 ** (1 / 6)
    assert find_segment_level(make_estimates(apart), 0.95, shares_units=True) == sidak
    assert find_segment_level(make_estimates(together), 0.95, shares_units=True) == pytest.approx(0.95, abs=2e-3)


def test_pooling_against_a_plain_integral():
    rng = np.random.default_rng(1)
    errors = np.array([0.05, 0.1, 0.3, 0.02, 0.2])
    for spread in (0.0, 0.1, 1.0):
        values = 0.5 + spread * rng.normal(size=5) + errors * rng.normal(size=5)
        gaps = [
            Estimate("gap", np.full(2, v), moves=Moves("u", np.array([e]))) for v, e in zip(values, errors, strict=True)
        ]
        found = pool_differences(gaps, Estimate("whole", np.full(2, 0.5)), 0.1)
        expected = pool(values, errors, 0.5, 0.1)
        for (value, error), (mean, wanted) in zip(found, expected, strict=True):
            assert value == pytest.approx(mean, abs=0.01 * max(spread, 0.1))
            assert error == pytest.approx(wanted, rel=0.02)
