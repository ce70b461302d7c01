"""One log, and the answers on it from a file, which every source must give."""

import pyarrow.parquet as pq
import pytest

from large_logs import ROWS, answer, made
from servers import run_postgres, run_s3


@pytest.fixture(scope="session")
def table():
    return made(ROWS)


@pytest.fixture(scope="session")
def path(table, tmp_path_factory):
    place = tmp_path_factory.mktemp("logs") / "log.parquet"
    pq.write_table(table, place, row_group_size=700)
    return place


@pytest.fixture(scope="session")
def expected(path):
    return {engine: answer(engine, path) for engine in ("memory", "local")}


@pytest.fixture(params=["few", "many"])
def size(request, monkeypatch):
    """Make the log one that is kept by the first look, or one that is asked for again in every pass."""
    if request.param == "many":
        monkeypatch.setattr("counterfold.base.capacity.LARGE", 1000)
    return request.param


@pytest.fixture
def many(monkeypatch):
    """Make every log one that is asked for again in every pass."""
    monkeypatch.setattr("counterfold.base.capacity.LARGE", 1000)


@pytest.fixture(scope="session")
def postgres():
    with run_postgres() as uri:
        yield uri


@pytest.fixture(scope="session")
def s3():
    with run_s3() as found:
        yield found
