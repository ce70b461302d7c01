"""Evaluations in a process of their own, for files that might end it."""

import subprocess
import sys

EVALUATE = """
import sys, counterfold as cf
for engine in ("memory", "local"):
    try:
        cf.evaluate(sys.argv[1], "target", engine=engine, progress=False)
        print("answered")
    except cf.DataError as error:
        print(error)
"""


def evaluate_apart(path):
    """Return what each engine says of a file, a line each; fail if the process dies."""
    done = subprocess.run([sys.executable, "-c", EVALUATE, path], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()
