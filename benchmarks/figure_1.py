"""One full run of the paper's Figure 1 without PAS-IF on all nine datasets: ours against the naive loop, in one run.

The policies are fitted before the clock starts, as both sides need them. Ours is `counterfold paper figure1`'s work on
one thread: IPS, DM, DR, OCV_IPS, OCV_DR and SLOPE. The naive loop is Algorithm 1 of the tests for both validators.
Needs the datasets as files, by default beside the project, else where COUNTERFOLD_DATASETS says.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from counterfold.base.threads import limit_blas
from counterfold_lab.paper.datasets import NAMES
from counterfold_lab.paper.experiment import PaperExperiment, PaperTask

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
import reference

DATASETS = Path(os.environ.get("COUNTERFOLD_DATASETS", Path(__file__).parents[2] / "shared" / "datasets"))
THREE = [reference.FORMULAS[name] for name in ("ips", "dr", "dm")]


def naive(problem, orders):
    """Return what the naive loop chooses with IPS and with DR as validator."""
    log = problem.log
    data = reference.Data(log.context, log.action, log.reward, log.logging_probs, problem.target)
    for validator in ("ips", "dr"):
        losses = reference.algorithm_1(data, THREE, reference.FORMULAS[validator], orders, 1e-3)
        yield ["IPS", "DR", "DM"][int(np.argmin(reference.scores(losses, "standard_error")))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=NAMES, metavar="NAME")
    table = Table("dataset", "rows", "naive loop", "ours", "ratio", "same choices")
    with tempfile.TemporaryDirectory() as folder:
        experiment = PaperExperiment("figure1", data=DATASETS, fits=Path(folder))
        total = np.zeros(2)
        for dataset in parser.parse_args().datasets:
            task = PaperTask(dataset, 1.0, 10.0)
            problem = experiment.draw_problem(task)
            start = time.perf_counter()
            with limit_blas():
                found = {row["method"]: row["chosen"] for row in experiment.try_methods(problem, task)}
            middle = time.perf_counter()
            draw = np.random.default_rng(0)
            orders = [draw.permutation(len(problem.log)) for _ in range(10)]
            same = list(naive(problem, orders)) == [found["OCV_IPS"], found["OCV_DR"]]
            spent = np.array([time.perf_counter() - middle, middle - start])
            total += spent
            row = f"{spent[0]:.1f} s", f"{spent[1]:.3f} s", f"{spent[0] / spent[1]:.0f}", "yes" if same else "no"
            table.add_row(dataset, str(len(problem.log)), *row)
    table.add_row("all", "", f"{total[0]:.1f} s", f"{total[1]:.3f} s", f"{total[0] / total[1]:.0f}", "")
    Console().print(table)


if __name__ == "__main__":
    main()
