"""Every call on the page of sources is run, and gives the same answer."""

import re
from pathlib import Path

import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import counterfold as cf
from large_logs import made
from places import ROOT

PAGE = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
LINES = dict(re.findall(r"^\| ([^|]+) \| `(cf\.evaluate\(.*\))`[^|]*\|$", PAGE, re.MULTILINE))
NEEDS = {
    "SQL": "duckdb",
    "DuckDB": "duckdb",
    "Delta": "deltalake",
    "Spark": "pyspark",
    "database": "adbc_driver_postgresql",
}


class Iceberg:
    """Hands out its rows as pyiceberg's tables do."""

    def __init__(self, table):
        self.table = table

    def scan(self):
        return self

    def to_arrow_batch_reader(self):
        return self.table.to_reader(500)


@pytest.fixture(scope="module")
def log():
    table = made(1000, targets=1)
    table = table.rename_columns(["new_policy" if name == "target" else name for name in table.column_names])
    return table.append_column("id", [list(range(1000))])


@pytest.fixture
def names(log, tmp_path, monkeypatch):
    """Return what the calls name, in a folder with the files that they name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    pq.write_table(log, "logs.parquet")
    pq.write_table(log.slice(0, 600), "logs/a.parquet")
    pq.write_table(log.slice(600), "logs/b.parquet")
    shown = log.drop_columns(["reward"])
    given = {"cf": cf, "pl": pl, "ds": ds, "frame": log, "table": Iceberg(log), "open_reader": log.to_reader}
    return given | {"a": shown, "b": log.select(["id", "reward"])}


@pytest.mark.parametrize("kind", [kind for kind in LINES if "Spark" not in kind])
def test_the_calls_on_the_page(kind, log, names, request):
    for word, package in NEEDS.items():
        if word in kind:
            pytest.importorskip(package)
    call = LINES[kind]
    if "s3://" in call:
        settings, put = request.getfixturevalue("s3")
        put("bucket", b"")
        put("bucket/logs/log.parquet", Path("logs.parquet").read_bytes())
        call = call.replace("s3://bucket/logs/", f"s3://KEY:SECRET@bucket/logs/?{settings}")
    if "postgresql://" in call:
        from adbc_driver_postgresql import dbapi

        uri = request.getfixturevalue("postgres")
        with dbapi.connect(uri) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("log", log, mode="replace")
            connection.commit()
        call = call.replace("postgresql://host/shop", uri)
    if "DeltaTable" in call:
        import deltalake

        deltalake.write_deltalake("table", log)
        names["DeltaTable"] = deltalake.DeltaTable
    if "relation" in call:
        import duckdb

        names["relation"] = duckdb.connect().sql("from 'logs.parquet'")
    found = eval(call, names)  # noqa: S307 (of our own page)
    assert found.value == pytest.approx(cf.evaluate("logs.parquet", "new_policy").value, rel=1e-9)


def test_every_kind_is_on_the_page():
    assert len(LINES) >= 15
