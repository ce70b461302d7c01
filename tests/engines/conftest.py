"""One synthetic log for the tests of engines, and the answers on it."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from large_logs import ROWS, both, made


@pytest.fixture(scope="session")
def table():
    """Return the log as a table."""
    return made(ROWS)


@pytest.fixture(scope="session")
def answers(table, tmp_path_factory):
    """Return the answers by both engines on a file with several row groups."""
    path = tmp_path_factory.mktemp("logs") / "log.parquet"
    pa.parquet.write_table(table, path, row_group_size=700)
    return both(path)
