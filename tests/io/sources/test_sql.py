"""Queries by DuckDB: the answer of a file, nothing but what was named, and one sentence for every mistake."""

import builtins
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import counterfold as cf
from large_logs import answer
from same_answers import require_same

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed (extra `sql`)")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, table):
    """Work in a folder that holds the log, in two files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    pq.write_table(table.slice(0, 1700), "logs/a.parquet", row_group_size=700)
    pq.write_table(table.slice(1700), "logs/b.parquet")
    (tmp_path / "secret.csv").write_text("action,reward\n1,2\n")
    return tmp_path


QUERIES = {
    "a pattern": "select * from 'logs/*.parquet'",
    "a function": "select * from read_parquet(['logs/a.parquet', 'logs/b.parquet'])",
    "a name in quotes": 'from "logs/*.parquet"',
    "an end and a remark": "from 'logs/*.parquet'; -- all of it",
    "with": "with log as (from 'logs/*.parquet') select * from log where true /* all */",
    "letters of all kinds": "select * from 'logs/*.parquet' where 'größe ☃' <> 'it''s'",
}


@pytest.mark.pairs
@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("kind", QUERIES)
def test_a_query_gives_the_answer_of_a_file(kind, engine, expected):
    require_same(answer(engine, cf.sql(QUERIES[kind])), expected[engine])


@pytest.mark.pairs
@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize(
    "make", [lambda table: table, pa.Table.to_pandas, pa.Table.to_pydict], ids=["table", "pandas", "dictionary"]
)
def test_frames_are_tables_of_their_names(make, engine, table, expected):
    require_same(answer(engine, cf.sql("select * from shown", shown=make(table))), expected[engine])


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_join_keeps_its_order(engine):
    query = """
        select l.*, e.x0 * 2 as twice
        from (select *, row_number() over () as id from 'logs/*.parquet') l
        join (select x0, row_number() over () as id from 'logs/*.parquet') e using (id)
    """
    found = [answer(engine, cf.LogScan(cf.sql(query), ignore=["target", "target_2", "id"])).value for _ in range(3)]
    assert len(set(found)) == 1


def test_a_database_of_duckdb_is_only_read(table, expected, folder):
    with duckdb.connect("log.duckdb") as connection:
        connection.register("given", table)
        connection.execute("create table log as from given")
    before = (folder / "log.duckdb").read_bytes()
    require_same(answer("memory", cf.sql("from log", db="duckdb:///log.duckdb")), expected["memory"])
    require_same(answer("memory", cf.sql("from log", db=f"duckdb:///{folder}/log.duckdb")), expected["memory"])
    assert (folder / "log.duckdb").read_bytes() == before


REFUSED = {
    "selec 1": "the query could not be read: Parser Error: syntax error at or near",
    "select * from nope": "the query could not be read: Catalog Error: Table with name nope does not exist",
    "select rewrd from 'logs/a.parquet'": "the query could not be read: Binder Error: .*rewrd.* not found",
    "from 'logs/c.parquet'": "the query could not be read: .*logs/c.parquet",
    "select 1; select 2": "`sql` must be one SELECT statement, got SELECT and SELECT",
    "-- nothing": "`sql` must be one SELECT statement, got none",
    "copy (select 1) to 'out.csv'": "`sql` must be one SELECT statement, got COPY",
    "create table x as select 1": "`sql` must be one SELECT statement, got CREATE",
    "attach 'x.db'": "`sql` must be one SELECT statement, got ATTACH",
    "install httpfs": "`sql` must be one SELECT statement, got LOAD",
    "pragma version": "`sql` must be one SELECT statement, got PRAGMA",
    "set threads = 2": "`sql` must be one SELECT statement, got SET",
    "": "`sql` must be text, got ''",
    " ": "`sql` must be text, got ' '",
    "from read_csv('sec' || 'ret.csv')": "must be a file that is there, and that the query names in quotes",
    "from read_text('/etc/' || 'passwd')": "must be a file that is there, and that the query names in quotes",
    "from glob('log' || 's/*')": "must be a file that is there, and that the query names in quotes",
    "from 'http://127.0.0.1:9/log.parquet'": "the query could not be read: ",
    "from 's3://bucket/log.parquet'": "the query could not be read: ",
    "from table": "the query could not be read: ",
    "select reward, reward from 'logs/a.parquet'": "columns must have different names, got `reward` more than once",
    "from 'logs/a.parquet' where false": "the query must hold at least 2 rows, got none",
}


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("query", REFUSED)
def test_what_is_refused(query, folder):
    before = sorted(os.walk(folder))
    with pytest.raises(cf.CounterfoldError, match=REFUSED[query]) as caught:
        answer("local", cf.sql(query))
    assert "\n" not in str(caught.value)
    assert sorted(os.walk(folder)) == before


def test_variables_are_no_tables(table):
    log = table
    assert log
    with pytest.raises(cf.DataError, match="Table with name log does not exist"):
        cf.read_log(cf.sql("from log"))


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("query", "engines"),
    [
        ("select * replace (random() as reward) from 'logs/*.parquet'", ["local"]),
        ("from 'logs/*.parquet' order by random()", ["local"]),
        ("from 'logs/*.parquet' limit 1500 + (random() * 1000)::int", ["memory", "local"]),  # they are counted first
    ],
)
def test_other_rows_the_second_time_are_refused(query, engines):
    for engine in engines:
        with pytest.raises(cf.DataError, match=r"the query must return the same rows every time, got .*order by"):
            answer(engine, cf.sql(query))


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("engine", ["memory", "local"])
def test_types_of_databases(engine, expected):
    query = """
        select * replace (
            propensity::decimal(38, 30) as propensity, reward::varchar as reward, ('a' || action)::varchar as action
        ), timestamp '2026-01-01' as at, reward > 0.5 as flag, 1::hugeint as huge, uuid() is null as odd
        from 'logs/*.parquet'
    """
    scan = cf.LogScan(
        cf.sql(query), ignore=["target", "target_2", "flag", "huge", "odd"], actions=["a0", "a1", "a2", "a3"]
    )
    found, known = answer(engine, scan), expected[engine]
    assert found.logged.value == pytest.approx(known.logged.value, rel=1e-9)
    # Rows whose numbers have other digits may fall into other folds.
    assert found.value == pytest.approx(known.value, abs=0.1 * known.stderr)


@pytest.mark.usefixtures("size")
def test_a_text_that_is_no_number_is_named():
    query = "select * replace (if(x0 > 2, 'often', propensity::varchar) as propensity) from 'logs/*.parquet'"
    for engine in ("memory", "local"):
        with pytest.raises(cf.DataError, match=r"`propensity` must be numbers, got 'often' in .* rows.*first at row"):
            answer(engine, cf.sql(query))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"query": 3}, "`sql` must be text, got 3"),
        ({"query": "select 1", "db": 3}, "`db` must be text"),
        ({"query": "select 1", "db": "host=x password=secret"}, "`db` must be an address like postgresql://"),
        ({"query": "select 1", "db": "nodriver://u:secret@h/d"}, "`db` of nodriver needs its ADBC driver: pip install"),
        ({"query": "select 1", "db": "no driver://u:secret@h/d"}, "`db` must be an address like postgresql://"),
        ({"query": "select 1", "db": "duckdb:///gone.duckdb"}, "`gone.duckdb` must be a file or folder, but there is"),
        ({"query": "select 1", "log": 3}, "`log` must be a data frame in memory, got int"),
        ({"query": "select 1", "db": "duckdb:///x", "log": {"a": [1]}}, "frames must be queried without `db`"),
    ],
)
def test_bad_arguments(given, message):
    with pytest.raises(cf.CounterfoldError, match=message) as caught:
        cf.sql(given.pop("query"), **given)
    assert "secret" not in str(caught.value)


def test_the_extra_is_named_if_it_is_missing(monkeypatch):
    real = builtins.__import__

    def refuse(name, *more):
        if name == "duckdb":
            raise ModuleNotFoundError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(cf.ParameterError, match=r"`sql` needs duckdb: pip install 'counterfold\[sql\]'"):
        cf.sql("select 1")


def test_nothing_is_written_where_memory_ends(folder, monkeypatch):
    monkeypatch.setattr("counterfold.base.capacity.find_memory", lambda: 64 << 20)
    query = "select i as action, random() as reward, 0.5 as propensity from range(20000000) t(i) order by reward"
    with pytest.raises(cf.DataError, match="the query could not be read: Out of Memory Error"):
        cf.read_log(cf.sql(query))
    assert {one.name for one in folder.iterdir()} == {"logs", "secret.csv"}


def test_a_query_may_be_evaluated_again_on_rows_that_were_added(table):
    query = cf.sql("from 'logs/*.parquet'")
    first = cf.read_log(query, ignore=["target", "target_2"])
    pq.write_table(table.slice(0, 10), "logs/c.parquet")
    assert len(cf.read_log(query, ignore=["target", "target_2"])) == len(first) + 10
    assert repr(query) == """sql("from 'logs/*.parquet'")"""
