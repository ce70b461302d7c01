"""Measurements for benchmarks/scale.py: each in a process of its own, compared ones by turns, kept in a journal.

Machines slow down after heavy work, so what is compared is measured A B C, C B A, A B C ..., and ratios are of medians.
"""

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
SCRIPT = HERE / "workloads.py"
TINY = {"rows": 2000, "actions": 3, "context": 2}
"""The log on which code is run once before it is timed."""

BLAS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")

FROM_FILES = {"read", "evaluate", "spark"}


@dataclass(frozen=True)
class Group:
    """Pieces of work to compare, by label; ratios are to the one named `against`, if any."""

    title: str
    works: dict
    against: str | None = None
    repeats: int = 5


@dataclass
class Bench:
    """Where logs and the journal are, and what was measured before: by the same code, so that a restart goes on."""

    folder: Path
    say: callable = print
    known: dict = field(default_factory=dict)

    def __post_init__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.journal, self.code = self.folder / "measured.jsonl", fingerprint()
        if self.journal.exists():
            for line in self.journal.read_text().splitlines():
                record = json.loads(line)
                self.known[record["key"]] = record["result"]
        self.made(TINY)

    def made(self, log):
        """Write a log, unless it is there, and return its size."""
        return run(self.folder, {"kind": "make", "log": log})["bytes"]

    def group(self, group):
        """Return a group's lines, measured by turns."""
        logs = {json.dumps(work["log"]): work["log"] for work in group.works.values() if work["kind"] in FROM_FILES}
        sizes = {key: self.made(log) for key, log in logs.items()}
        found = {label: [] for label in group.works}
        for turn in range(group.repeats):
            for label in list(group.works)[:: -1 if turn % 2 else 1]:
                found[label].append(
                    self.measured(group.works[label], f"{group.title}, {label}", f"{turn + 1}/{group.repeats}")
                )
        base = median(one["seconds"] for one in found[group.against]) if group.against else None
        lines = [line_of(label, group.works[label], results, base) for label, results in found.items()]
        for line in lines:
            line["bytes"] = sizes.get(json.dumps(line["work"].get("log")))
        return {"title": group.title, "against": group.against, "lines": lines}

    def measured(self, work, label, turn):
        """Return one measurement, from the journal or else from a new process.

        The same work in another group is measured again, by turns with what it is compared with there.
        """
        key = f"{self.code} {label} {turn} {json.dumps(work, sort_keys=True)}"
        if key not in self.known:
            self.known[key] = run(self.folder, work)
            with self.journal.open("a") as file:
                file.write(json.dumps({"key": key, "result": self.known[key]}) + "\n")
        one = self.known[key]
        self.say(f"{label}: {one['seconds']:.3g} s, {one['peak_mib']:.0f} MiB")
        return one


def run(folder, work):
    """Do one piece of work in a new process, with BLAS on one thread as in the library.

    OMP_NUM_THREADS is taken away: pyarrow, which reads files, would heed it, too.
    """
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"} | BLAS
    command = [sys.executable, str(SCRIPT), str(folder), json.dumps(work)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 (our own command)
    if done.returncode:
        raise RuntimeError(f"{work} ended with code {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def line_of(label, work, results, base):
    """Return what is known of one of the compared."""
    seconds = sorted(one["seconds"] for one in results)
    facts = {name: value for name, value in results[0].items() if name not in {"seconds", "peak_mib"}}
    if "session_seconds" in facts:
        facts["session_seconds"] = median(one["session_seconds"] for one in results)
    return {
        "label": label,
        "work": work,
        **facts,
        "low": seconds[0],
        "seconds": median(seconds),
        "high": seconds[-1],
        "repeats": len(seconds),
        "peak_mib": max(one["peak_mib"] for one in results),
        "ratio": None if base is None else median(seconds) / base,
    }


def fingerprint():
    """Return a hash of the code that is measured."""
    digest, package = blake2b(digest_size=8), Path(find_spec("counterfold").origin).parent
    formulas = HERE.parent / "tests" / "support" / "reference"
    sources = [*sorted(package.rglob("*.py")), SCRIPT, HERE / "naive_loop.py", *sorted(formulas.glob("*.py"))]
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()


def machine():
    """Return what the machine is and what runs on it; nothing that tells whose it is."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "python": platform.python_version(),
    } | {name: version(name) for name in ("numpy", "pyarrow", "scikit-learn")}
