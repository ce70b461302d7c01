"""Mutated inputs for every reader, guided by the code that they reach, for a bounded time.

atheris mutates small valid files of each format and keeps those that reach new code of counterfold; where it is not
installed, hypothesis draws the mutations. Each input is evaluated in memory and by local. Whatever is no refusal and
no answer is a finding; it is saved as a file, and goes to `tests/torture/found/` once it is fixed, where the
catalogue finds it. `--minutes` says how long each reader is fuzzed.
"""

import os
import shutil
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from torture.children import ROOT, finish, start
from torture.outcomes import Result

READERS = ("csv", "csv.gz", "jsonl", "parquet", "arrow", "dsjson", "vw")
QUICK = ("csv", "jsonl")
FINDINGS = ROOT / "build" / "torture"
"""Where findings are saved; the folder is not tracked."""

PYTHON = os.environ.get("TORTURE_FUZZER", sys.executable)
"""The Python that fuzzes: one that has atheris, if there is such."""

HANG = 60
"""How many seconds more than planned a fuzzer may take before it hangs."""


def attack(limits):
    """Yield the result of each reader."""
    seconds = 3 if limits.is_quick else 60 * limits.minutes
    wanted = [kind for kind in (QUICK if limits.is_quick else READERS) if limits.wants(f"fuzz/{kind}")]
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        for results in executor.map(lambda kind: list(fuzz(kind, seconds)), wanted):
            yield from results


def fuzz(kind, seconds):
    """Yield how a reader stood the time, and each finding; a process that dies is a finding, and another goes on."""
    end, findings, tried = time.monotonic() + seconds, {}, 0
    while time.monotonic() < end - 1:
        with tempfile.TemporaryDirectory(prefix="torture-") as name:
            folder, left = Path(name), end - time.monotonic()
            code, _, err = finish(start(["-m", "torture.fuzzing", kind, left, folder], PYTHON, cwd=folder), left + HANG)
            text = (folder / "tried").read_text() if (folder / "tried").exists() else "0"
            tried, how = tried + int(text.split()[0]), text.partition(" ")[2]
            findings |= {
                file.name: keep(file, file.with_suffix(".txt").read_text()) for file in folder.glob(f"finding-*.{kind}")
            }
            if code != 0:
                findings |= describe_death(kind, folder, code, err)
    measured = {"inputs": str(tried), "guided by": "coverage" if "atheris" in how else "chance"}
    yield Result(f"fuzz/{kind}", "right" if not findings else "crashed", f"{len(findings)} findings", measured)
    for name, (outcome, text) in findings.items():
        yield Result(f"fuzz/{kind}", outcome, f"{name}, {text}")


def keep(file, text):
    """Save a finding where a person finds it, and return what is known of it."""
    FINDINGS.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, FINDINGS / file.name)
    return "crashed", f"saved as {(FINDINGS / file.name).relative_to(ROOT)}: {text}"


def describe_death(kind, folder, code, err):
    """Return the finding of a fuzzer that died or hung on its last input."""
    last, name = folder / "last", f"finding-{abs(code or 0)}-{len(list(FINDINGS.glob('*')))}.{kind}"
    if not last.exists():
        return {"start": ("crashed", f"the fuzzer did not start: {err[-600:]}")}
    how = "hung" if code is None else f"died by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
    _, text = keep(last.rename(folder / name), f"the process {how}: {err[-600:]}")
    return {name: ("hung" if code is None else "crashed", text)}
