"""Spark gives the answers of the local engine: from paths, frames and tables, and after workers were killed."""

import json
import logging
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from cluster import below, cluster, kill, missing, session, wait_for
from counterfold.engines import spark as engine
from counterfold.survey import Surveying
from tables import csv, json_lines, table_of

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
SLOW = pytest.mark.slow
LOCAL = pytest.mark.parametrize("place", ["local"], indirect=True)
CLUSTER = pytest.mark.parametrize("place", ["cluster"], indirect=True)
ACTIONS = ["red", "green", "blue"]
ROWS = 3_000
MANY = {"spark__sql__files__maxPartitionBytes": "64k", "spark__sql__files__openCostInBytes": "0"}
"""Settings by which small files have several partitions."""


@pytest.fixture(scope="module", params=["local", "cluster"])
def place(request):
    """Return a session, and the cluster it runs on, if any."""
    if request.param == "local":
        with session("local[2,4]", **MANY) as made:
            yield made, None
    else:
        with cluster() as machines, session(machines.url, **MANY) as made:
            yield made, machines


@pytest.fixture
def spark(place):
    """Return a session."""
    return place[0]


def logged(rows=ROWS):
    """Return a log with two targets, of which one is known for the logged actions alone."""
    rng = np.random.default_rng(0)
    logging, target = (rng.dirichlet([4.0, 2.0, 3.0], size=rows) for _ in range(2))
    code = (logging.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    x, each = rng.normal(size=(rows, 2)), np.arange(rows)
    columns = {"age": x[:, 0], "height": x[:, 1], "action": np.array(ACTIONS)[code]}
    return table_of(
        columns,
        reward=x[:, 0] * (code == 1) + code + rng.normal(size=rows),
        propensity=logging[each, code],
        logging_probs=named(logging),
        target=named(target),
        other=target[each, code] / 2 + logging[each, code] / 2,
        user=[f"user {row % 97}" for row in range(rows)],
    )


def named(probs):
    return [dict(zip(ACTIONS, row, strict=True)) for row in probs.tolist()]


def saved(table, path, row_group_size=500):
    pa.parquet.write_table(table, path, row_group_size=row_group_size)
    return path


def cut(table, folder, sizes):
    """Write a folder of files with so many rows each."""
    folder.mkdir()
    for number, size in enumerate(sizes):
        saved(table.slice(sum(sizes[:number]), size), folder / f"part-{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def table():
    """Return the log as a table."""
    return logged()


@pytest.fixture(scope="module")
def path(table, tmp_path_factory):
    """Return the log as a Parquet file with several row groups, which Spark reads as several partitions."""
    return saved(table, tmp_path_factory.mktemp("logs") / "log.parquet")


@pytest.fixture(scope="module")
def expected(path):
    """Return the answer of the local engine."""
    return cf.evaluate(path, engine="local")


def flat(value, name=""):
    """Return all that a result says, by the place where it says so."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list | tuple):
        parts = enumerate(value)
    else:
        return {name: value}
    return {place: one for key, part in parts for place, one in flat(part, f"{name}.{key}").items()}


def words_and_numbers(value):
    every = flat(value)
    numbers = {place: one for place, one in every.items() if isinstance(one, int | float)}
    return {place: one for place, one in every.items() if place not in numbers}, numbers


def check_same(found, expected):
    """Require two results to agree in every word, and in every number to a billionth."""
    (words, numbers), (others, close) = (
        words_and_numbers(one if isinstance(one, list) else one.to_dict()) for one in (found, expected)
    )
    assert words == others
    assert numbers == pytest.approx(close, rel=1e-9, abs=1e-12)


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
USUAL = ["path", "no file", "view"]


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


@SLOW
@LOCAL
def test_several_targets_of_which_one_is_a_function(spark, path):
    def favourite(x):
        return np.where(x[:, :1] > 0, [0.1, 0.8, 0.1], [0.4, 0.3, 0.3])

    scan = cf.LogScan(path, actions=ACTIONS, ignore=["target", "other"])
    targets = {"new": "target", "logged alone": "other", "favourite": favourite}
    expected = cf.evaluate(scan, targets, engine="local")
    found = cf.evaluate(cf.LogScan(spark.read.parquet(str(path)), actions=ACTIONS, ignore=["target", "other"]), targets)
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
    with pytest.raises(cf.DataError, match=rf"^`{column}` must be {rule}, got .* first at row 19000\.$"):
        cf.evaluate(spark.read.parquet(str(folder)))


@LOCAL
def test_what_else_fails_in_a_worker_is_one_sentence(spark, path):
    def broken(x):
        from pyspark import TaskContext

        return np.full((len(x), 3), 1 / 3) if TaskContext.get() is None else x["no such"]

    with pytest.raises(cf.DataError, match=r"^a Spark worker failed: IndexError: only integers.*\.$"):
        cf.evaluate(spark.read.parquet(str(path)), broken)


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
        with pytest.raises(
            cf.ParameterError, match=rf"`engine` must be 'spark' for a Spark DataFrame, got '{other}'\."
        ):
            cf.evaluate(spark.read.parquet(str(path)), engine=other)
    with pytest.raises(cf.ParameterError, match=r"must be 'memory' for what is in memory, got 'spark' for Table\."):
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


# A cluster whose parts die


def halting(folder):
    """Return a function by which a task says that it runs, and waits for the file `go`; elsewhere it does nothing."""

    def halt():
        from pyspark import TaskContext

        task = TaskContext.get()
        if task is None:
            return
        name = f"{task.stageId()}-{task.partitionId()}-{task.taskAttemptId()}"
        (folder / name).write_text(str(os.getpid()))
        end = time.monotonic() + 60
        while not (folder / "go").exists():
            if time.monotonic() > end:
                raise TimeoutError("No `go` within 60 seconds.")
            time.sleep(0.05)

    return halt


def uniform(halt):
    """Return a target that halts the last pass."""

    def probs(x):
        halt()
        return np.full((len(x), 3), 1 / 3)

    return probs


def halt_first_pass(monkeypatch, halt):
    real = engine._summing  # noqa: SLF001

    def summing(work, offsets):
        if not isinstance(work, Surveying):
            return real(work, offsets)

        def halted(batch):
            halt()
            return work(batch)

        return real(halted, offsets)

    monkeypatch.setattr(engine, "_summing", summing)


def halt_merging(monkeypatch, halt):
    real = engine._adding  # noqa: SLF001

    def adding(batches):
        halt()
        yield from real(batches)

    monkeypatch.setattr(engine, "_adding", adding)


def executor_of(pid, machines):
    [owner] = [executor for executor in machines.executors() if pid in below(executor)]
    return owner


def check_survives(place, path, folder, victim, target):
    """Kill the Python worker or the executor of a halted task, and require it to run again, and the right answer."""
    made, machines = place
    expected = cf.evaluate(path, uniform(lambda: None), engine="local")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(cf.evaluate, made.read.parquet(str(path)), target)
        try:
            marker = wait_for(lambda: next(folder.glob("*-*-*"), None), "task that halts")
            pid = int(wait_for(marker.read_text, "id in the marker"))
            kill(pid if victim == "python" else executor_of(pid, machines))
            assert not answer.done()
        finally:
            (folder / "go").touch()
        check_same(answer.result(120), expected)
    wait_for(lambda: pid not in below(os.getpid()), "end of the Python worker", 10)
    assert len(list(folder.glob(f"{marker.name.rsplit('-', 1)[0]}-*"))) > 1  # the same task, again
    if machines is not None:
        wait_for(lambda: len(machines.executors()) == 2, "executor in place of the killed one")


@CLUSTER
@pytest.mark.parametrize("victim", ["executor", pytest.param("python", marks=SLOW)])
def test_a_kill_in_the_last_pass_costs_time_only(place, path, tmp_path, victim):
    check_survives(place, path, tmp_path, victim, uniform(halting(tmp_path)))


@SLOW
@CLUSTER
@pytest.mark.parametrize("victim", ["executor", "python"])
@pytest.mark.parametrize("halt_at", [halt_first_pass, halt_merging])
def test_a_kill_earlier_or_later_costs_time_only(place, path, tmp_path, victim, halt_at, monkeypatch):
    halt_at(monkeypatch, halting(tmp_path))
    check_survives(place, path, tmp_path, victim, uniform(lambda: None))


@SLOW
@LOCAL
def test_a_killed_python_worker_costs_time_only_on_one_machine_too(place, path, tmp_path):
    check_survives(place, path, tmp_path, "python", uniform(halting(tmp_path)))


@SLOW
@CLUSTER
def test_many_candidates_groups_and_files_on_a_cluster(place, tmp_path, run):
    run("synth", "logs", "--rows", "20k", "--files", 5, "--groups", "2k", "--targets", 2)
    targets = {name: name for name in ("target", "target_2")}
    frame = place[0].read.parquet(str(tmp_path / "logs"))
    found, expected = (
        cf.evaluate(cf.LogScan(log, ignore=list(targets)), targets, "paper", engine=where)
        for log, where in ((frame, "spark"), (tmp_path / "logs", "local"))
    )
    for name in targets:
        check_same(found[name], expected[name])
