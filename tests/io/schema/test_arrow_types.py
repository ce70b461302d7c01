"""Columns of Arrow's own types: identifiers, JSON and bytes as booleans are labels; intervals and unions are none."""

import json
import uuid

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf

ROWS = 120
CODES = np.arange(ROWS) % 2


def extend(kind, storage):
    """Return a column of an extension type."""
    return pa.ExtensionArray.from_storage(kind, storage)


def make_table(**columns):
    """Return a log of two actions with other columns in place of its own, or beside them."""
    base = {
        "action": np.array(["a", "b"])[CODES],
        "reward": np.random.default_rng(0).normal(size=ROWS) + CODES,
        "propensity": [0.5] * ROWS,
    }
    return pa.table({**base, **columns})


LABELS = {
    "uuid": lambda: extend(pa.uuid(), pa.array([uuid.UUID(int=int(code)).bytes for code in CODES], pa.binary(16))),
    "json": lambda: extend(pa.json_(), pa.array([json.dumps(f"x{code}") for code in CODES])),
    "bool8": lambda: extend(pa.bool8(), pa.array(CODES, pa.int8())),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_extension_types_give_the_answer_of_plain_ones(kind, tmp_path):
    path = tmp_path / "log.parquet"
    pyarrow.parquet.write_table(make_table(action=LABELS[kind]()), path)
    plain = cf.evaluate(make_table(), "uniform", engine="memory", progress=False)
    for engine in ("memory", "local"):
        found = cf.evaluate(path, "uniform", engine=engine, progress=False)
        assert found.value == pytest.approx(plain.value, rel=1e-9)
        assert len(found.contents.actions) == 2


ODD = {
    "intervals": lambda: pa.array([pa.MonthDayNano([1, row, 3]) for row in range(ROWS)]),
    "lists of intervals": lambda: pa.array([[pa.MonthDayNano([1, row, 3])] for row in range(ROWS)]),
    "a union": lambda: pa.UnionArray.from_sparse(pa.array(CODES, pa.int8()), [pa.array(CODES), pa.array(["q"] * ROWS)]),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_stream_with_odd_columns_that_nobody_needs(kind, engine):
    table = make_table(odd=ODD[kind]())
    plain = cf.evaluate(make_table(), "a", engine="memory", progress=False)
    found = cf.evaluate(table.to_reader, "a", engine=engine, progress=False)
    assert found.value == pytest.approx(plain.value, rel=1e-9)
    assert found.contents.left_out["odd"].startswith("it is of type")
    with pytest.raises(cf.DataError, match="`odd`"):
        cf.evaluate(table.to_reader, "a", engine=engine, context=["odd"], progress=False)
