"""A thousand evaluations in one process, after which it must not be larger than before.

Small logs are evaluated in memory and by local in turn, every tenth with all defaults. Over the last 80 % of them
memory may grow by at most 8 KiB per evaluation (the slope of a straight line), and open files not at all; nor may
threads, but for those that fill a pool late, one per core: a pool starts its next thread when all others are busy.
"""

import json
import os

import numpy as np

from torture.children import finish, start
from torture.outcomes import Result

COUNT, FEW, MOST = 1000, 60, 8.0
SECONDS = 900


def attack(limits):
    """Yield the one result."""
    if not limits.wants("soak/evaluations"):
        return
    count = FEW if limits.is_quick else COUNT
    code, out, err = finish(start(["-m", "torture.measured", "soak", count]), SECONDS)
    if code is None:
        yield Result("soak/evaluations", "hung", f"no end within {SECONDS} seconds")
    elif code:
        yield Result("soak/evaluations", "crashed", f"exit code {code}: {err[-800:]}")
    else:
        yield judge(np.array(json.loads(out.splitlines()[-1])["lines"]), is_quick=limits.is_quick)


def judge(lines, *, is_quick):
    """Return whether memory, files and threads are flat; a short run says too little of memory to be judged by it."""
    late = lines[len(lines) // 5 :]
    slope = np.polyfit(np.arange(len(late)), late[:, 0], 1)[0] / 1024
    half = len(late) // 2
    files, threads = (int(late[half:, column].max() - late[:half, column].max()) for column in (1, 2))
    measured = {
        "evaluations": str(len(lines)),
        "KiB per evaluation": f"{slope:.1f}",
        "more files": str(files),
        "more threads": str(threads),
    }
    is_flat = (is_quick or slope <= MOST) and files <= 0 and threads <= (os.cpu_count() or 1)
    return Result("soak/evaluations", "right" if is_flat else "crashed", str(measured), measured)
