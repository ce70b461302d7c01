"""One random log of the reference."""

import pytest

import reference


@pytest.fixture(scope="module")
def data():
    return reference.random_data(0, rows=300)
