"""Commands that write are killed at random times and started again: the result must be as if nothing had happened.

`synth`, `bench selection` and, where the paper's datasets are at hand, `paper figure1` get SIGKILL at random times.
Whatever stands under the final name must be whole, the next start must end well, and what it writes must be the same
as without kills, with nothing left behind beside it but hidden files, which a killed process cannot remove.
"""

import hashlib
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from torture.children import ROOT, finish, kill, start
from torture.outcomes import Result

CODE = "from counterfold.cli import main; main()"
SECONDS = 300
DATASETS = Path(os.environ.get("COUNTERFOLD_DATASETS", ROOT.parent / "shared" / "datasets"))
COMMANDS = {
    "synth": ["synth", "{}/log.parquet", "--rows", "400k", "--threads", "1"],
    "synth in files": ["synth", "{}/log", "--rows", "400k", "--files", "4", "--threads", "1"],
    "bench": [
        *("bench", "selection", "--out", "{}", "--problems", "6", "--families", "binary", "--jobs", "1"),
        *("--training", "10"),
    ],
    "paper": [
        "paper",
        "figure1",
        "--out",
        "{}",
        "--runs",
        "2",
        "--datasets",
        "ecoli",
        "--jobs",
        "1",
        "--data",
        str(DATASETS),
    ],
}
KILLS, FEW = 12, 1


def attack(limits):
    """Yield the result for each command."""
    for name, command in COMMANDS.items():
        is_possible = name != "paper" or (DATASETS / "ecoli.parquet").exists()
        if limits.wants(f"kills/{name}") and is_possible and (not limits.is_quick or name == "synth"):
            with tempfile.TemporaryDirectory(prefix="torture-") as folder:
                yield compare(f"kills/{name}", command, Path(folder), FEW if limits.is_quick else KILLS)


def run(command, folder):
    """Run a command to its end, and return its code, what it said, and how long it took."""
    begin = time.monotonic()
    code, _, err = finish(start(["-c", CODE, *(part.format(folder) for part in command)]), SECONDS)
    return code, err, time.monotonic() - begin


def compare(name, command, folder, count):
    """Return whether a command that was killed several times writes the same as one that was not."""
    calm, killed = folder / "calm", folder / "killed"
    calm.mkdir()
    killed.mkdir()
    code, err, seconds = run(command, calm)
    if code != 0:
        return Result(name, "crashed", f"without kills, exit code {code}: {err[-500:]}")
    rng = np.random.default_rng(0)
    for wait in rng.uniform(0.05, 1.0, size=count) * seconds:
        process = start(["-c", CODE, *(part.format(killed) for part in command)])
        time.sleep(wait)
        kill(process)
        broken = find_broken(killed, calm)
        if broken:
            return Result(name, "silent", f"after a kill, {broken}")
    code, err, _ = run([*command, "--force"] if "synth" in command else command, killed)
    if code != 0:
        return Result(name, "crashed", f"after {count} kills, exit code {code}: {err[-500:]}")
    different = find_different(calm, killed)
    return Result(name, "silent" if different else "right", different or f"the same after {count} kills")


def list_files(folder):
    """Return every file by its path within the folder; hidden ones are what a killed process could not remove."""
    names = {str(file.relative_to(folder)): file for file in sorted(folder.rglob("*")) if file.is_file()}
    return {name: file for name, file in names.items() if not name.startswith(".")}


def find_broken(folder, calm):
    """Return a file under a final name that cannot be read, or nothing."""
    for name in list_files(calm).keys() & list_files(folder).keys():
        if name.endswith(".parquet"):
            try:
                pq.ParquetFile(folder / name).close()
            except (OSError, ValueError) as error:
                return f"{name} is broken: {error}"
    return ""


def find_different(calm, killed):
    """Return in what two folders differ, or nothing: tables by what they hold, pictures by their being there."""
    left, right = list_files(calm), list_files(killed)
    if left.keys() != right.keys():
        return f"files {sorted(left.keys() ^ right.keys())} are in one folder only"
    for name, file in left.items():
        if name.endswith(".parquet"):
            if not read_lasting(file).equals(read_lasting(right[name])):
                return f"{name} holds something else"
        elif name.endswith(".csv") and digest(file) != digest(right[name]):
            return f"{name} says something else"
    return ""


def read_lasting(file):
    """Return a table without how long things took."""
    table = pq.read_table(file)
    return table.drop_columns([name for name in table.column_names if "seconds" in name])


def digest(file):
    """Return a hash of what a file holds."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
