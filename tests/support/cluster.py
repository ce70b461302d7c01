"""A Spark cluster of child processes on loopback, whose parts a test can kill by their ids, and sessions on it."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from unittest import mock

from torture import spark
from torture.spark import LOOPBACK

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of Java by which processes that live for a minute take half the time."""
EXECUTOR = "CoarseGrainedExecutorBackend"
DAEMON = "pyspark.daemon"
DAEMON_SETTINGS = "-Dspark.master.rest.enabled=false -Dspark.log.structuredLogging.enabled=false"
SETTINGS = spark.SETTINGS | {
    "spark.executor.memory": "1g",
    "spark.executor.cores": "1",
    "spark.default.parallelism": "4",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.driver.extraJavaOptions": QUICK_START,
    "spark.executor.extraJavaOptions": QUICK_START,
}


def wait_for(found, what, seconds=60):
    """Return the first true value of `found()`, or fail."""
    end = time.monotonic() + seconds
    while not (value := found()):
        if time.monotonic() > end:
            raise TimeoutError(f"No {what} within {seconds} seconds.")
        time.sleep(0.05)
    return value


def processes():
    """Return the parent, the start and the command of each process that runs, by its id."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,stat=,lstart=,args="],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    rows = (line.split(None, 8) for line in listed.stdout.splitlines())
    return {int(r[0]): (int(r[1]), " ".join(r[3:8]), r[8]) for r in rows if len(r) == 9 and r[2][0] != "Z"}


def below(*roots):
    """Return the parent, the start and the command of all that `roots` and their children started, by id."""
    table, family = processes(), set(roots)
    while new := {pid for pid, row in table.items() if row[0] in family} - family:
        family |= new
    return {pid: table[pid] for pid in family - set(roots)}


def pythons(java):
    """Return the ids of the Python daemons of an executor (or of a local session), and of the workers they forked."""
    found = {pid: row[0] for pid, row in below(java).items() if DAEMON in row[2]}
    workers = {pid for pid, parent in found.items() if parent in found}
    return sorted(found.keys() - workers), sorted(workers)


def kill(pid):
    """Kill a process that this one has started, through whichever others, and wait until it is gone."""
    if pid not in below(os.getpid()):
        raise ValueError(f"`pid` must be of a process started here, got {pid}.")
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: pid not in processes(), f"end of process {pid}", 10)


def finish(process):
    """End a process, by force if it does not do so when asked, and wait until it is gone."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)


@dataclass
class Cluster:
    """A master and its workers; the executors they were seen to start end with them."""

    folder: Path
    url: str = ""
    master: subprocess.Popen | None = None
    workers: list = field(default_factory=list)
    seen: set = field(default_factory=set)

    def executors(self):
        """Return the ids of the executors that run, each with the id of its worker."""
        found = below(*(worker.pid for worker in self.workers))
        self.seen |= {(pid, row[1]) for pid, row in found.items()}
        return {pid: row[0] for pid, row in found.items() if EXECUTOR in row[2]}

    def start(self, name, *arguments):
        """Start a part of the cluster that logs to a file of its own."""
        script = Path(find_spec("pyspark").origin).parent / "bin" / "spark-class"
        environment = os.environ | {
            "SPARK_HOME": str(script.parent.parent),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": f"{QUICK_START} {DAEMON_SETTINGS}",
        }
        command = [script, *arguments, "--host", LOOPBACK, "--port", "0", "--webui-port", "0"]
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=self.folder
            )

    def logged(self, name, pattern, process):
        """Wait until a part has logged the pattern, and return the match."""

        def found():
            text = (self.folder / f"{name}.log").read_text(errors="replace")
            if process.poll() is not None:
                raise RuntimeError(f"The {name} ended with code {process.returncode}:\n{text[-2000:]}")
            return re.search(pattern, text)

        return wait_for(found, f"'{pattern}' in the log of the {name}")

    def end(self):
        """End the workers, the master and whatever they started, each by its id."""
        parts = [part for part in (*self.workers, self.master) if part]
        self.executors()
        for part in parts:
            finish(part)
        for pid, started in self.seen:
            if processes().get(pid, (0, ""))[1] == started:
                os.kill(pid, signal.SIGKILL)


@contextmanager
def cluster(workers=2):
    """Run a master and workers of one core each, all bound to loopback only, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="spark-") as folder:
        made = Cluster(Path(folder))
        try:
            made.master = made.start("master", "org.apache.spark.deploy.master.Master")
            made.url = made.logged("master", rf"spark://{LOOPBACK}:\d+", made.master)[0]
            for each in range(workers):
                size = ["--cores", "1", "--memory", "2g", "--work-dir", f"{folder}/work{each}"]
                part = made.start(f"worker{each}", "org.apache.spark.deploy.worker.Worker", made.url, *size)
                made.workers.append(part)
            for each, part in enumerate(made.workers):
                made.logged(f"worker{each}", "Successfully registered with master", part)
            yield made
        finally:
            made.end()


@contextmanager
def session(url="local[2,4]", **settings):
    """Run a session in a Java process of its own, as one that lives on would hand its settings to the next session.

    A name of a setting may have `__` for `.`, as in `spark__executor__memory="2g"`.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    changed = {name.replace("__", "."): str(value) for name, value in settings.items()}
    with mock.patch.dict(os.environ, SPARK_LOCAL_IP=LOOPBACK, PYSPARK_PYTHON=sys.executable):
        os.environ.pop("SPARK_REMOTE", None)
        builder = SparkSession.builder.master(url).appName("counterfold")
        made = builder.config(map=SETTINGS | changed).getOrCreate()
        try:
            yield made
        finally:
            gateway = SparkContext._gateway  # noqa: SLF001
            try:
                made.stop()
            finally:
                gateway.shutdown()
                gateway.proc.stdin.close()
                finish(gateway.proc)
                SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
