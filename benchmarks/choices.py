"""Two choices that docs/selection.md explains: rounded split ratios, and cross-fitted instead of in-sample models.

On scikit-learn's embedded classification data as bandits with known truth: the mean squared error of the answer with
and without rounding (candidates IPS, DM, DR), and how often the 95 % interval of `evaluate` covers the truth, and with
which verdict, with the reward model in sample and cross-fitted. `--runs` sets the number of problems per dataset.
"""

import argparse

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

import counterfold as cf
from counterfold_lab.paper.classification import Classification

DATA = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
MODELS = {"in sample": cf.RidgePerAction(), "cross-fitted": cf.CrossFitted(cf.RidgePerAction())}


def problems(name, runs):
    features, labels = DATA[name](return_X_y=True)
    features = (features - features.mean(axis=0)) / np.maximum(features.std(axis=0), 1e-9)
    for seed in track(range(runs), description=name):
        yield seed, Classification().draw_problem(features, labels, np.random.default_rng(seed))


def rounding(problem, seed):
    """Return the squared errors with exact and with rounded ratios, for IPS and for DR as validator."""
    candidates = [cf.IPS(), cf.DM(), cf.DR()]
    for validator in (cf.IPS(), cf.DR()):
        for step in (0.0, cf.OCV().ratio_step):
            judge = cf.OCV(validator, ratio_step=step)
            result = cf.evaluate(problem.log, problem.target, candidates, judge, "ridge-per-action", seed=seed)
            yield f"OCV_{validator.name}, {f'step {step}' if step else 'exact'}", (result.value - problem.truth) ** 2


def cover(problem, seed):
    """Return whether the interval covers, and the verdict, for each kind of reward model."""
    for kind, model in MODELS.items():
        result = cf.evaluate(problem.log, problem.target, "plain", "ocv", model, seed=seed)
        inside = result.interval.low <= problem.truth <= result.interval.high
        yield kind, inside, result.diagnostics.verdict == "good"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50, metavar="N")
    runs = parser.parse_args().runs
    table = Table("dataset", "what", "result")
    for name in DATA:
        errors, covered = {}, {}
        for seed, problem in problems(name, runs):
            for what, error in rounding(problem, seed):
                errors.setdefault(what, []).append(error)
            for kind, inside, good in cover(problem, seed):
                covered.setdefault(kind, []).append((inside, good))
        for what, list_ in errors.items():
            spread = np.std(list_, ddof=1) / np.sqrt(runs)
            table.add_row(name, f"MSE of {what}", f"{np.mean(list_):.5f} ± {spread:.5f}")
        for kind, pairs in covered.items():
            good = [inside for inside, verdict in pairs if verdict]
            line = f"{np.mean([inside for inside, _ in pairs]):.0%} of {runs}"
            table.add_row(name, f"coverage, {kind}", f"{line}; where called good {sum(good)} of {len(good)}")
    Console().print(table)


if __name__ == "__main__":
    main()
