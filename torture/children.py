"""Child processes with the paths of this checkout, and a time limit that ends them and all that they started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def make_environment(**more):
    """Return the environment of a child: it finds this checkout, and BLAS has one thread."""
    paths = [str(ROOT), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "COLUMNS": "400"} | more


def start(arguments, python=sys.executable, **settings):
    """Start Python with these arguments, as the leader of a group of processes of its own."""
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace"} | settings
    return subprocess.Popen([python, *map(str, arguments)], env=make_environment(), start_new_session=True, **given)


def finish(process, seconds):
    """Return the exit code and what was printed; None is the code of a process that took longer, and was ended."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, *kill(process)
    return process.returncode, out, err


def kill(process):
    """Kill a process that was started here, and its own children, at once, and return what it had printed."""
    os.killpg(process.pid, signal.SIGKILL)
    return process.communicate()
