"""One synthetic log for the tests of engines."""

import pytest

from large_logs import ROWS, made


@pytest.fixture(scope="session")
def table():
    return made(ROWS)
