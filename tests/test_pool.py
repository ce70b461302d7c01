"""Pool: the order of results, and errors."""

import pytest

import counterfold as cf


@pytest.mark.parametrize("threads", [1, 2, None])
def test_pool_keeps_the_order(threads):
    assert cf.Pool(threads).map(lambda number: number**2, range(50)) == [number**2 for number in range(50)]


def test_pool_passes_errors_on():
    with pytest.raises(ZeroDivisionError):
        cf.Pool(2).map(lambda number: 1 // number, [1, 0, 2])
