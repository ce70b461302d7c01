"""Addresses of object stores, on moto's server for the protocol of S3."""

import gc
import gzip

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import counterfold as cf
from large_logs import answer
from same_answers import require_same
from tables import FORMATS


@pytest.fixture(scope="module")
def put(s3):
    """Return a function that writes a file and returns the address of what was written, with a key and a secret."""
    settings, put_file = s3

    def write(place, content, folder=None):
        put_file(f"logs/{place}", content)
        return f"s3://KEY:SECRET@logs/{folder or place}?{settings}"

    return write


def pack(table):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=300)
    return sink.getvalue().to_pybytes()


@pytest.mark.pairs
@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("form", ["folder", "folder/", "folder/part-*.parquet", "folder/*"])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_folder_gives_the_answer_of_a_file(share, form, engine, table, put, expected, monkeypatch):
    monkeypatch.setattr("counterfold.io.sources._fetched.SHARE", share)
    for number in range(3):
        uri = put(f"folder/part-{number}.parquet", pack(table.slice(number * 1000, 1000)), form)
    require_same(answer(engine, uri), expected[engine])


@pytest.mark.pairs
@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_folders_that_say_something(share, engine, table, put, tmp_path, monkeypatch):
    monkeypatch.setattr("counterfold.io.sources._fetched.SHARE", share)
    for number in range(3):
        content = pack(table.slice(number * 1000, 1000))
        (tmp_path / f"day={number}").mkdir()
        (tmp_path / f"day={number}" / "part.parquet").write_bytes(content)
        uri = put(f"hive/day={number}/part.parquet", content, "hive")
    put("hive/_SUCCESS", b"")
    require_same(answer(engine, uri), answer(engine, tmp_path))


@pytest.mark.pairs
@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.jsonl", "log.arrow", "log.csv.gz", "log.parquet"])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_any_format(share, name, table, put, tmp_path, monkeypatch):
    monkeypatch.setattr("counterfold.io.sources._fetched.SHARE", share)
    few = table.slice(0, 600)
    content = FORMATS[name.removesuffix(".gz")](few)
    content = gzip.compress(content) if name.endswith(".gz") else content
    (tmp_path / name).write_bytes(content)
    for engine in ("memory", "local"):
        require_same(answer(engine, put(f"formats/{name}", content)), answer(engine, tmp_path / name))


def test_columns_that_some_files_lack_or_have_of_another_type(table, put, tmp_path):
    less = table.slice(0, 1000).drop_columns(["x2"])
    less = less.set_column(less.column_names.index("x1"), "x1", less.column("x1").cast(pa.float32()))
    for number, part in enumerate([less, table.slice(1000)]):
        (tmp_path / f"{number}.parquet").write_bytes(pack(part))
        uri = put(f"drift/{number}.parquet", pack(part), "drift")
    found = [cf.LogScan(source).opened.table() for source in (uri, tmp_path)]
    assert found[0].column("x2").null_count == 1000
    assert found[0].select(["x1", "reward"]).equals(found[1].select(["x1", "reward"]))


@pytest.fixture
def no_room(monkeypatch):
    """Make the disk too small for any file, so that files are read from the store in every pass."""
    monkeypatch.setattr("counterfold.io.sources._fetched.SHARE", 0.0)


@pytest.mark.usefixtures("many", "no_room")
def test_files_that_change_between_passes(table, put):
    uri = put("changing/log.parquet", pack(table))
    scan = cf.LogScan(uri, ignore=["target", "target_2"])
    assert scan.opened.rows == len(table)
    put("changing/log.parquet", pack(table.slice(0, 2000)))
    with pytest.raises(
        cf.DataError, match=r"`s3://logs/changing/log\.parquet` (could not be read|must return the same)"
    ):
        answer("local", scan)


def test_files_that_are_fetched_may_change_afterwards(table, put, expected):
    uri = put("snapshot/log.parquet", pack(table))
    scan = cf.LogScan(uri, ignore=["target", "target_2"])
    assert scan.opened.rows == len(table)
    put("snapshot/log.parquet", pack(table.slice(0, 2000)))
    require_same(answer("local", scan), expected["local"])


def test_files_that_change_while_they_are_fetched(table, put):
    uri = put("moving/log.parquet", pack(table))
    scan = cf.LogScan(uri, ignore=["target", "target_2"])
    rows = scan.opened
    put("moving/log.parquet", pack(table.slice(0, 2000)))
    with pytest.raises(cf.DataError, match=r"`s3://logs/moving/log.parquet` must not change while it is read"):
        assert rows.rows


def test_what_was_fetched_is_taken_away(table, put, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    scan = cf.LogScan(put("away/log.parquet", pack(table)), ignore=["target", "target_2"])
    assert scan.opened.rows == len(table)
    assert len(list(tmp_path.rglob("log.parquet"))) == 1
    del scan
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_fails(table, put, run, monkeypatch):
    def fail(*_):
        raise OSError("curl: no answer to SECRET")

    monkeypatch.setattr("counterfold.io.sources._fetched.copy_file", fail)
    code, out, err = run("check", put("failing/log.parquet", pack(table)))
    assert (code, out) == (2, "")
    assert err == "Error: `s3://logs/failing/log.parquet` could not be read: curl: no answer to ***.\n"


def test_a_format_may_be_named(table, put):
    uri = put("named/log.txt", FORMATS["log.csv"](table.slice(0, 200)))
    assert cf.LogScan(uri, format="csv").opened.rows == 200


def test_mistakes(table, put, run):
    put("mixed/log.parquet", pack(table))
    mixed = put("mixed/log.csv", b"a,b\n1,2\n", "mixed")
    put("delta/_delta_log/0.json", b"{}")
    delta = put("delta/part.parquet", pack(table), "delta")
    nothing = put("broken/log.parquet", b"no parquet")
    told = {
        mixed: "`s3://logs/mixed` must hold files of one format, got Csv and Parquet.",
        mixed.replace("logs/mixed", "logs/none"): "`s3://logs/none` could not be read: ",
        mixed.replace("logs/mixed", "logs/mixed/*.arrow"): "`s3://logs/mixed/*.arrow` must hold the files of a log",
        mixed.replace("logs/mixed", "nowhere/mixed"): "`s3://nowhere/mixed` could not be read: ",
        delta: "`logs/delta` is a table of Delta: read it by",
        nothing: "`s3://logs/broken/log.parquet` could not be read as Parquet: ",
        put("log.xlsx", b"x"): "must end in one of .arrow",
    }
    for uri, sentence in told.items():
        code, out, err = run("check", uri)
        assert (code, out) == (2, ""), uri
        assert sentence in err
        assert "SECRET" not in err
        assert err.count("\n") == 1


def test_json_names_no_secret(table, put, run):
    code, out, _ = run("check", put("one/log.parquet", pack(table)), "--json")
    assert code == 0
    assert '"file": "s3://logs/one/log.parquet"' in out
    assert "SECRET" not in out
