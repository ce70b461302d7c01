"""How often a log that is looked at every week shows a difference that is not there.

Every log has eight weeks of 500 decisions by four actions, whose clicks depend on the context and not on the action.
After each week the log so far is evaluated. `any week` is how often the interval of the difference to the log excluded
0 after at least one of them, and `last week` how often it did so in the end. 5 % is what a single look is allowed.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product

import numpy as np
from rich.console import Console
from rich.table import Table

import counterfold as cf

WEEKS, PER_WEEK = 8, 500
LOGGING, TARGET = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.2, 0.3, 0.4])
KNOWN = cf.ConfidenceSequence(low=0, high=4)
"""Clicks are 0 or 1, and no weight is above 0.4 / 0.1."""

ANSWERS = {"IPS": {"candidates": [cf.IPS()]}, "SNIPS": {"candidates": [cf.SNIPS()]}, "default": {}}
METHODS = {"confidence-sequence": KNOWN.for_differences(), "normal": "normal", "skewed-t": "skewed-t"}


def draw_log(number, seed=0):
    """Return a log in the order of its decisions, on which no policy earns more than any other."""
    rng = np.random.default_rng([seed, number])
    rows = WEEKS * PER_WEEK
    x, action = rng.normal(size=rows), rng.choice(4, size=rows, p=LOGGING)
    click = (rng.random(rows) < 1 / (1 + np.exp(1 - x))).astype(float)
    probs = {"logging_probs": np.tile(LOGGING, (rows, 1)).tolist(), "target": np.tile(TARGET, (rows, 1)).tolist()}
    return {"x": x, "action": action, "reward": click, **probs}


def watch(log, **settings):
    """Return for every week and method whether the interval of the log so far excludes 0."""
    found = []
    for week in range(1, WEEKS + 1):
        so_far = {name: column[: week * PER_WEEK] for name, column in log.items()}
        gap = cf.evaluate(so_far, **settings, threads=1, progress=False).uplift()
        ends = [gap.interval(method=method) for method in METHODS.values()]
        found.append([low > 0 or high < 0 for low, high in ends])
    return found


def watch_all(number, seed):
    """Return the same for each answer."""
    return [watch(draw_log(number, seed), **settings) for settings in ANSWERS.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    given = parser.parse_args()
    with ProcessPoolExecutor(given.jobs) as pool:
        every = pool.map(partial(watch_all, seed=given.seed), range(given.logs), chunksize=4)
        found = np.array(list(every))  # logs x answers x weeks x methods
    table = Table("answer", "interval", "any week", "last week")
    for (place, name), (kind, method) in product(enumerate(ANSWERS), enumerate(METHODS)):
        own = found[:, place, :, kind]
        table.add_row(name, method, f"{own.any(axis=1).mean():.1%}", f"{own[:, -1].mean():.1%}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
