"""How good answers are with fitted propensities, against true ones: `python benchmarks/fitted_propensities.py`.

Every family is a bandit of its own; each run draws a log from it and evaluates the same target twice, with the logging
policy as it was and with one that is fitted. Prints a table: the mean squared error with fitted propensities as a
multiple of that with true ones, how often intervals hold the truth with both, how wide they are as a multiple, and how
often the fit is called wrong. In the first families the classifier is right, in the last ones it is not.
"""

import argparse
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np

import counterfold as cf
from counterfold.simulation import draw_actions, softmax
from counterfold_lab.selection.bandits import Bandit

RIGHT = {
    "clicks": {"reward": "binary"},
    "normal rewards": {},
    "rewards far from 0": {"reward": "shifted"},
    "skewed rewards": {"reward": "skewed"},
    "rare purchases": {"reward": "purchases"},
    "nearly uniform logger": {"logging_beta": 0.1},
    "deterministic target": {"target_beta": np.inf},
    "20 actions": {"actions": 20},
    "a tenth explored": {"exploration": 0.1},
}
WRONG = {
    "a logger of thresholds": np.sign,
    "a logger of squares": lambda x: x**2 - 1,
    "a logger of products": lambda x: x * np.roll(x, 1, axis=1),
    "a logger of waves": lambda x: np.sqrt(2) * np.sin(4 * x),
}
"""What the old policy saw in place of the context that was logged."""


def draw_problem(family, rows, seed):
    """Return a problem of a family; where the classifier is wrong, the old policy saw something else in the context."""
    if family in RIGHT:
        return Bandit(rows=rows, **RIGHT[family]).draw_problem(seed)
    bandit = Bandit(rows=rows)
    problem, rng = bandit.draw_problem(seed), np.random.default_rng([1, seed])
    context, scores = problem.log.context, bandit.draw_scores(np.random.default_rng(seed))
    logging = softmax(2 * scores(WRONG[family](context))[1])
    action, means = draw_actions(logging, rng.random(rows)), scores(context)[0]
    reward = means[np.arange(rows), action] + rng.standard_normal(rows)
    given = {"context": context, "action": action, "reward": reward, "actions": problem.log.actions}
    return replace(problem, log=cf.Log(**given, logging_probs=logging))


def draw_run(family, rows, seed):
    """Return error, whether the interval holds, and width, with true and with fitted propensities; and the alarm."""
    warnings.simplefilter("ignore", cf.SupportWarning)
    problem = draw_problem(family, rows, seed)
    log = problem.log
    given = {"context": log.context, "action": log.action, "reward": log.reward, "actions": log.actions}
    found = []
    for known in ({"logging_probs": log.logging_probs}, {"propensity": "fit"}):
        result = cf.evaluate(cf.Log(**given, **known), problem.target, progress=False)
        low, high = result.interval
        found += [(result.value - problem.truth) ** 2, float(low <= problem.truth <= high), high - low]
    return [*found, float(result.diagnostics.propensity_rival_p < 0.01)]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[2000, 10_000], metavar="N")
    parser.add_argument("--runs", type=int, default=40, metavar="N")
    parser.add_argument("--seed", type=int, default=1000, metavar="N", help="the first run's seed")
    parser.add_argument("--families", nargs="+", default=[*RIGHT, *WRONG], metavar="NAME")
    options = parser.parse_args()
    print("| logs | rows | error | true: held | fitted: held | width | called wrong |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    seeds = range(options.seed, options.seed + options.runs)
    with ProcessPoolExecutor(os.cpu_count()) as executor:
        for family, rows in ((family, rows) for family in options.families for rows in options.rows):
            found = np.array(list(executor.map(partial(draw_run, family, rows), seeds)))
            true, held, width, fitted, fitted_held, fitted_width, alarms = found.mean(axis=0)
            cells = f"{fitted / true:.2f} | {held:.1%} | {fitted_held:.1%} | {fitted_width / width:.2f} | {alarms:.0%}"
            print(f"| {family} | {rows} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
