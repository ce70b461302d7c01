"""Runs entries in worker processes: one that dies or hangs is seen as such, and a fresh worker goes on."""

import json
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress

from torture.children import make_environment

START = 60
"""How many seconds a worker may take to import everything."""


SLOW = {"spark": 120, "process": 60}
"""How many seconds some ways may take whatever the entry: Java starts slowly, and so do processes on busy cores."""


class Worker:
    """A worker process that is started when it is needed, and again after it was lost."""

    def __init__(self, *, is_limited=True):
        self.options = [] if is_limited else ["--unlimited"]
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Start the process, and wait until it has imported everything."""
        self.said = tempfile.TemporaryFile()  # noqa: SIM115 it is read after the process died
        command = [sys.executable, "-m", "torture.worker", *self.options]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self.said, env=make_environment())
        ready, _, _ = select.select([self.process.stdout], [], [], START)
        if not ready or self.process.stdout.readline() != b"ready\n":
            text = self.describe_death()["text"] if ready else f"no worker is ready after {START} seconds"
            raise RuntimeError(text)

    def stop(self):
        """End the process and wait for it."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.said.close()
            self.process = None

    def ask(self, name, way, seconds):
        """Return how an entry ended in one way, within some seconds."""
        if self.process is None:
            self.start()
        with suppress(BrokenPipeError):  # a process that is gone is seen below
            self.process.stdin.write(json.dumps([name, way]).encode() + b"\n")
            self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else b""
        if line:
            return json.loads(line)
        ending = self.describe_death() if ready else {"end": "hung", "text": f"no answer within {seconds} seconds"}
        self.stop()
        return ending

    def describe_death(self):
        """Return what is known of a process that has died."""
        code = self.process.wait()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self.said.seek(0)
        return {
            "end": "crashed",
            "text": f"the process died by {how}: {self.said.read()[-1500:].decode(errors='replace')}",
        }


def run_entry(worker, one, ways):
    """Return how an entry ended in each of some ways."""
    return {way: worker.ask(one.name, way, max(one.seconds, SLOW.get(way, 0))) for way in ways if way in one.ways}
