"""Spark gives the answers of the local engine after workers were killed, and on a cluster."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import counterfold as cf
from cluster import below, kill, wait_for
from counterfold.engines import spark as engine
from spark_logs import ACTIONS, CLUSTER, LOCAL, MARKS, SLOW, check_same

pytestmark = MARKS


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
    real = engine._make_sum_task  # noqa: SLF001

    def make_sum_task(work, offsets):
        if not any(one.label.startswith("Pass 1 ") for one in work.passes):
            return real(work, offsets)

        def halted(batch):
            halt()
            return work(batch)

        return real(halted, offsets)

    monkeypatch.setattr(engine, "_make_sum_task", make_sum_task)


def halt_merging(monkeypatch, halt):
    real = engine._add_sums  # noqa: SLF001

    def add_sums(batches):
        halt()
        yield from real(batches)

    monkeypatch.setattr(engine, "_add_sums", add_sums)


def executor_of(pid, machines):
    [owner] = [executor for executor in machines.executors() if pid in below(executor)]
    return owner


def check_survives(place, path, folder, victim, target):
    """Kill the Python worker or the executor of a halted task, and require it to run again, and the right answer."""
    made, machines = place
    log, local = (cf.LogScan(one, actions=ACTIONS) for one in (made.read.parquet(str(path)), path))
    expected = cf.evaluate(local, uniform(lambda: None), engine="local")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(cf.evaluate, log, target)
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


@SLOW
@CLUSTER
@pytest.mark.parametrize("victim", ["executor", "python"])
def test_a_kill_in_the_last_pass_costs_time_only(place, path, tmp_path, victim):
    check_survives(place, path, tmp_path, victim, uniform(halting(tmp_path)))


@SLOW
@CLUSTER
@pytest.mark.parametrize("victim", ["executor", "python"])
@pytest.mark.parametrize("halt_at", [halt_first_pass, halt_merging])
def test_a_kill_earlier_or_later_costs_time_only(place, path, tmp_path, victim, halt_at, monkeypatch):
    halt_at(monkeypatch, halting(tmp_path))
    check_survives(place, path, tmp_path, victim, uniform(lambda: None))


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
