"""How wide intervals of 95 % are where rewards are 0 or 1, and often rare, and how many of them hold the truth.

IPS on development problems of `counterfold bench selection` (of `--problems` of the families `binary` and `sparse`,
every third), and on `replay`: rewards of one in a hundred, a logger that takes each of five actions equally often and a
target that takes one, so that all weights are 0 or 5. The largest weight is what both policies allow in the contexts of
the log. Widths are medians, and last as multiples of the width of `skewed-t`, which promises nothing.
"""

import argparse
import math

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import counterfold as cf
from counterfold_lab.selection.bandits import Bandit, draw_bandit
from counterfold_lab.selection.experiment import list_tasks

REPLAY = Bandit(rows=3000, reward="sparse", logging_beta=0.0, target_beta=math.inf)
CASES = {"binary": None, "sparse": None, "replay": REPLAY}


def list_methods(largest):
    """Return every method that is compared, by its name."""
    return {
        "betting-bound": cf.BettingBound(0.0, 1.0, largest),
        "betting-bound, no largest weight": cf.BettingBound(0.0, 1.0),
        "log-bound": cf.LogBound(0.0, 1.0),
        "empirical-bernstein": cf.EmpiricalBernstein(0.0, largest),
        "skewed-t": cf.SkewedT(),
        "normal": cf.Normal(),
    }


def measure(case, number):
    """Return whether each interval holds the truth of a problem, and how wide it is, by the method."""
    bandit = CASES[case] or draw_bandit(case, number)
    problem = bandit.draw_problem(number)
    estimate = cf.estimate(problem.log, problem.target, cf.IPS())
    largest = float((problem.target / problem.log.logging_probs).max())
    found = {name: estimate.interval(0.95, method) for name, method in list_methods(largest).items()}
    return {name: (low <= problem.truth <= high, high - low) for name, (low, high) in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=300, metavar="N")
    numbers = [task.number for task in list_tasks(["binary"], parser.parse_args().problems, "development")]
    found = {case: [measure(case, number) for number in track(numbers, description=case)] for case in CASES}
    table = Table("interval", *CASES)
    for method in list_methods(1.0):
        cells = []
        for lines in found.values():
            covered, widths = np.transpose([line[method] for line in lines])
            ratio = np.median(widths / [line["skewed-t"][1] for line in lines])
            cells.append(f"{covered.mean():.1%}  {np.median(widths):.4f}  {ratio:.2f}")
        table.add_row(method, *cells)
    console = Console(width=120)
    console.print(f"{len(numbers)} problems each: share that holds the truth, median width, multiple of skewed-t's")
    console.print(table)


if __name__ == "__main__":
    main()
