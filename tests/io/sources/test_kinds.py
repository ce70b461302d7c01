"""Every kind of source gives the answer of a file, in memory and a few rows at a time."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import counterfold as cf
from counterfold.base import registry
from counterfold.io.sources import list_kinds, open_source
from counterfold.io.sources.frame import Frame
from large_logs import answer
from same_answers import require_same


class Own:
    """Anything with the Arrow stream protocol."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.to_reader(250).__arrow_c_stream__(requested_schema)


def split(table, path):
    """Write a folder of three files."""
    folder = path.parent / "split"
    folder.mkdir(exist_ok=True)
    for number in range(3):
        pq.write_table(table.slice(number * 1000, 1000), folder / f"part-{number}.parquet")
    return folder


def relation(path):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    return connection.sql(f"from '{path}'")


def delta(table, path):
    deltalake = pytest.importorskip("deltalake")
    place = path.parent / "delta"
    if not place.exists():
        deltalake.write_deltalake(str(place), table)
    return deltalake.DeltaTable(str(place)).to_pyarrow_dataset()


SOURCES = {
    "pattern": lambda table, path: f"{split(table, path)}/part-*.parquet",
    "pandas": lambda table, _: table.to_pandas(),
    "polars": lambda table, _: pl.from_arrow(table),
    "lazy frame": lambda _, path: pl.scan_parquet(path),
    "pyarrow": lambda table, _: table,
    "mapping": lambda table, _: table.to_pydict(),
    "rows": lambda table, _: table.to_pylist(),
    "data set": lambda table, path: ds.dataset(split(table, path)),
    "data set in memory": lambda table, _: ds.dataset(table),
    "function": lambda table, _: lambda: table.to_reader(100),
    "function of a table": lambda table, _: lambda: table,
    "stream": lambda table, _: Own(table),
    "relation": lambda _, path: relation(path),
    "delta": delta,
}


@pytest.mark.pairs
@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_answer_of_a_file(kind, engine, table, path, expected):
    require_same(answer(engine, SOURCES[kind](table, path)), expected[engine])


@pytest.mark.parametrize("kind", SOURCES)
def test_a_source_is_of_one_kind(kind, table, path):
    source = SOURCES[kind](table, path)
    assert sum(one.takes(source) for one in (*list_kinds(), Frame)) == 1


def test_every_file_is_a_kind():
    assert len(list_kinds()) == len(registry.names("sources")) - 1


def test_few_rows_are_asked_for_once(table):
    asked = []

    def rows():
        asked.append(1)
        return table.to_reader()

    scan = cf.LogScan(rows, ignore=["target_2"])
    for engine in ("memory", "local", "auto"):
        cf.evaluate(scan, engine=engine)
    assert len(asked) == 1


def test_the_size_decides_on_the_engine(table, monkeypatch):
    def choose(source):
        from counterfold.base.threads import Pool
        from counterfold.engines import choose_engine

        return type(choose_engine(cf.LogScan(source), "auto", Pool(1))).__name__

    assert choose(table.to_reader) == "Memory"
    monkeypatch.setattr("counterfold.base.capacity.LARGE", 1000)
    assert choose(table.to_reader) == "Local"
    assert choose(table) == "Memory"  # it is there already
    monkeypatch.setattr("counterfold.base.capacity.find_memory", lambda: 10000)
    assert choose(table) == "Local"


@pytest.mark.usefixtures("many")
def test_a_giant_stream_is_not_kept():
    block = pa.table({"action": [0, 1] * 500, "reward": [0.0, 1.0] * 500, "propensity": [0.5] * 1000})

    def rows():
        return pa.RecordBatchReader.from_batches(block.schema, (block.to_batches()[0] for _ in range(2000)))

    opened = open_source(rows)
    assert (opened.rows, opened.look.content) == (2_000_000, None)
    assert pa.total_allocated_bytes() < 100e6


def test_a_reader_is_read_once_if_its_rows_fit(table, expected, monkeypatch):
    require_same(answer("memory", table.to_reader(100)), expected["memory"])
    monkeypatch.setattr("counterfold.base.capacity.LARGE", 1000)
    with pytest.raises(cf.DataError, match="the RecordBatchReader can be read only once and does not fit into memory"):
        answer("local", table.to_reader(100))


def test_a_generator_is_refused(table):
    with pytest.raises(cf.DataError, match=r"got generator: .* give the function that makes it"):
        cf.read_log(batch for batch in table.to_batches())


def shuffled(table):
    rng = np.random.default_rng(0)
    return lambda: table.take(rng.permutation(len(table))).to_reader(500)


def growing(table):
    lengths = iter(range(2000, 3000, 100))
    return lambda: table.slice(0, next(lengths)).to_reader(500)


def changed(table, name, value):
    """Return a function that returns another value in one row from the second time on."""
    calls = iter(range(100))

    def rows():
        column = table.column(name).to_pylist()
        column[7] = value if next(calls) else column[7]
        return table.set_column(table.column_names.index(name), name, pa.array(column, table.column(name).type))

    return rows


def named(table):
    """Return a table whose actions are texts."""
    names = pa.array([f"action {code}" for code in table.column("action").to_pylist()])
    return table.set_column(table.column_names.index("action"), "action", names)


CHANGES = {
    "order": shuffled,
    "number": growing,
    "a number": lambda table: changed(table, "reward", 0.123),
    "an action": lambda table: changed(table, "action", 3 - table.column("action")[7].as_py()),
    "an element": lambda table: changed(table, "target", [0.25] * 4),
    "a text": lambda table: changed(named(table), "action", "action x"),
    "a missing value": lambda table: changed(table, "x0", None),
}


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.usefixtures("many")
def test_other_rows_the_second_time_are_refused(kind, engine, table):
    sentence = "the function `.*` must return the same rows every time, got .*; make it .*order by"
    with pytest.raises(cf.DataError, match=sentence):
        answer(engine, CHANGES[kind](table))


def test_what_the_checksum_sees():
    from counterfold.io.sources._checksums import Checksums, add_rows

    kinds = {
        "map": pa.array([[("a", 1.0)], [("b", 2.0), ("c", 3.0)], None], pa.map_(pa.string(), pa.float64())),
        "struct": pa.array([{"a": 1.0, "b": "x"}, {"a": None, "b": "y"}, {"a": 2.0, "b": None}]),
        "time": pa.array([1, 2, None], pa.timestamp("us")),
        "day": pa.array([1, 2, None], pa.date32()),
        "decimal": pa.array([1, 2, None], pa.decimal128(20, 2)),
        "flag": pa.array([True, False, None]),
        "label": pa.array(["a", "b", None]).dictionary_encode(),
        "bytes": pa.array([b"a", b"bc", None], pa.large_binary()),
        "nothing": pa.nulls(3),
        "lists": pa.array([[[1.0]], [[2.0], []], None], pa.list_(pa.list_(pa.float32()))),
    }
    whole, cut, turned = Checksums(), Checksums(), Checksums()
    table = pa.table(kinds)
    add_rows(whole, table)
    for row in range(3):
        add_rows(cut, table.slice(row, 1))
        add_rows(turned, table.slice(2 - row, 1))
    assert whole == cut
    assert {place.partition(".")[0] for place in whole} == set(kinds) - {"nothing"}
    assert all(
        any(whole[p] != turned[p] for p in whole if p.partition(".")[0] == name) for name in set(kinds) - {"nothing"}
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda: 3, r"the function `<lambda>` must return a RecordBatchReader or .*, got 3\."),
        (lambda x: x, r"the function `<lambda>` could not be read: .*missing 1 required positional argument"),
        (pl.scan_parquet("gone.parquet"), r"the LazyFrame could not be read: .*gone\.parquet"),
        (pl.LazyFrame({"action": []}), r"the LazyFrame must hold at least 2 rows, got none\."),
        (
            ds.dataset(pa.table({"action": pa.array([], pa.int64())})),
            r"the data set must hold at least 2 rows, got none\.",
        ),
        (lambda: pa.table([[1], [2]], ["a", "a"]), r"columns must have different names, got `a` more than once"),
        (
            pd.DataFrame({"action": [1, "a", []]}),
            r"column `action` must hold one kind of values, got int and list and str",
        ),
        (3, r"`source` must be a path, a data frame or a query, got int"),
        (None, r"`source` must be a path, a data frame or a query, got NoneType"),
        ("nothing/*.parquet", r"`nothing/\*\.parquet` must hold the files of a log, got no file that is like it\."),
    ],
)
@pytest.mark.parametrize("engine", ["memory", "local"])
def test_mistakes(source, message, engine):
    with pytest.raises(cf.DataError, match=message) as caught:
        cf.evaluate(source, engine=engine)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("many")
def test_an_error_in_the_middle_is_one_sentence(table):
    def rows():
        def batches():
            yield from table.to_batches(500)[:3]
            raise KeyError("boom")

        return pa.RecordBatchReader.from_batches(table.schema, batches())

    with pytest.raises(cf.DataError, match=re.escape("the function `rows` could not be read: Key error: 'boom'.")):
        answer("local", rows)


@pytest.mark.usefixtures("many")
def test_a_file_that_goes_between_passes(table, path, tmp_path):
    place = tmp_path / "log.parquet"
    place.write_bytes(path.read_bytes())
    scan = cf.LogScan(pl.scan_parquet(place), ignore=["target", "target_2"])
    assert scan.opened.rows == len(table)
    place.unlink()
    with pytest.raises(cf.DataError, match="the LazyFrame could not be read"):
        answer("local", scan)


@pytest.mark.usefixtures("size")
def test_hive_folders_of_a_data_set_are_those_of_a_path(table, tmp_path):
    for number in range(3):
        (tmp_path / f"day={number}").mkdir()
        pq.write_table(table.slice(number * 1000, 1000), tmp_path / f"day={number}" / "part.parquet")
    dataset = ds.dataset(tmp_path, partitioning="hive")
    for engine in ("memory", "local"):
        plain = answer(engine, tmp_path)
        require_same(answer(engine, dataset), plain)
        require_same(answer(engine, f"{tmp_path}/day=*/*.parquet"), plain)
    assert "day" in cf.LogScan(f"{tmp_path}/day=*/*.parquet").opened.table().column_names


def test_a_pattern_stands_for_files_alone(tmp_path, table):
    (tmp_path / "a.parquet").mkdir()
    with pytest.raises(cf.DataError, match="must stand for files, got the folder"):
        cf.read_log(f"{tmp_path}/*.parquet")
    pq.write_table(table, tmp_path / "log[1].parquet")
    assert len(cf.read_log(tmp_path / "log[1].parquet", ignore=["target", "target_2"])) == len(table)
