"""How often the interval of a difference of two targets holds the true difference, on the bandits of `bench selection`.

The second target is the first one, mixed with a policy that prefers other actions: 1 %, 10 % or all of it; or it is the
log itself. `ratio` is the median of the stated error of the difference to what it would be if the two answers were
independent. Only held problems are used (see docs/selection_benchmark.md), of the seed that is given.
"""

import argparse
import warnings
from dataclasses import replace

import numpy as np
from rich.progress import track

import counterfold as cf
from counterfold_lab.paper.experiment import RUNS_PER_SEED
from counterfold_lab.selection.bandits import CONTEXT_COLUMNS, FAMILIES, draw_bandit
from counterfold_lab.selection.experiment import part_of

MIXED = (0.01, 0.1, 1.0)
LONGEST = 10_000
CONTEXTS = 1 << 17


def draw_targets(bandit, number):
    """Return the problem, the targets by name, and how much more than each of them the first one truly earns."""
    problem = bandit.draw_problem(number)
    rng = np.random.default_rng(number)  # as the problem was drawn
    compute_scores = bandit.draw_scores(rng)
    context = rng.standard_normal((bandit.rows, CONTEXT_COLUMNS))
    other = replace(bandit, target_beta=-bandit.target_beta / 3)
    far = other.target(compute_scores(context)[2])
    gap = problem.truth - other.truth(compute_scores)
    targets = {f"{share:.0%} other": (1 - share) * problem.target + share * far for share in MIXED}
    gaps = {f"{share:.0%} other": share * gap for share in MIXED}
    rewards, liked, wanted = compute_scores(np.random.default_rng(0).standard_normal((CONTEXTS, CONTEXT_COLUMNS)))
    gained = ((bandit.target(wanted) - bandit.logging(liked)) * bandit.means(rewards)).sum(axis=1)
    return problem, targets, gaps | {"the log": float(gained.mean())}


def answer(bandit, number):
    """Yield for every difference whether its interval covers, the ratio of its error, and whether verdicts are good."""
    problem, targets, gaps = draw_targets(bandit, number)
    model = "default" if problem.predictions is None else problem.predictions
    every = {"first": problem.target, "same": problem.target.copy(), **targets}
    results = cf.evaluate(problem.log, every, reward_model=model, progress=False)
    first = results["first"]
    same = first.uplift(results["same"])
    if (same.value, same.stderr, *same.interval()) != (0.0, 0.0, 0.0, 0.0):
        raise AssertionError("the difference of equal targets must be exactly 0")
    for name, gap in gaps.items():
        other = results.get(name)
        found = first.uplift(other)
        low, high = found.interval()
        apart = np.hypot(first.stderr, first.logged.stderr if other is None else other.stderr)
        good = {one.diagnostics.verdict for one in (first, other or first)} == {"good"}
        yield name, low <= gap <= high, found.stderr / apart, good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=60, metavar="N", help="per family")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    options = parser.parse_args()
    warnings.simplefilter("ignore", cf.SupportWarning)
    found = {}
    numbers = [number for number in range(options.problems) if part_of(number) == "held"]
    for family in FAMILIES:
        for number in track(numbers, description=family):
            seed = number + RUNS_PER_SEED * options.seed
            bandit = draw_bandit(family, seed)
            if bandit.rows <= LONGEST and bandit.actions <= 20 and family != "misread propensities":
                for name, covered, ratio, good in answer(bandit, seed):
                    found.setdefault(name, []).append((covered, ratio, good))
    print("| the other target | differences | covered | verdict good | covered | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, lines in found.items():
        covered, ratio, good = map(np.array, zip(*lines, strict=True))
        counts = f"{len(covered)} | {covered.mean():.1%} | {good.sum()} | {covered[good].mean():.1%}"
        print(f"| {name} | {counts} | {np.median(ratio):.3f} |")


if __name__ == "__main__":
    main()
