"""One small log for the tests of logs, readers and the command line; the command line; and how tests share cores."""

import os
import sys
from functools import partial

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small products gain nothing from more, and on busy cores they wait long

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import settings

from counterfold.cli import main
from pairs import MARK, leave_out_cases
from tables import FORMATS

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

ACTIONS = ["red", "green", "blue"]
FRAMES = {
    "pandas": lambda _, table: table.to_pandas(),
    "polars": lambda polars, table: polars.from_arrow(table),
    "pyarrow": lambda _, table: table,
    "builtins": lambda _, table: table.to_pydict(),
}


def pytest_configure(config):
    """Declare the mark of tests with many parameters."""
    config.addinivalue_line("markers", MARK)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave some cases of tests with many parameters to `make test-all`."""
    leave_out_cases(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep tests together that must not run at the same time."""
    from scheduling import InGroups

    return InGroups(config, log)


@pytest.fixture(scope="session")
def columns():
    """Return the columns of a log whose actions are not in alphabetical order, so that mixed-up columns show."""
    rng = np.random.default_rng(0)
    rows = np.arange(120)
    logging, target = (rng.dirichlet([4.0, 2.0, 3.0], size=len(rows)) for _ in range(2))
    code = (logging.cumsum(axis=1) > rng.random((len(rows), 1))).argmax(axis=1)
    x = rng.normal(size=(len(rows), 2))
    return {
        "age": x[:, 0],
        "height": x[:, 1],
        "action": np.array(ACTIONS)[code],
        "reward": x[:, 0] * (code == 1) + code + rng.normal(size=len(rows)),
        "logging_probs": logging,
        "target": target,
    }


@pytest.fixture(scope="session")
def actions():
    """Return the actions in the order of the columns' probabilities."""
    return ACTIONS


@pytest.fixture
def save(columns, actions, tmp_path):
    """Return a function that writes the log, with changed columns (None leaves one out), and returns its path."""
    code = np.array([actions.index(action) for action in columns["action"]])
    table = columns | {
        "action": code,
        "uniform": np.full((len(code), 3), 1 / 3),
        "pi": columns["target"][np.arange(len(code)), code],
        "q": np.tile([0.5, 1.0, 1.5], (len(code), 1)),
        "user": [f"user {row % 25}" for row in range(len(code))],
    }

    def write(name="log.parquet", **changes):
        kept = {name: column for name, column in (table | changes).items() if column is not None}
        lists = {name: c.tolist() if isinstance(c, np.ndarray) else c for name, c in kept.items()}
        pa.parquet.write_table(pa.table(lists), tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Return a function that runs a command in an empty folder and returns its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["counterfold", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        return (stopped.value.code or 0, *capsys.readouterr())

    return command


@pytest.fixture(params=["log.parquet", "log.csv", "log.jsonl", "log.arrow", *FRAMES])
def source(request, tmp_path):
    """Return a function that turns a table into a file or a frame."""
    if request.param in FRAMES:
        return partial(FRAMES[request.param], pytest.importorskip(request.param))

    def write(table):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}{request.param}"
        path.write_bytes(FORMATS[request.param](table))
        return path

    return write


@pytest.fixture
def save_table(tmp_path):
    """Write a table as Parquet, in several row groups."""

    def write_table(table, name="log.parquet", **settings):
        pa.parquet.write_table(table, tmp_path / name, **{"row_group_size": 700} | settings)
        return tmp_path / name

    return write_table


@pytest.fixture
def small_blocks(monkeypatch):
    """Make blocks so small that a few thousand rows have many."""
    monkeypatch.setattr("counterfold_lab.synthetic.generator.LARGEST_BLOCK", 512)
