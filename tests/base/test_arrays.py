"""Operations on arrays against plain ones."""

import numpy as np
import pytest

from counterfold.base.arrays import bound_largest, group_rows
from counterfold.base.hashing import hash_rows


@pytest.mark.parametrize("rows", [0, 1, 5, 64, 320, 321, 5000])
def test_the_largest_values_reach_their_bound_and_few_others_do(rows):
    values = np.random.default_rng(rows).normal(size=rows)
    bound = bound_largest(values, 5)
    assert (np.sort(values)[-5:] >= bound).all()
    assert (values >= bound).sum() <= 5 * 64


@pytest.mark.parametrize("number", [7, (1 << 16) + 5], ids=["few codes", "many codes"])
def test_rows_of_a_code_keep_their_order(number):
    codes = np.random.default_rng(0).integers(7, size=500) + number - 7
    order, places = group_rows(codes, number)
    assert len(places) == number
    for code, place in enumerate(places):
        np.testing.assert_array_equal(order[place], np.flatnonzero(codes == code))


def test_hashes_do_not_depend_on_how_many_rows_are_hashed_together(monkeypatch):
    columns = [np.random.default_rng(0).normal(size=100), np.arange(100)]
    whole = hash_rows(columns)
    monkeypatch.setattr("counterfold.base.hashing.AT_ONCE", 7)
    np.testing.assert_array_equal(hash_rows(iter(columns)), whole)
    assert len(hash_rows([])) == 0
