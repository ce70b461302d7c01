"""A log with scores, as columns and as a file, and what a target makes of it."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from counterfold.io.schema.prepared import WholeRows
from counterfold.io.schema.resolution import learn_columns, resolve_columns
from counterfold.policies.from_tables import TargetReader
from scored_logs import LABELS, make_columns, make_table


@pytest.fixture(scope="session")
def columns():
    return make_columns()


@pytest.fixture
def log(columns):
    """Return the log in memory."""
    names = ("age", "height")
    context = pa.table({name: columns[name] for name in names})
    known = {name: columns[name] for name in ("action", "reward", "logging_probs")}
    return cf.Log(context=context, actions=LABELS, **known)


@pytest.fixture
def save(tmp_path):
    """Return a function that writes a table into a file of several row groups."""

    def write(table, name="log.parquet"):
        pa.parquet.write_table(table, tmp_path / name, row_group_size=150)
        return tmp_path / name

    return write


@pytest.fixture
def read():
    """Return a function that reads a target from a table as engines do, and returns all its probabilities."""

    def probabilities(table, target, **roles):
        reader = TargetReader.of(target, table)
        rows = WholeRows.prepare(cf.LogScan(table, **roles), table)
        schema = rows.run(learn_columns(rows, resolve_columns(rows.scan, table, reader.columns)))
        return reader.read(rows.read_log(schema), table).probs

    return probabilities


@pytest.fixture
def agree(columns, save):
    """Return a function that requires of a target what the matrix of its probabilities gives, by every engine."""

    def require(target, probs, table=None, **settings):
        table = make_table(columns) if table is None else table
        answer = {"candidates": ["ips", "dr"], "selector": "slope", "context": ["age", "height"], "progress": False}
        answer |= settings
        by_hand = [dict(zip(LABELS, row, strict=True)) for row in np.asarray(probs).tolist()]
        path = save(table.append_column("by_hand", pa.array(by_hand)))
        for engine in ("memory", "local"):
            mine, wanted = (cf.evaluate(path, one, engine=engine, **answer) for one in (target, "by_hand"))
            for left, right in zip(mine.table, wanted.table, strict=True):
                np.testing.assert_allclose([left.value, left.stderr], [right.value, right.stderr], rtol=1e-12)
            assert mine.diagnostics.effective_rows == pytest.approx(wanted.diagnostics.effective_rows, rel=1e-12)

    return require
