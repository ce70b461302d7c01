"""Spark on one machine gives the answers of the local engine: from paths, frames and tables; and what it refuses."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.linear_model import LogisticRegression

import counterfold as cf
from counterfold.engines import spark as engine
from spark_logs import ACTIONS, LOCAL, MARKS, ROWS, SLOW, check_same, cut, logged, saved
from tables import csv, json_lines
from text_logs import make_log

pytestmark = MARKS


# Local mode: whatever holds the log


def as_view(spark, path):
    spark.read.parquet(str(path)).createOrReplaceTempView("a_view")
    return "a_view"


def as_table(spark, path):
    spark.sql("drop table if exists a_table")
    spark.sql(f"create table a_table using parquet location '{path}'")
    return "a_table"


SOURCES = {
    "path": lambda _, path: path,
    "address": lambda _, path: path.as_uri(),
    "frame": lambda spark, path: spark.read.parquet(str(path)),
    "no file": lambda spark, path: spark.createDataFrame(pa.parquet.read_table(path)),
    "view": as_view,
    "table": as_table,
}


USUAL = ["path", "no file"]


@LOCAL
@pytest.mark.parametrize("kind", [pytest.param(one, marks=[] if one in USUAL else SLOW) for one in SOURCES])
def test_whatever_holds_the_log_the_answer_is_that_of_the_local_engine(spark, path, expected, kind):
    log = SOURCES[kind](spark, path)
    check_same(cf.evaluate(log, engine="spark" if isinstance(log, str | Path) else "auto"), expected)


@LOCAL
def test_the_file_is_read_in_several_partitions(spark, path):
    assert spark.read.parquet(str(path)).rdd.getNumPartitions() > 3


@LOCAL
def test_row_numbers_continue_across_the_files_of_a_folder(spark, table, tmp_path, monkeypatch, expected):
    del spark
    cut(table, tmp_path / "folder", [300, 1_500, 0, 1_200])
    monkeypatch.chdir(tmp_path)  # not where Java runs
    check_same(cf.evaluate("folder", engine="spark"), expected)


@LOCAL
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("log.csv", csv),
        pytest.param("log.TSV", lambda table: csv(table, "\t"), marks=SLOW),
        pytest.param("log.jsonl", json_lines, marks=SLOW),
    ],
)
def test_texts(spark, table, tmp_path, name, write):
    del spark
    (tmp_path / name).write_bytes(write(table))
    check_same(*(cf.evaluate(tmp_path / name, engine=one) for one in ("spark", "local")))


@LOCAL
@pytest.mark.parametrize("asked", [pytest.param({}, marks=SLOW), {"reward": "`re.ward` - 0.1 * cost"}])
def test_kept_rows_times_and_columns_with_dots(spark, tmp_path, asked):
    del spark
    rng = np.random.default_rng(5)
    probs = rng.dirichlet([2.0, 3.0], size=1500)
    action = (rng.random(1500) > probs[:, 0]).astype(int)
    kept = np.where(rng.random(1500) < 0.5, 1.0, 0.25)
    columns = {"x.1": rng.normal(size=1500), "odd`name": rng.normal(size=1500), "action": np.array(["a", "b"])[action]}
    columns |= {
        "re.ward": rng.normal(size=1500) + action,
        "logging_probs.a": probs[:, 0],
        "logging_probs.b": probs[:, 1],
    }
    columns |= {"new.a": np.full(1500, 0.4), "new.b": np.full(1500, 0.6), "kept": kept, "cost": rng.random(1500)}
    columns["time"] = np.datetime64("2024-01-01T00", "us") + np.arange(1500) * np.timedelta64(1, "h")
    path = saved(pa.table(columns), tmp_path / "log.parquet", row_group_size=400)
    asked = {"reward": "re.ward"} | asked | {"progress": False}
    found, expected = (cf.evaluate(path, "new", engine=one, **asked) for one in ("spark", "local"))
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    assert found.contents.rewards.weight == pytest.approx((1 / kept).sum())
    assert found.diagnostics.drift_p == pytest.approx(expected.diagnostics.drift_p, rel=1e-6)
    assert found.contents.left_out == expected.contents.left_out


@LOCAL
@pytest.mark.parametrize("gaps", [0, 1])
def test_times_and_users_that_nobody_named(spark, table, tmp_path, gaps):
    del spark
    late, mood = np.arange(ROWS) > 0.8 * ROWS, np.random.default_rng(6).normal(size=97)[np.arange(ROWS) % 97]
    times = pa.array(
        np.datetime64("2024-03-01", "us") + np.arange(ROWS) * np.timedelta64(15, "m"), mask=late * gaps > 0
    )
    columns = {name: table[name] for name in table.column_names if name != "reward"} | {"ts": times}
    reward = np.where(late, 0.0, np.array(table["reward"]) + 2 * mood)
    path = saved(pa.table(columns | {"reward": reward}), tmp_path / "log.parquet")
    asked = {"candidates": ["ips", "dr"], "selector": "slope", "progress": False}
    found, expected = (cf.evaluate(path, engine=one, **asked) for one in ("spark", "local"))
    check_same(found, expected)
    memory = cf.evaluate(path, engine="memory", **asked).diagnostics
    said = {one.name: one.problem for one in memory.findings if one.name in {"drift", "as-read", "unnamed-groups"}}
    assert said.items() <= {one.name: one.problem for one in found.diagnostics.findings}.items()
    assert said.keys() == {"as-read", "unnamed-groups"} | (set() if gaps else {"drift"})


@LOCAL
@pytest.mark.parametrize("gaps", [pytest.param("first", marks=SLOW), "late"])
def test_text_and_missing_numbers(spark, tmp_path, gaps):
    del spark
    table = make_log(18_000 if gaps == "late" else 1_500, since=None)
    if gaps == "late":  # the first rows hold plain numbers alone, so that the passes start again
        late = [None if row > 17_900 else float(row % 13) for row in range(18_000)]
        table = table.drop_columns(["city", "age", "new", "customer"]).append_column("late", pa.array(late))
    path = saved(table, tmp_path / "log.parquet", row_group_size=table.num_rows // 3)
    found, expected = (cf.evaluate(path, engine=one, progress=False) for one in ("spark", "memory"))
    assert found.contents.columns == expected.contents.columns
    assert found.contents.left_out == expected.contents.left_out
    assert found.value == pytest.approx(expected.value, rel=1e-9)


@SLOW
@LOCAL
def test_several_targets_of_which_one_is_a_function(spark, path):
    def favourite(x):
        return np.where(x[:, :1] > 0, [0.1, 0.8, 0.1], [0.4, 0.3, 0.3])

    scan = cf.LogScan(path, actions=ACTIONS, ignore=["target", "other_policy"])
    targets = {"new": "target", "logged alone": "other_policy", "favourite": favourite}
    expected = cf.evaluate(scan, targets, engine="local")
    found = cf.evaluate(
        cf.LogScan(spark.read.parquet(str(path)), actions=ACTIONS, ignore=["target", "other_policy"]), targets
    )
    assert list(found) == list(targets)
    for name, one in found.items():
        check_same(one, expected[name])


@LOCAL
@pytest.mark.parametrize("group", [pytest.param(None, marks=SLOW), "user"])
def test_groups_and_logs_that_do_not_list_their_actions(spark, table, tmp_path, group):
    del spark
    path = saved(table.drop_columns(["logging_probs"]), tmp_path / "log.parquet")
    check_same(*(cf.evaluate(cf.LogScan(path, group=group), engine=one) for one in ("spark", "local")))


@LOCAL
@pytest.mark.parametrize("rows", [200, pytest.param(ROWS, marks=SLOW)])
def test_rows_from_no_file_in_several_partitions_only_fall_into_other_buckets(spark, path, rows):
    some = pa.parquet.read_table(path).slice(0, rows)
    settings = {"selector": "ocv:refit=False", "reward_model": "ridge-per-action"}  # the folds of others move, too
    found, in_memory = (cf.evaluate(log, **settings) for log in (spark.createDataFrame(some).repartition(3), some))
    for line, other in zip(found.table, in_memory.table, strict=True):
        assert line.value == pytest.approx(other.value, rel=1e-9)
        assert line.stderr == pytest.approx(other.stderr, rel=0.2)


@SLOW
@LOCAL
def test_a_frame_may_leave_out_rows_of_its_file(spark, path, table, tmp_path):
    few = table.filter(pa.compute.field("age") > 1.0)
    assert 100 < few.num_rows < 1_000
    settings = {"reward_model": "ridge-per-action"}  # rows that moved up in the file have other folds
    found = cf.evaluate(spark.read.parquet(str(path)).where("age > 1"), **settings)
    expected = cf.evaluate(saved(few, tmp_path / "few.parquet"), engine="local", **settings)
    assert [one.value for one in found.table] == pytest.approx([one.value for one in expected.table], rel=1e-9)


@SLOW
@LOCAL
def test_sums_may_be_merged_in_several_steps(spark, path, expected, monkeypatch):
    del spark
    monkeypatch.setattr(engine, "MERGED", 2)
    check_same(cf.evaluate(path, engine="spark"), expected)


@LOCAL
def test_command_line(spark, path, run):
    as_view(spark, path)
    expected = json.loads(run("evaluate", path, "--engine", "local", "--json")[1])
    for log in (path.as_uri(), "a_view"):
        code, out, err = run("evaluate", log, "--engine", "spark", "--json")
        assert (code, err) == (0, "")
        found = json.loads(out)
        assert found["log"] == expected["log"] | {"file": log}
        check_same(found["evaluations"], expected["evaluations"])
    code, out, err = run("check", path, "--engine", "spark", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["diagnostics"][0]["verdict"] == "good"


# Errors


@LOCAL
@pytest.mark.parametrize(
    ("column", "bad", "rule"),
    [("reward", np.nan, "finite"), pytest.param("target", {"red": 2.0}, r"in \[0, 1\]", marks=SLOW)],
)
def test_what_a_worker_finds_wrong_is_one_sentence(spark, tmp_path, column, bad, rule):
    table = logged(20_000)
    values = table[column].to_pylist()
    values[19_000] = values[19_000] | bad if isinstance(bad, dict) else bad
    wrong = table.set_column(table.column_names.index(column), column, pa.array(values, table[column].type))
    folder = cut(wrong, tmp_path / "folder", [18_000, 2_000])
    with pytest.raises(cf.DataError, match=rf"^`{column}` must be {rule}, got .* first at row 19000\."):
        cf.evaluate(spark.read.parquet(str(folder)))


@LOCAL
def test_a_target_that_fails_in_a_worker_is_one_sentence(spark, path):
    def broken(x):
        from pyspark import TaskContext

        return np.full((len(x), 3), 1 / 3) if TaskContext.get() is None else x["no such"]

    with pytest.raises(
        cf.ParameterError, match=r"^the function `broken` of `target`, .* failed with IndexError: only.*\.$"
    ):
        cf.evaluate(cf.LogScan(spark.read.parquet(str(path)), actions=ACTIONS), broken)


@LOCAL
def test_what_is_not_there(spark, run, monkeypatch):
    del spark
    printed = []
    monkeypatch.setattr(logging.getLogger("SQLQueryContextLogger"), "handle", printed.append)
    for log, reason in {"no/log.parquet": "Path does not exist", "no_table": "`no_table` cannot be found"}.items():
        code, out, err = run("evaluate", log, "--engine", "spark")
        assert (code, out) == (2, "")
        assert err.startswith("Error: Spark could not read the log: ")
        assert reason in err
        assert err.count("\n") == 1
    assert printed == []


@LOCAL
def test_an_engine_must_suit_the_log(spark, path):
    for other in ("memory", "local"):
        message = rf"`engine` must be 'spark' for a log that is a DataFrame of pyspark, got '{other}'\."
        with pytest.raises(cf.ParameterError, match=message):
            cf.evaluate(spark.read.parquet(str(path)), engine=other)
    with pytest.raises(
        cf.ParameterError, match=r"must be 'local' or 'memory' for a log that is a Table of pyarrow, got 'spark'\."
    ):
        cf.evaluate(pa.parquet.read_table(path), engine="spark")


def test_without_pyspark_one_sentence_says_what_to_install(path, run, monkeypatch):
    for module in ("py4j.protocol", "pyspark.errors"):
        monkeypatch.setitem(sys.modules, module, None)
    code, out, err = run("evaluate", path, "--engine", "spark")
    assert (code, out, err) == (2, "", "Error: `engine` 'spark' needs pyspark: pip install 'counterfold[spark]'.\n")


def test_without_java_one_sentence_says_so(path, tmp_path):
    script = "from counterfold.cli import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", script, "evaluate", path, "--engine", "spark"],
        env=os.environ | {"JAVA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout) == (2, "")
    last = found.stderr.splitlines()[-1]  # before it, Spark's script says which file it looked for
    assert last == "Error: `engine` 'spark' needs Java 17 or later, which could not be started."
    assert "Traceback" not in found.stderr


@LOCAL
@pytest.mark.usefixtures("spark")
def test_targets_that_are_written_down_and_models(table, tmp_path):
    columns = ["age", "height"]
    seen = np.column_stack([table.column(name).to_numpy() for name in columns])
    scores = np.random.default_rng(4).normal(size=(ROWS, 3)).tolist()
    scored = table.append_column("score", pa.array([dict(zip(ACTIONS, row, strict=True)) for row in scores]))
    path = saved(scored, tmp_path / "log.parquet")
    model = LogisticRegression().fit(seen, np.where(seen[:, 0] > 0, "red", "blue"))
    named = LogisticRegression().fit(pd.DataFrame(seen, columns=columns)[["height"]], np.array(ACTIONS)[[0, 1] * 1500])
    targets = {"text": "0.1*uniform + 0.6*greedy:score + 0.3*logger", "model": model, "named": named, "label": "red"}
    options = {"context": columns, "candidates": ["ips", "dr"], "progress": False}
    here, there = (cf.evaluate(path, targets, engine=one, **options) for one in ("local", "spark"))
    for name in targets:
        assert there[name].value == pytest.approx(here[name].value, rel=1e-12)
        assert there[name].stderr == pytest.approx(here[name].stderr, rel=1e-6)


@LOCAL
def test_propensities_are_fitted_as_by_the_local_engine(spark, table, tmp_path):
    del spark
    path = saved(table.drop_columns(["logging_probs", "propensity", "other_policy", "user"]), tmp_path / "log.parquet")
    asked = {"propensity": "fit", "candidates": "plain", "progress": False}
    found, expected = (cf.evaluate(path, engine=one, **asked) for one in ("spark", "local"))
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    assert found.contents.fitted.quality == expected.contents.fitted.quality
    assert found.verdict == "caution"
