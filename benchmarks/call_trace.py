"""How much code one call enters: functions, classes, files, and how deep frames of the package are nested.

    python benchmarks/call_trace.py

The call is `cf.evaluate("logs.parquet", "new_policy", action="item_id", reward="click")` on a small file, in memory
and by the local engine. `before an estimate` counts what is entered before the first estimator computes anything.
Definitions at import (classes, module bodies, comprehensions) do not count.
"""

import argparse
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import counterfold as cf

SOURCE = Path(cf.__file__).parent
IGNORED = {"<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"}


@dataclass
class Trace:
    """What was entered so far."""

    functions: set = field(default_factory=set)
    files: set = field(default_factory=set)
    files_before_estimate: set | None = None
    depth: int = 0
    deepest: list = field(default_factory=list)

    def profile(self, frame, event, _argument):
        """Note a function of the package that is called, as `sys.setprofile` asks."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(SOURCE)) or code.co_name in IGNORED:
            return
        path = str(Path(code.co_filename).relative_to(SOURCE))
        if code.co_name == code.co_qualname and code.co_name[:1].isupper():  # the body of a class
            return
        if self.files_before_estimate is None and path.startswith("estimators/") and code.co_name == "contributions":
            self.files_before_estimate = set(self.files)
        self.functions.add((path, code.co_qualname))
        self.files.add(path)
        nested = list_frames(frame)
        if len(nested) > self.depth:
            self.depth = len(nested)
            self.deepest = nested

    def count_classes(self):
        """Return the number of classes whose methods were called."""
        return len({(path, name.rpartition(".")[0]) for path, name in self.functions if "." in name})


def list_frames(frame):
    """Return the functions of the package that a frame is nested in, the outermost first."""
    names = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(str(SOURCE)) and code.co_name not in IGNORED:
            names.append(f"{Path(code.co_filename).relative_to(SOURCE)}:{code.co_qualname}")
        frame = frame.f_back
    return names[::-1]


def write_log(path):
    """Write a small log with a context, propensities and the probabilities of a new policy."""
    rng = np.random.default_rng(0)
    rows = 2000
    age = rng.integers(18, 80, rows)
    probs = rng.dirichlet(np.ones(3), rows)
    new_probs = rng.dirichlet(np.ones(3), rows)
    item = np.array([rng.choice(3, p=row) for row in probs])
    columns = {
        "item_id": np.array(["a", "b", "c"])[item],
        "click": (rng.random(rows) < 0.1 + 0.1 * (item == age % 3)).astype(float),
        "propensity": probs[np.arange(rows), item],
        "age": age,
        "device": np.array(["phone", "desktop"])[rng.integers(2, size=rows)],
        "new_policy": [dict(zip("abc", row.tolist(), strict=True)) for row in new_probs],
    }
    pq.write_table(pa.table(columns), path)


def trace(path, engine):
    """Return what an evaluation enters; a first call has imported everything."""

    def call():
        return cf.evaluate(
            str(path), "new_policy", action="item_id", reward="click", engine=engine, threads=1, progress=False
        )

    call()
    found = Trace()
    threading.setprofile(found.profile)
    sys.setprofile(found.profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deepest", action="store_true", help="show the deepest nesting of frames")
    options = parser.parse_args()
    print("| engine | functions | classes | files | files before an estimate | depth |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "logs.parquet"
        write_log(path)
        for engine in ("memory", "local"):
            found = trace(path, engine)
            before = len(found.files_before_estimate or ())
            counts = f"{len(found.functions)} | {found.count_classes()} | {len(found.files)} | {before} | {found.depth}"
            print(f"| {engine} | {counts} |")
            if options.deepest:
                print("\n".join(found.deepest))


if __name__ == "__main__":
    main()
