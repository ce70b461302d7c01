"""Tables in every format and layout, for the tests of readers and of the command line."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet


def table_of(columns, **more):
    """Return a table with matrices as lists; None leaves a column out."""
    kept = {name: column for name, column in (columns | more).items() if column is not None}
    return pa.table({name: c.tolist() if isinstance(c, np.ndarray) else c for name, c in kept.items()})


def texts(table):
    """Return a table with lists and structs as JSON texts."""
    for place, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            column = pa.array([json.dumps(cell) for cell in table[field.name].to_pylist()])
            table = table.set_column(place, field.name, column)
    return table


def arrow(table, writer):
    sink = pa.BufferOutputStream()
    with writer(sink, table.schema) as out:
        out.write_table(table, max_chunksize=50)
    return sink.getvalue().to_pybytes()


def written(write, *arguments, **settings):
    sink = pa.BufferOutputStream()
    write(*arguments, sink, **settings)
    return sink.getvalue().to_pybytes()


def json_lines(table):
    return "".join(f"{json.dumps(row, default=str)}\n" for row in table.to_pylist()).encode()


def parquet(table):
    return written(pa.parquet.write_table, table, row_group_size=50)


def csv(table, delimiter=","):
    return written(pa.csv.write_csv, texts(table), write_options=pa.csv.WriteOptions(delimiter=delimiter))


FORMATS = {
    "log.parquet": parquet,
    "log.csv": csv,
    "log.csv.gz": lambda table: gzip.compress(csv(table)),
    "log.tsv": lambda table: csv(table, "\t"),
    "LOG.TSV": lambda table: csv(table, "\t"),
    "LOG.CSV.GZ": lambda table: gzip.compress(csv(table)),
    "log.jsonl": json_lines,
    "log.jsonl.gz": lambda table: gzip.compress(json_lines(table)),
    "log.arrow": lambda table: arrow(table, pa.ipc.new_file),
    "stream.arrow": lambda table: arrow(table, pa.ipc.new_stream),
    "log.arrows": lambda table: arrow(table, pa.ipc.new_stream),
    "log.feather": lambda table: written(pa.feather.write_feather, table),
}


def spread(separator):
    return lambda lists, actions: dict(zip([separator + a for a in actions], np.transpose(lists), strict=True))


def objects(lists, actions):
    return [dict(zip(actions, row, strict=True)) for row in lists]


def same(log, expected):
    """Require two logs to hold the same."""
    for name in ("action", "dose", "reward", "context", "drawn_probs", "action_features"):
        np.testing.assert_array_equal(getattr(log, name), getattr(expected, name), err_msg=name)
    np.testing.assert_allclose(log.propensity, expected.propensity, rtol=1e-15 if log.loggers is None else 1e-12)
    assert (log.actions, log.context_names) == (expected.actions, expected.context_names)
    assert (log.loggers is None) == (expected.loggers is None)
    if log.loggers is not None:
        rows = np.arange(len(log))
        by_label = [dict(zip(map(str, one.labels), one.probs, strict=True)) for one in (log.loggers, expected.loggers)]
        assert set(by_label[0]) == set(by_label[1])
        for label, probs in by_label[0].items():
            np.testing.assert_array_equal(probs, by_label[1][label])
        np.testing.assert_array_equal(log.loggers.probs[log.loggers.codes, rows], log.drawn_probs)
