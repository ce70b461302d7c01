"""Every estimator, found by walking the folder: one estimate against its formula as a naive loop, in the same run.

Both get the same predictions, so that what is measured is the formula and not the reward model; ours starts from fresh
rows, with nothing computed yet.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from counterfold.base import registry

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import problems
import reference


def seconds(function):
    """Return the time of one call, the best of a few."""
    times = []
    while len(times) < 5 and sum(times) < 2:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def example(name, rows, actions):
    """Return the data that the naive loop takes, its predictions, and the package's rows of both."""
    if name in reference.OF_DOSES:
        data = reference.random_doses(0, rows=rows)
        q = reference.ridge_on_dose(data, 1e-3)
        return data, q, problems.dose_rows(data, q)
    data = reference.random_data(0, rows=rows, actions=actions)
    q = reference.ridge(data, 1e-3)
    return data, q, problems.rows_of(data, q)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5000, metavar="N")
    parser.add_argument("--actions", type=int, default=10, metavar="N")
    options = parser.parse_args()
    table = Table("estimator", "naive loop", "ours", "ratio", "largest difference")
    for name in registry.names("estimators"):
        formula, parameters = reference.FORMULAS[name]
        data, q, rows = example(name, options.rows, options.actions)
        estimator = registry.find("estimators", name)(**parameters)
        naive = seconds(lambda: formula(data, q, **parameters))  # noqa: B023 (called at once)
        ours = seconds(lambda: estimator.contributions(rows.take(slice(None))))  # noqa: B023 (called at once)
        gap = np.abs(np.subtract(formula(data, q, **parameters), estimator.contributions(rows))).max()
        table.add_row(name, f"{1e3 * naive:.1f} ms", f"{1e3 * ours:.3f} ms", f"{naive / ours:.0f}", f"{gap:.1e}")
    Console().print(table)


if __name__ == "__main__":
    main()
