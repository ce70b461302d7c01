"""How often a policy passes a guard whose limit it is exactly at: `python benchmarks/guards.py`.

Every log has 2,000 rows of ten actions that were drawn evenly, with normal rewards and costs that no action changes.
Each policy always takes one action, so that its true cost is 1, which is the limit: the guard is `cost <= 1`, and any
cost above that would break it. `any passes` is how often at least one of several policies is said to keep to it, which
is allowed in 5 % of the logs; `by itself` how often the guard holds for at least one of them with a probability of
95 %, as if each were the only one.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

import counterfold as cf

ROWS, ACTIONS, LEVEL = 2000, 10, 0.95
COUNTS = (1, 2, 10)


def draw_log(number, seed):
    """Return a log in which all actions earn and cost the same."""
    rng = np.random.default_rng([seed, number])
    action = rng.integers(ACTIONS, size=ROWS)
    table = {"action": action, "revenue": rng.normal(size=ROWS), "cost": 1 + rng.normal(size=ROWS)}
    return table | {"propensity": np.full(ROWS, 1 / ACTIONS)}


def judge(number, seed):
    """Return for each count of policies whether any passes, and whether any would by itself."""
    log, found = draw_log(number, seed), []
    settings = {"reward": "revenue", "guards": ["cost <= 1"], "candidates": ["snips"], "reward_model": None}
    for count in COUNTS:
        targets = {str(one): cf.Probabilities((log["action"] == one).astype(float)) for one in range(count)}
        several = cf.compare(log, targets, **settings, level=LEVEL, threads=1, progress=False).guarded
        found.append([any(one.passes for one in several), any(one.probability >= LEVEL for one in several)])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=400, metavar="N")
    parser.add_argument("--seed", type=int, default=18, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    given = parser.parse_args()
    with ProcessPoolExecutor(given.jobs) as pool:
        found = np.array(list(pool.map(partial(judge, seed=given.seed), range(given.logs), chunksize=4)))
    shares = found.mean(axis=0)
    errors = np.sqrt(shares * (1 - shares) / given.logs)
    table = Table("policies", "any passes", "by itself")
    for count, own, error in zip(COUNTS, shares, errors, strict=True):
        table.add_row(str(count), *(f"{share:.1%} ± {one:.1%}" for share, one in zip(own, error, strict=True)))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
