"""Doses: the mean squared error of the answer by the bandwidth of OCV's validator, and of fixed bandwidths.

Three kinds of problems with known truth; bandwidths are multiples of the rule of thumb.
"""

import argparse

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.special import expit
from scipy.stats import norm

import counterfold as cf
from counterfold.log import kernels

MULTIPLES = (0.25, 0.5, 1.0, 2.0)


def bent_slightly(rng, rows):
    """Revenue when demand falls in a line with the price, and prices were uniform."""
    taste, price = rng.normal(size=rows), rng.uniform(0.2, 2.4, size=rows)

    def demand(asked):
        return np.clip(1 - asked / 2.5 + 0.05 * taste, 0, 1)

    reward = price * (rng.random(rows) < demand(price))
    log = cf.Log(context=taste[:, None], dose=price, reward=reward, propensity=np.full(rows, 1 / 2.2))
    target = np.full(rows, rng.uniform(0.5, 2.1))
    return log, target, (target * demand(target)).mean()


def bent(rng, rows):
    """Revenue when demand falls by a logistic curve, and prices were normal around a line in the income."""
    income = rng.uniform(20, 80, size=rows)
    usual = 8 + income / 20
    price = rng.normal(usual, 2.0)
    reward = price * (rng.random(rows) < expit((income / 4 - price) / 2))
    log = cf.Log(context=income[:, None], dose=price, reward=reward, propensity=norm.pdf(price, usual, 2.0))
    target = usual + rng.uniform(-2, 2)
    return log, target, (target * expit((income / 4 - target) / 2)).mean()


def waves(rng, rows):
    """A reward that goes up and down three times over the doses."""
    x, dose = rng.normal(size=rows), rng.uniform(-3, 3, size=rows)
    reward = np.sin(3 * dose + x) + 0.5 * rng.normal(size=rows)
    log = cf.Log(context=x[:, None], dose=dose, reward=reward, propensity=np.full(rows, 1 / 6))
    target = np.full(rows, rng.uniform(-2, 2))
    return log, target, np.sin(3 * target + x).mean()


def errors(log, target, truth, seed):
    """Yield the squared errors of each way to choose a bandwidth."""
    usual = kernels.choose_bandwidth(log.dose)
    for multiple in MULTIPLES[:-1]:
        selector = cf.OCV(validator=cf.KernelDR(multiple * usual))
        result = cf.evaluate(log, target, selector=selector, seed=seed, progress=False)
        yield f"validator {multiple:g}", (result.value - truth) ** 2
    for multiple in MULTIPLES:
        yield f"fixed {multiple:g}", (cf.estimate(log, target, cf.KernelDR(multiple * usual)).value - truth) ** 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=40, metavar="N")
    parser.add_argument("--rows", type=int, default=1000, metavar="N")
    given = parser.parse_args()
    found = {}
    for problem in (bent_slightly, bent, waves):
        for seed in track(range(given.logs), description=problem.__name__):
            for way, error in errors(*problem(np.random.default_rng(seed), given.rows), seed):
                found.setdefault(way, {}).setdefault(problem.__name__, []).append(error)
    table = Table("bandwidth", *next(iter(found.values())))
    for way, by_problem in found.items():
        table.add_row(
            way, *(f"{np.mean(one):.4f} ± {np.std(one) / len(one) ** 0.5:.4f}" for one in by_problem.values())
        )
    Console().print(table)


if __name__ == "__main__":
    main()
