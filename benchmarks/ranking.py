"""Ten policies on one log: how well are they ranked, and what does the one that is picked lose?

For the problems of a part of `counterfold bench selection` (of `--problems` of every family, drawn by `--seed`; every
third is for development), ten policies that mix what the logging policy, the target and rewards prefer are valued by
the default, and by SNIPS, DM and DR with the same reward model. Rank correlation is Spearman's; regret is what the best
policy earns more than the one with the highest value, in standard deviations of the rewards. The default also picks by
the lower end of its interval. The last lines have the means over families, and how much larger they are than those of
the default, with two standard errors of this difference.
"""

import argparse
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import norm, qmc, spearmanr

import counterfold as cf
from counterfold.simulation import softmax
from counterfold_lab.paper.experiment import RUNS_PER_SEED
from counterfold_lab.selection.bandits import CONTEXT_COLUMNS, FAMILIES, draw_bandit
from counterfold_lab.selection.experiment import list_tasks

POLICIES, CONTEXTS = 10, 2**13
FIXED = ("SNIPS", "DM", "DR")


def draw_policies(bandit, seed, count=POLICIES, shares=(1.0,)):
    """Return the log, some policies on it, what each is worth, and what the one that logged is worth.

    A policy prefers what a random mixture of the scores does, with one of the `shares`, and else does what was logged.
    """
    problem = bandit.draw_problem(seed)
    compute_scores = bandit.draw_scores(np.random.default_rng(seed))  # the first thing that a problem draws
    rng = np.random.default_rng([seed, 1])
    mixtures = rng.choice([0.5, 1.0, 3.0], size=(count, 1)) * rng.normal(size=(count, 3))
    each = rng.choice(shares, size=count)

    def decide(scores):
        own = [softmax(np.tensordot(mixture, scores, 1)) for mixture in mixtures]
        logging = bandit.logging(scores[1])
        return logging, [(1 - share) * logging + share * one for share, one in zip(each, own, strict=True)]

    points = qmc.Sobol(CONTEXT_COLUMNS, scramble=True, rng=np.random.default_rng(0)).random(CONTEXTS)
    scores = compute_scores(norm.ppf(points))
    means = bandit.means(scores[0])
    logging, policies = decide(scores)
    logged, *truth = (float((policy * means).sum(axis=1).mean()) for policy in [logging, *policies])
    return problem, decide(compute_scores(problem.log.context))[1], np.array(truth), logged


def rank(task):
    """Return the rank correlation and the regret of every way to value policies, on one problem."""
    family, seed = task
    problem, policies, truth, _ = draw_policies(draw_bandit(family, seed), seed)
    targets = {str(number): policy for number, policy in enumerate(policies)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.SupportWarning)
        model = "default" if problem.predictions is None else problem.predictions
        found = cf.evaluate(problem.log, targets, reward_model=model, progress=False).values()
    values = {"default": [one.value for one in found], "default, lower end": [one.interval.low for one in found]}
    for name in FIXED:
        values[name] = [next(line.value for line in one.table if line.name == name) for one in found]
    scale = problem.scale or 1.0
    return family, {
        name: (correlate(several, truth), (truth.max() - truth[np.argmax(several)]) / scale)
        for name, several in values.items()
    }


def correlate(values, truth):
    """Return the rank correlation, which is 0 where all values are equal."""
    return spearmanr(values, truth).statistic if np.ptp(values) > 0 else 0.0


def compare(by_family, name):
    """Return how much larger both measures of a way are than the default's over all families, and two errors of it."""
    apart = [np.subtract(found[name], found["default"]) for found in by_family.values()]
    error = np.sqrt(sum(one.var(axis=0, ddof=1) / len(one) for one in apart if len(one) > 1)) / len(apart)
    return np.mean([one.mean(axis=0) for one in apart], axis=0), 2 * np.broadcast_to(error, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=60, metavar="N")
    parser.add_argument("--part", choices=["development", "held", "all"], default="development")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    given = parser.parse_args()
    listed = list_tasks(list(FAMILIES), given.problems, given.part)
    tasks = [(task.family, RUNS_PER_SEED * given.seed + task.number) for task in listed]
    by_family = defaultdict(lambda: defaultdict(list))
    with ProcessPoolExecutor(given.jobs) as pool:
        for family, found in track(pool.map(rank, tasks, chunksize=2), description="Ranking", total=len(tasks)):
            for name, pair in found.items():
                by_family[family][name].append(pair)
    names = ["default", "default, lower end", *FIXED]
    table = Table("family", *names)
    totals = {name: [np.mean(by_family[family][name], axis=0) for family in by_family] for name in names}
    for place, family in enumerate(by_family):
        table.add_row(family, *(f"{totals[name][place][0]:.3f}  {totals[name][place][1]:.4f}" for name in names))
    table.add_section()
    means = {name: np.mean(totals[name], axis=0) for name in names}
    table.add_row("all families", *(f"{means[name][0]:.3f}  {means[name][1]:.4f}" for name in names))
    apart = {name: compare(by_family, name) for name in names}
    for place, what in enumerate(("correlation, less the default's", "regret, less the default's")):
        table.add_row(what, *(f"{apart[name][0][place]:+.4f} ± {apart[name][1][place]:.4f}" for name in names))
    Console(width=170).print(table)


if __name__ == "__main__":
    main()
