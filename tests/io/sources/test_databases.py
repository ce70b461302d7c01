"""Queries to databases: PostgreSQL and SQLite, the answer of a file, and one sentence without passwords."""

import sqlite3

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from large_logs import answer
from same_answers import require_same

pytest.importorskip("adbc_driver_sqlite", reason="the ADBC drivers are not installed (extra `sql`)")
pytest.importorskip("adbc_driver_postgresql", reason="the ADBC drivers are not installed (extra `sql`)")


@pytest.fixture(scope="module")
def flat(table):
    """Return the log without lists, which SQLite does not have."""
    plain = table.select([one.name for one in table.schema if not pa.types.is_nested(one.type)])
    for name in ("logging_probs", "target"):
        for action, column in enumerate(np.array(table.column(name).to_pylist()).T):
            plain = plain.append_column(f"{name}_{action}", [column])
    return plain


@pytest.fixture(scope="module")
def flat_answers(flat):
    return {engine: answer(engine, flat) for engine in ("memory", "local")}


@pytest.fixture(scope="module")
def sqlite(flat, tmp_path_factory):
    path = tmp_path_factory.mktemp("sqlite") / "shop's log.db"
    connection = sqlite3.connect(path)
    connection.execute(f"create table log ({', '.join(flat.column_names)})")
    places = ", ".join("?" * flat.num_columns)
    connection.executemany(f"insert into log values ({places})", zip(*flat.to_pydict().values(), strict=True))  # noqa: S608 (of our own making)
    connection.commit()
    connection.close()
    return path


@pytest.fixture(scope="module")
def shop(postgres, flat):
    """Return the address of a database with the log in the table `log`."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("log", flat, mode="create")
        cursor.execute("create table empty (action int, reward float8)")
        connection.commit()
    return postgres


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("engine", ["memory", "local"])
def test_sqlite_gives_the_answer_of_a_file(engine, sqlite, flat_answers):
    require_same(answer(engine, cf.sql("select * from log", db=f"sqlite:///{sqlite}")), flat_answers[engine])


@pytest.mark.pairs
@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("query", ["select * from log", "with few as (select * from log) select * from few;"])
def test_postgres_gives_the_answer_of_a_file(query, engine, shop, flat_answers):
    require_same(answer(engine, cf.sql(query, db=shop)), flat_answers[engine])


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("engine", ["memory", "local"])
def test_types_of_postgres(engine, shop, flat_answers):
    columns = "x0, x1, x2, action, target_0, target_1, target_2, target_3"
    query = f"""
        select {columns}, reward::numeric(30, 20) as reward, propensity::numeric as propensity,
            timestamp '2026-01-01' as at, date '2026-01-01' as day, reward > 0.5 as flag, 'a' as text, null as nothing,
            array[logging_probs_0, logging_probs_1, logging_probs_2, logging_probs_3] as logging_probs
        from log
    """  # noqa: S608 (of our own making)
    found = answer(engine, cf.LogScan(cf.sql(query, db=shop), ignore=["target", "flag", "at"]))
    assert found.value == pytest.approx(flat_answers[engine].value, rel=1e-9)


def test_a_database_is_only_read(shop, sqlite):
    for uri in (shop, f"sqlite:///{sqlite}"):
        for query in ("drop table log", "delete from log returning *", "insert into log select * from log"):
            with pytest.raises(cf.ParameterError, match="`sql` must be one SELECT statement"):
                cf.read_log(cf.sql(query, db=uri))
        with pytest.raises(cf.DataError, match=r"could not be read|must hold"):
            cf.read_log(cf.sql("with gone as (delete from log returning *) select * from gone", db=uri))
        assert len(cf.sql("select * from log", db=uri).stream().table()) == 3000


def test_a_function_that_writes_is_refused(shop):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(shop) as connection, connection.cursor() as cursor:
        cursor.execute(
            "create function spoil() returns int language sql as 'delete from log; select 1 as one'",
        )
        connection.commit()
    with pytest.raises(cf.DataError, match="read-only transaction"):
        cf.read_log(cf.sql("select spoil() as action", db=shop))


MISTAKES = {
    "selec 1": "`sql` must be one SELECT statement",
    "select * form log": "syntax error",
    "select * from lgo": "lgo",
    "select rewrd from log": "rewrd",
    "select reward, reward from log": "columns must have different names, got `reward` more than once",
    "select * from log where 1 = 0": "must hold at least 2 rows, got none",
}


@pytest.mark.parametrize("query", MISTAKES)
def test_mistakes(query, shop, sqlite):
    for uri in (shop, f"sqlite:///{sqlite}"):
        with pytest.raises(cf.CounterfoldError, match=MISTAKES[query]) as caught:
            cf.read_log(cf.sql(query, db=uri))
        assert "\n" not in str(caught.value)


WRONG = {
    "a wrong password": (lambda uri: uri.replace("%2Fcret", "%2Fwrong"), "password authentication failed"),
    "no such database": (lambda uri: uri.replace("/postgres", "/nope").replace("nope", "nope"), "nope"),
    "no server": (lambda _: "postgresql://ann:se%2Fcret%40word@127.0.0.1:1/shop", "onnection refused"),
    "a setting": (lambda uri: f"{uri}?sslpassword=se/cret@word&nope=se/cret@word", "could not be read"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_passwords_are_never_shown(kind, shop, run):
    change, message = WRONG[kind]
    uri = change(shop)
    with pytest.raises(cf.DataError, match=message) as caught:
        cf.read_log(cf.sql("select 1", db=uri))
    code, out, err = run("evaluate", "--sql", "select 1", "--db", uri)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for text in (
        str(caught.value),
        err,
        repr(cf.sql("select 1", db=uri)),
        repr(cf.LogScan(cf.sql("select 1", db=uri))),
    ):
        assert not any(secret in text for secret in ("cret", "wrong", "word@", "%40"))


def test_the_command_line_asks_a_database(shop, run):
    code, out, err = run("evaluate", "--sql", "select * from log", "--db", shop, "--json")
    assert (code, err) == (0, "")
    assert '"sql": "select * from log"' in out
    assert '"db": "postgresql://127.0.0.1:' in out
    assert "cret" not in out


@pytest.mark.usefixtures("many")
def test_rows_that_are_added_meanwhile_are_seen(shop):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(shop, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("create table growing as select * from log")
        scan = cf.LogScan(cf.sql("select * from growing", db=shop), ignore=["target", "target_2"])
        assert scan.opened.rows == 3000
        cursor.execute("insert into growing select * from log limit 1")
        with pytest.raises(cf.DataError, match=r"must return the same rows every time, got 3000 and 3001"):
            answer("local", scan)


def test_a_column_of_sqlite_with_later_fractions(tmp_path):
    connection = sqlite3.connect(tmp_path / "log.db")
    connection.execute("create table log (action, reward, propensity)")
    rows = [(row % 2, 0 if row < 5000 else 0.5, 0.5) for row in range(6000)]
    connection.executemany("insert into log values (?, ?, ?)", rows)
    connection.commit()
    connection.close()
    log = cf.read_log(cf.sql("select * from log", db=f"sqlite:///{tmp_path}/log.db"))
    assert log.reward.sum() == 500


def test_a_database_that_is_not_there(tmp_path):
    with pytest.raises(cf.DataError, match=r"`gone\.db` must be a file or folder, but there is none"):
        cf.sql("select 1", db="sqlite:///gone.db")
    (tmp_path / "text.db").write_text("no database, but a text that is long enough to be read as one" * 20)
    with pytest.raises(cf.DataError, match="could not be read"):
        cf.read_log(cf.sql("select 1 from log", db=f"sqlite:///{tmp_path}/text.db"))


@pytest.mark.parametrize(
    "query",
    [
        "select * from log; select 1",
        "select * from log; delete from log",
        "select * from log; drop table log;",
        "select * from log; -- a comment\nselect 2",
    ],
)
def test_a_second_statement_is_refused_by_sqlite_too(query, sqlite):
    with pytest.raises(cf.ParameterError, match=r"^`sql` must be one SELECT statement, got several. Keep the one"):
        cf.sql(query, db=f"sqlite:///{sqlite}")


@pytest.mark.parametrize(
    "query",
    [
        "select * from log;",
        "select * from log ; -- no more; than this",
        "select * from log /* a; b */;;\n",
        "select *, 'a;b' as one, 'it''s; so' as two from log",
        'select *, 1 as "a;b", 2 as [c;d], 3 as `e;f` from log',
    ],
)
def test_semicolons_in_texts_and_comments_end_no_statement(query, sqlite):
    assert len(cf.read_log(cf.sql(query, db=f"sqlite:///{sqlite}")))
