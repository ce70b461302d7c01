"""Whether two versions of the package give the same answers, to the last digit, and the same errors.

    python benchmarks/same_answers record OLD.json
    python benchmarks/same_answers record NEW.json
    python benchmarks/same_answers compare OLD.json NEW.json

`record` runs every case with the counterfold that Python imports, through its public names and its command line alone,
so that it runs unchanged on any version. `compare` lists every difference, and exits with 1 if there is any; what only
the second file says of a case is counted and allowed.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "COLUMNS": "160", "PYSPARK_PYTHON": sys.executable}
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import counterfold as cf
from same_answers import errors, files, memory, questions

SECTIONS = {
    "selectors": memory.answers_by_selector,
    "intervals": memory.answers_by_interval,
    "models": memory.answers_by_model,
    "kinds": memory.answers_by_kind,
    "files": files.answers_of_files,
    "commands": files.answers_of_commands,
    "bad logs": errors.errors_in_memory,
    "bad files": errors.errors_of_files,
    "bad questions": questions.errors_of_questions,
    "spark": files.answers_on_spark,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record", help="run all cases and write what they say")
    recording.add_argument("file", type=Path)
    recording.add_argument("--no-spark", action="store_true", help="leave out the cases that need Java")
    recording.set_defaults(run=lambda given: record(given.file.resolve(), spark=not given.no_spark))
    comparing = commands.add_parser("compare", help="list the differences of two such files")
    comparing.add_argument("files", type=Path, nargs=2)
    comparing.set_defaults(run=lambda given: compare(*(json.loads(one.read_text()) for one in given.files)))
    given = parser.parse_args()
    sys.exit(given.run(given))


def record(path, *, spark):
    """Run all cases in an empty folder and write what they say, by name."""
    os.environ["PYTHONPATH"] = str(Path(cf.__file__).resolve().parents[1])  # Spark's workers start in another folder
    found, slow = {}, []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for section, listed in SECTIONS.items():
            start = time.perf_counter()
            for name, run in listed() if spark or section != "spark" else ():
                before = time.perf_counter()
                label = f"{section}: {name}"
                if label in found:
                    raise ValueError(f"the names of cases must differ, got {label!r} twice.")
                text = json.dumps(outcome(run), default=plain)
                found[label] = json.loads(text.replace(str(Path(folder).resolve()), "FOLDER"))
                slow.append((time.perf_counter() - before, label))
            print(f"{section}: {time.perf_counter() - start:.1f} s")
        os.chdir(path.parent)
    path.write_text(json.dumps(found, indent=1))
    print(f"{len(found)} cases of {cf.__file__}; {sum('error' in one for one in found.values())} of them are errors.")
    print("The slowest:", *(f"{seconds:.1f} s {label}" for seconds, label in sorted(slow)[-5:]), sep="\n  ")


def outcome(run):
    """Return what a case says: its answer and the warnings about support, or else its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            said = {"answer": told(run())}
        except Exception as error:  # noqa: BLE001 (whatever is raised must stay the same)
            said = {"error": type(error).__name__, "message": str(error)}
    return said | {"warnings": [str(one.message) for one in caught if issubclass(one.category, cf.SupportWarning)]}


def told(found):
    """Return all that a result tells as what JSON can hold."""
    if isinstance(found, cf.Evaluation):
        parts = {"estimate": found.estimate, "gap": found.uplift(), "logged": found.logged, "bounds": found.interval}
        texts = {"repr": repr(found), "estimator": repr(found.estimator)}
        return {"to_dict": found.to_dict(), "stderr": found.stderr, **texts, **told(parts)}
    if isinstance(found, cf.Estimate):
        kept = found.contributions
        ends = {
            "first": kept[:3].tolist(),
            "last": float(kept[-1]),
            "count": len(kept),
            "interval": found.interval(0.9),
        }
        return {"name": found.name, "value": found.value, "stderr": found.stderr, **ends}
    if isinstance(found, cf.Log):
        return {"repr": repr(found), "actions": [*map(str, found.actions)], "names": found.context_names}
    if isinstance(found, Mapping):
        return {str(name): told(one) for name, one in found.items()}
    return [told(one) for one in found] if isinstance(found, (list, tuple)) else found


def plain(value):
    """Return a number of numpy as one of Python, and anything else as text."""
    return value.item() if isinstance(value, np.generic) else repr(value)


def compare(old, new):
    """Print every difference and return the exit code."""
    different = {}
    more = [f"{name} is new" for name in new if name not in old]
    for name, said in old.items():
        lines = list(differences(said, new[name], "", more)) if name in new else ["is missing"]
        if lines:
            different[name] = lines
    for name, lines in different.items():
        print(name, *lines, sep="\n  ")
    print(f"{len(old)} cases, {len(old) - len(different)} equal, {len(different)} different; {len(more)} new entries.")
    return 1 if different else 0


def differences(old, new, place, more):
    """Yield a line for each difference; what only `new` has is added to `more`."""
    if isinstance(old, dict) and isinstance(new, dict):
        more += [f"{place}.{name}" for name in new if name not in old]
        for name, one in old.items():
            if name not in new:
                yield f"{place}.{name} is missing, was {one!r}"
            elif name == "reasons":
                yield from differences(sorted(one), sorted(new[name]), f"{place}.{name}", more)
            else:
                yield from differences(one, new[name], f"{place}.{name}", more)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, f"{place}[{number}]", more)
    elif repr(old) != repr(new):  # NaN is itself here, and 1 is not 1.0
        yield f"{place}: {old!r} became {new!r}"


if __name__ == "__main__":
    main()
