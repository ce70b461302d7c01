"""Queries on the command line."""

import json
import re

import pytest

pytest.importorskip("duckdb", reason="duckdb is not installed (extra `sql`)")

COMMANDS = ("evaluate", "compare", "check")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_query_answers_as_the_file_does(command, save, run):
    path = save()
    query = f"select * from '{path}'"  # noqa: S608 (of our own making)
    by_file = run(command, path, "--context", "age,height", "--json")
    by_query = run(command, "--sql", query, "--context", "age,height", "--json")
    assert by_query[0] == by_file[0] == 0
    plain, asked = json.loads(by_file[1]), json.loads(by_query[1])
    assert plain["log"].pop("file") == str(path)
    assert asked["log"].pop("sql") == query
    assert plain == asked


@pytest.mark.parametrize("name", ["mended.sql", "Mended rows.SQL", " mended.sql "])
def test_a_query_may_be_in_a_file(name, save, run, tmp_path):
    query = f"select * -- all of it\nfrom '{save()}';\n"
    (tmp_path / name.strip()).write_text(f"\ufeff{query}", encoding="utf-8")
    code, out, err = run("check", "--sql", name, "--context", "age,height", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["log"]["sql"] == query


def test_a_query_may_end_like_a_file(run):
    assert "the query could not be read: Catalog Error" in run("check", "--sql", "select * from a.sql")[2]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            ["--sql", "mendd.sql"],
            "`mendd.sql` must be a file with a query, as its name ends in `.sql`, but there is none; write",
        ),
        ([], "the log must be either LOG, a file or folder, or --sql QUERY, got neither"),
        (["log.parquet", "--sql", "select 1"], "the log must be either LOG, .* got both"),
        (["log.parquet", "--db", "sqlite:///x.db"], "--db must be given with --sql QUERY, got LOG"),
        (["--db", "sqlite:///x.db"], "the log must be either LOG, .* got neither"),
        (["--sql", "selec 1"], "the query could not be read: Parser Error"),
        (["--sql", "drop table x"], "`sql` must be one SELECT statement, got DROP"),
        (["--sql", ""], "`sql` must be text, got ''"),
        (["--sql", "from 'nope.parquet'"], "the query could not be read: .*nope.parquet"),
    ],
)
def test_mistakes(command, given, sentence, run):
    code, out, err = run(command, *given)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert re.search(sentence, err), err
