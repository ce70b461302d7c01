"""What the Spark engine relies on, shown with a toy of its shape: partial sums by partition, merged by one task."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

from cluster import below, cluster, kill, missing, session, wait_for

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]
ROWS, PARTS, SHAPE = 8_000, 4, (1_000, 200)
SCHEMA = "key int, sums binary"


@pytest.fixture(scope="module", params=["local", "cluster"])
def spark(request):
    """Return a session, and the cluster it runs on, if any."""
    if request.param == "local":
        with session("local[2,4]") as made:
            yield made, None
    else:
        with cluster() as machines, session(machines.url) as made:
            yield made, machines


def products():
    """Return a function that sums outer products; it is made here so that it travels by value, not by name."""

    def sums(ids):
        first, second = (np.outer(ids, np.arange(1, size + 1)) % 7 for size in SHAPE)
        return first.astype(float).T @ second.astype(float)

    return sums


def steps(folder, halted=None):
    """Return the two steps of the job; the `halted` one says that it runs and waits for the file `go`."""
    sums, shape, schema = products(), SHAPE, pa.schema([("key", pa.int32()), ("sums", pa.binary())])

    def halt(step):
        from pyspark import TaskContext

        if step == halted:
            task = TaskContext.get()
            (folder / f"{task.partitionId()}-{task.taskAttemptId()}").write_text(str(os.getpid()))
            end = time.monotonic() + 60
            while not (folder / "go").exists():
                if time.monotonic() > end:
                    raise TimeoutError("No `go` within 60 seconds.")
                time.sleep(0.05)

    def row(total):
        return pa.RecordBatch.from_pydict({"key": [0], "sums": [total.tobytes()]}, schema=schema)

    def partial(batches):
        total = np.zeros(shape)
        for batch in batches:
            halt("partial")
            total += sums(batch["id"].to_numpy())
        yield row(total)

    def merge(batches):
        total = np.zeros(shape)
        for batch in batches:
            halt("merge")
            total += sum(np.frombuffer(sums).reshape(shape) for sums in batch["sums"].to_pylist())
        yield row(total)

    return partial, merge


def job(spark, partial, merge):
    partials = spark.range(0, ROWS, 1, PARTS).mapInArrow(partial, SCHEMA)
    [merged] = partials.repartition(1).mapInArrow(merge, SCHEMA).collect()
    return np.frombuffer(merged.sums).reshape(SHAPE)


def executor_of(pid, machines):
    [owner] = [executor for executor in machines.executors() if pid in below(executor)]
    return owner


def check_survives(made, folder, victim_of, halted):
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(job, made, *steps(folder, halted))
        try:
            marker = wait_for(lambda: next(folder.glob("*-*"), None), "task that halts")
            kill(victim_of(int(wait_for(marker.read_text, "id in the marker"))))
        finally:
            (folder / "go").touch()
        np.testing.assert_array_equal(answer.result(120), products()(np.arange(ROWS)))
    partition = marker.name.split("-")[0]
    assert len(list(folder.glob(f"{partition}-*"))) > 1  # not by attempt numbers: they start again in a new stage


def test_sums_by_partition_are_numpy_s(spark, tmp_path):
    np.testing.assert_array_equal(job(spark[0], *steps(tmp_path)), products()(np.arange(ROWS)))


@pytest.mark.parametrize("halted", ["partial", "merge"])
def test_a_killed_python_worker_costs_one_more_attempt(spark, tmp_path, halted):
    check_survives(spark[0], tmp_path, lambda python: python, halted)


@pytest.mark.parametrize("halted", ["partial", "merge"])
def test_a_killed_executor_costs_one_more_attempt(spark, tmp_path, halted):
    made, machines = spark
    if machines is None:
        pytest.skip("a local session is its own executor")
    check_survives(made, tmp_path, lambda python: executor_of(python, machines), halted)
    wait_for(lambda: len(machines.executors()) == 2, "executor in place of the killed one")
