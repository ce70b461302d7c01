"""How often each interval of 95 % covers the truth, and how wide it is, on a bandit with few large weights.

Logs of a softmax policy over five actions with binary rewards, a target that prefers other actions, and a truth that is
computed over all contexts. Contributions are those of IPS, SNIPS and DR (a fixed reward model, right up to its level).
Ranges of contributions, which some intervals must know, follow from the least propensity. `--runs` sets the number of
logs of each size.
"""

import argparse

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import counterfold as cf
from counterfold.base import registry
from counterfold.simulation import softmax

SIZES = (100, 1000, 10_000)
LEVEL, ACTIONS, WIDTH = 0.95, 5, 3
NATURE = np.random.default_rng(0)
SLOPES = NATURE.normal(size=(2, WIDTH, ACTIONS))
EXPLORATION = 0.05
LARGEST = ACTIONS / EXPLORATION
"""No weight is larger, as every action has at least this chance."""


def policies(context):
    """Return the mean rewards, the logging policy and the target (n x A)."""
    rewards, liked = context @ SLOPES[0], context @ SLOPES[1]
    logging = (1 - EXPLORATION) * softmax(liked) + EXPLORATION / ACTIONS
    return 1 / (1 + np.exp(2 - rewards)), logging, softmax(2 * rewards - liked)


def truth(points=2_000_000):
    """Return the target's value, by the mean over so many contexts."""
    rng, total = np.random.default_rng(1), 0.0
    for _ in range(20):
        means, _, target = policies(rng.normal(size=(points // 20, WIDTH)))
        total += (means * target).sum(axis=1).mean() / 20
    return total


def estimates(rng, rows):
    """Yield the estimates of one log, and the range of contributions of each where it is known."""
    context = rng.normal(size=(rows, WIDTH))
    means, logging, target = policies(context)
    action = (logging.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    reward = (rng.random(rows) < means[np.arange(rows), action]) * 1.0
    log = cf.Log(context=context, action=action, reward=reward, logging_probs=logging, actions=list(range(ACTIONS)))
    yield cf.estimate(log, target, cf.IPS()), (0.0, LARGEST)
    yield cf.estimate(log, target, cf.SNIPS()), None
    yield cf.estimate(log, target, cf.DR(), reward_model=means / 2 + 0.1), (-LARGEST, LARGEST + 1)


def choose_methods(estimate, span):
    """Yield a name and a method for each interval; those with a range of rewards or contributions where it is known."""
    for name in registry.names("intervals"):
        kind = registry.find("intervals", name)
        if kind in {cf.LogBound, cf.BettingBound}:
            if estimate.name == "IPS":
                yield name, kind(0.0, 1.0)
        elif hasattr(kind, "span"):
            if span:
                yield name, kind(*span)
        else:
            yield name, kind()
    if estimate.name == "IPS":
        yield "betting-bound, largest weight known", cf.BettingBound(0.0, 1.0, LARGEST)


def intervals(estimate, span, wanted):
    """Yield the interval of each method whose name starts as one that is wanted does."""
    for name, method in choose_methods(estimate, span):
        if name.startswith(wanted):
            yield name, estimate.interval(LEVEL, method)
    if "empirical-likelihood".startswith(wanted):
        plain = cf.Estimate("", estimate.contributions)
        yield "empirical-likelihood, no weights", plain.interval(LEVEL, "empirical-likelihood")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400, metavar="N")
    parser.add_argument("--intervals", nargs="*", default=[""], metavar="NAME", help="only those that start so")
    given = parser.parse_args()
    runs, wanted, value = given.runs, tuple(given.intervals), truth()
    found = {}
    for rows in SIZES:
        for seed in track(range(runs), description=f"{rows} rows"):
            for estimate, span in estimates(np.random.default_rng([rows, seed]), rows):
                for name, (low, high) in intervals(estimate, span, wanted):
                    cell = found.setdefault((estimate.name, name), {}).setdefault(rows, [])
                    cell.append((low <= value <= high, high - low))
    console = Console(width=120)
    console.print(f"truth {value:.4f}; {runs} logs of each size; share of intervals that cover, and mean width")
    table = Table("estimator", "interval", *(f"{rows} rows" for rows in SIZES))
    for (estimator, name), by_size in found.items():
        cells = (np.mean(by_size[rows], axis=0) for rows in SIZES)
        table.add_row(estimator, name, *(f"{cover:.1%}  {width:.3f}" for cover, width in cells))
    console.print(table)


if __name__ == "__main__":
    main()
