"""A session on one machine or a cluster, and a log with the local engine's answer."""

import pytest

import counterfold as cf
from cluster import cluster, session
from spark_logs import logged, saved

MANY = {"spark__sql__files__maxPartitionBytes": "64k", "spark__sql__files__openCostInBytes": "0"}
"""Settings by which small files have several partitions."""


@pytest.fixture(scope="session", params=["local", "cluster"])
def place(request):
    """Return a session, and the cluster it runs on, if any."""
    if request.param == "local":
        with session("local[2,4]", **MANY) as made:
            yield made, None
    else:
        with cluster() as machines, session(machines.url, **MANY) as made:
            yield made, machines


@pytest.fixture
def spark(place):
    """Return a session."""
    return place[0]


@pytest.fixture(scope="session")
def table():
    """Return the log as a table."""
    return logged()


@pytest.fixture(scope="session")
def path(table, tmp_path_factory):
    """Return the log as a Parquet file with several row groups, which Spark reads as several partitions."""
    return saved(table, tmp_path_factory.mktemp("logs") / "log.parquet")


@pytest.fixture(scope="session")
def expected(path):
    """Return the answer of the local engine."""
    return cf.evaluate(path, engine="local")
