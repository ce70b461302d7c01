"""Bias, coverage and squared error of the stated uplift on development problems, family by family.

Numbers are in stated errors of the uplift (half of its interval over 1.96, if that is larger). `bias` is
the mean of how far the uplift is from the truth: positive if it is overstated, negative if it is drawn towards the log.
`shared` is the same of the value less what the log earned, and `squared` the squared error of the uplift relative to
that. Coverage is that of answers with the verdict good, at 2,000 rows and more.
"""

import argparse
import warnings
from dataclasses import replace

import numpy as np
from rich.progress import track
from scipy.stats import norm, qmc

import counterfold as cf
from counterfold_lab.paper.experiment import RUNS_PER_SEED
from counterfold_lab.selection.bandits import CONTEXT_COLUMNS, FAMILIES, draw_bandit
from counterfold_lab.selection.experiment import part_of

SIZES = (300, 2000, 10_000)
LEFT_OUT = {"many rows", "few rows", "misread propensities"}
"""Families that are others with another number of rows, and the one whose propensities are wrong."""

MOST_ACTIONS = 300
NORMAL_95 = 1.96


def find_true_uplift(bandit, seed):
    """Return how much more than the log the target earns, by quasi-random contexts at all times of the log."""
    compute_scores = bandit.draw_scores(np.random.default_rng(seed))
    count = 2 ** int(np.log2(min(2**16, max(2**14, 2**21 // bandit.actions))))
    points = qmc.Sobol(CONTEXT_COLUMNS + 1, scramble=True, rng=np.random.default_rng(0)).random(count)
    in_time = points[np.argsort(points[:, -1])]
    rewards, liked, wanted = compute_scores(norm.ppf(in_time[:, :-1]))
    return float(((bandit.target(wanted) - bandit.logging(liked)) * bandit.means(rewards)).sum(axis=1).mean())


def answer(family, rows, seed):
    """Return what is measured on one log."""
    bandit = replace(draw_bandit(family, seed), rows=rows)
    bandit = replace(bandit, actions=min(bandit.actions, MOST_ACTIONS))
    problem = bandit.draw_problem(seed)
    model = "default" if problem.predictions is None else problem.predictions
    result = cf.evaluate(problem.log, problem.target, reward_model=model, progress=False)
    truth = find_true_uplift(bandit, seed)
    gap = result.uplift()
    low, high = gap.interval()
    error = max(gap.stderr, (high - low) / 2 / NORMAL_95)
    direction = np.sign(truth)
    return {
        "rows": rows,
        "good": result.verdict == "good" and rows >= SIZES[1],
        "bias": direction * (gap.value - truth) / error,
        "shared": direction * (result.value - result.logged.value - truth) / error,
        "covered": low <= truth <= high,
        "above": truth > high,
        "below": truth < low,
    }


def describe(name, lines):
    """Return a line of the table."""
    good = [line for line in lines if line["good"]]
    bias, shared = (np.array([line[key] for line in lines]) for key in ("bias", "shared"))
    squared = np.mean(bias**2) / np.mean(shared**2)
    covered = np.mean([line["covered"] for line in good]) if good else np.nan
    missed = [sum(line[side] for line in good) for side in ("above", "below")]
    numbers = f"{len(lines)} | {bias.mean():+.2f} | {shared.mean():+.2f} | {squared:.2f}"
    return f"| {name} | {numbers} | {len(good)} | {covered:.1%} | {missed[0]} | {missed[1]} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=60, metavar="N", help="per family and number of rows")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--families", nargs="*", default=[one for one in FAMILIES if one not in LEFT_OUT])
    options = parser.parse_args()
    warnings.simplefilter("ignore", cf.SupportWarning)
    numbers = [number for number in range(options.problems) if part_of(number) == "development"]
    found = {}
    for family in options.families:
        for number in track(numbers, description=family):
            seed = number + RUNS_PER_SEED * options.seed
            found.setdefault(family, []).extend(answer(family, rows, seed) for rows in SIZES)
    print("| family | logs | bias | shared | squared | good | covered | truth above | truth below |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for family, lines in found.items():
        print(describe(family, lines))
    print(describe("all", [line for lines in found.values() for line in lines]))


if __name__ == "__main__":
    main()
