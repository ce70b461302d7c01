"""Evaluations in a process of their own, for files that might end it."""

import json
import subprocess
import sys

EVALUATE = """
import json, sys, counterfold as cf

def evaluate(path, engine):
    try:
        cf.evaluate(path, "target", engine=engine, progress=False)
    except cf.DataError as error:
        return str(error)
    return "answered"

for line in sys.stdin:
    print(json.dumps([evaluate(json.loads(line), engine) for engine in ("memory", "local")]), flush=True)
"""


class Child:
    """A process that evaluates one file after another, and is started again after a file has ended it."""

    def __init__(self):
        self.process = None

    def evaluate(self, path):
        """Return what each engine says of a file; fail if the process dies."""
        if self.process is None or self.process.poll() is not None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen([sys.executable, "-c", EVALUATE], stdin=pipe, stdout=pipe, text=True)
        self.process.stdin.write(f"{json.dumps(str(path))}\n")
        self.process.stdin.flush()
        told = self.process.stdout.readline()
        assert told, f"the process died with exit code {self.process.wait()}"
        return json.loads(told)

    def end(self):
        """End the process, if there is one."""
        if self.process is not None:
            self.process.communicate()
