"""Runs the cases of benchmarks/same_answers and writes what each of them says."""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, is_dataclass
from pathlib import Path

import numpy as np

from same_answers import sections

ENVIRONMENT = {"OMP_NUM_THREADS": "1", "COLUMNS": "160", "TERM": "dumb", "PYSPARK_PYTHON": sys.executable}

N_SLOWEST = 8
"""How many of the slowest cases are printed."""


def record(path, names, jobs, threads):
    """Run sections, each in a process of its own, and write what all of their cases say."""
    environment = os.environ | ENVIRONMENT
    if threads is not None:
        environment["SAME_ANSWERS_THREADS"] = str(threads)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max_workers=jobs) as pool:
        files = [Path(folder, f"{number}.json") for number in range(len(names))]
        runs = [pool.submit(run_section, name, file, environment) for name, file in zip(names, files, strict=True)]
        codes = [run.result() for run in runs]
        recorded = [json.loads(file.read_text()) for file in files if file.exists()]
    cases = {}
    seconds = {}
    for section in recorded:
        cases |= section["cases"]
        seconds |= section["seconds"]
    path.write_text(json.dumps(cases, indent=1))

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    n_errors = sum("error" in case for case in cases.values())
    print(f"{len(cases)} cases, {n_errors} of them errors; {used.ru_utime + used.ru_stime:.0f} s of processor time.")
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[:N_SLOWEST]
    print("The slowest:", *(f"{spent:.1f} s {label}" for label, spent in slowest), sep="\n  ")
    broken = [name for name, code in zip(names, codes, strict=True) if code != 0]
    if broken:
        print("Sections that did not end:", *broken, sep="\n  ")
    return 1 if broken else 0


def run_section(name, file, environment):
    """Run one section in another process and return its exit code."""
    folder = Path(__file__).parent
    done = subprocess.run([sys.executable, folder, "section", name, file], env=environment, check=False)  # noqa: S603 (this very file)
    return done.returncode


def record_section(name, path):
    """Run the cases of one section in an empty folder and write what they say, by their names."""
    import counterfold as cf

    source = Path(cf.__file__).resolve().parents[1]
    os.environ["PYTHONPATH"] = str(source)  # processes that cases start are in another folder
    start = time.process_time()
    cases = {}
    seconds = {}
    code = 0
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder).resolve()
        os.chdir(folder)
        try:
            for case, run in sections.list_cases(name):
                label = f"{name}: {case}"
                if label in cases:
                    raise ValueError(f"the names of cases must differ, got {label!r} twice.")  # noqa: TRY301
                before = time.process_time()
                cases[label] = normalise(run_case(run), folder, source)
                seconds[label] = time.process_time() - before
                os.chdir(folder)
        except Exception:  # noqa: BLE001 (what was recorded before is kept, and the exit code tells)
            traceback.print_exc()
            code = 1
        os.chdir(path.parent)
    path.write_text(json.dumps({"cases": cases, "seconds": seconds}))
    print(f"{name}: {len(cases)} cases, {time.process_time() - start:.1f} s", flush=True)
    return code


def run_case(run):
    """Return what a case says: its answer and the warnings about support, or else its error."""
    import counterfold as cf
    from same_answers import describing

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            said = {"answer": describing.describe(run())}
        except Exception as error:  # noqa: BLE001 (whatever is raised must stay the same)
            said = {"error": type(error).__name__, "message": str(error)}
    messages = [str(warning.message) for warning in caught if issubclass(warning.category, cf.SupportWarning)]
    return said | {"warnings": messages}


def normalise(said, folder, source):
    """Return what JSON keeps of a case, without what is of one run, one machine or one version."""
    places = {str(folder): "FOLDER", str(source): "SOURCE", str(Path.home()): "HOME"}
    places[f".{os.getpid()}."] = ".PROCESS."  # in the names of drafts of files
    return replace_passing(json.loads(json.dumps(said, default=make_plain)), places)


def replace_passing(part, places):
    """Return a part of a case in which other texts stand for places, and for what `PASSING` finds."""
    if isinstance(part, dict):
        return {replace_passing(name, places): replace_passing(one, places) for name, one in part.items()}
    if isinstance(part, list):
        return [replace_passing(one, places) for one in part]
    if not isinstance(part, str):
        return part
    for place, name in places.items():
        part = part.replace(place, name)
    for pattern, name in PASSING:
        part = pattern.sub(name, part)
    return part


PASSING = [
    (re.compile(r"/tmp/[\w./-]+"), "TEMPORARY"),  # noqa: S108 (it is searched for, not written)
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "ADDRESS"),
    (re.compile(r"\d+\.\d+ [GM]iB of memory\b"), "MEMORY of memory"),  # what this machine has
    (re.compile(r"(can't encode characters? in position) [\d-]+"), r"\1 PLACE"),  # in the name of a draft
    (re.compile(r" --threads \d+"), ""),  # of `record --threads`, in commands that reports repeat
    (re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d UTC\b"), "NOW"),
    (re.compile(r"\bcounterfold \d+\.\d+[\w.+]*"), "counterfold VERSION"),
    (re.compile(r"^([\w-]+)\n\d+\.\d+\.\d+\S*$", re.MULTILINE), r"\1\nVERSION"),  # two lines of a report
]
"""What differs from run to run, machine to machine or version to version, and what takes its place."""


def make_plain(value):
    """Return a number of numpy as one of Python, and anything else that JSON does not know as a list or a text."""
    if isinstance(value, np.generic):
        return value.item() if not isinstance(value, np.datetime64 | np.timedelta64) else str(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return repr(value)
