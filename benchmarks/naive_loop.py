"""The joint task of the paper against the naive loop of the tests: how many times faster, and is the choice the same?

The log has the size of optdigits (2,810 rows, 64 columns, 10 actions) and is made from scikit-learn's digits,
resampled with noise; `candidates="paper"`, K = 10, IPS and DR as validators. Everything is timed in one run: the figure
to trust is the ratio. Both sides use the same splits, with ratios rounded as by default; the last column compares the
losses of every twentieth candidate without rounding. `--every 10` runs the naive loop on every tenth candidate only and
scales its time up.
"""

import argparse
import sys
import time
from dataclasses import fields
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits

import counterfold as cf
from counterfold.base import registry
from counterfold.evaluation.candidates import gather_candidates, resolve_candidates
from counterfold.policies.given import as_target
from counterfold_lab.paper.classification import Classification

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
import reference

ALPHA = 1e-3
SPLITS = 10
STEP = cf.OCV().ratio_step
EVERY_EXACT = 20


def data_like_optdigits(rng):
    features, labels = load_digits(return_X_y=True)
    rows = rng.integers(len(features), size=5620)
    noisy = np.clip(features[rows] + rng.integers(-1, 2, size=(5620, 64)), 0, 16)
    problem = Classification().draw_problem(noisy, labels[rows], rng)
    log = problem.log
    return problem, reference.Data(log.context, log.action, log.reward, log.logging_probs, problem.target)


def paper_candidates(rows):
    """Return what `candidates="paper"` stands for on these rows."""
    return list(gather_candidates(resolve_candidates("paper", "labels"), rows, cf.OCV().extend_grid)[0].values())


def pair(estimator):
    """Return the reference's formula and parameters of an estimator."""
    name = next(name for name in registry.names("estimators") if registry.find("estimators", name) is type(estimator))
    return reference.FORMULAS[name][0], {field.name: getattr(estimator, field.name) for field in fields(estimator)}


def timed(repeats, run):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
    return min(times), result


def compare(problem, data, candidates, validator, every):
    rng = np.random.default_rng(0)
    orders = [rng.permutation(len(data.r)) for _ in range(SPLITS)]

    def naive(some, step):
        return reference.algorithm_1(data, map(pair, some), pair(validator), orders, ALPHA, step)

    def fast(step):
        rows = cf.Rows.of(problem.log, as_target(problem.target, problem.log), cf.RidgePerAction(ALPHA))
        ocv = cf.OCV(validator=validator, splits=SPLITS, ratio_step=step)
        return ocv.losses(rows, candidates, np.random.default_rng(0), cf.Pool())

    some = candidates[::every]
    naive_time, expected = timed(1, lambda: naive(some, STEP))
    naive_time *= len(candidates) / len(some)
    fast_time, losses = timed(5, lambda: fast(STEP))
    whole_time, _ = timed(5, lambda: evaluate(problem, validator))
    losses = losses[::every]
    exact = fast(0.0)[::EVERY_EXACT]
    return {
        "validator": validator.name,
        "naive loop": f"{naive_time:.1f} s",
        "counterfold": f"{fast_time:.3f} s",
        "times faster": f"{naive_time / fast_time:.0f}",
        "whole evaluation": f"{whole_time:.3f} s",
        "times faster than the loop": f"{naive_time / whole_time:.0f}",
        "same choice": str(chosen(losses) == chosen(expected)),
        "largest error of a loss": f"{np.abs(losses - expected).max():.1e}",
        "without rounding": f"{np.abs(exact - naive(candidates[::EVERY_EXACT], 0.0)).max():.1e}",
    }


def evaluate(problem, validator):
    """Return the answer with all that defends it: errors, the noise of choosing, diagnostics and exhibits."""
    selector, model = cf.OCV(validator=validator, splits=SPLITS), cf.RidgePerAction(ALPHA)
    return cf.evaluate(problem.log, problem.target, "paper", selector, model, progress=False)


def chosen(losses):
    return int(np.argmin(reference.scores(losses, "standard_error")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N")
    arguments = parser.parse_args()
    problem, data = data_like_optdigits(np.random.default_rng(0))
    rows = cf.Rows.of(problem.log, as_target(problem.target, problem.log), cf.RidgePerAction(ALPHA))
    candidates = paper_candidates(rows)
    print(f"{problem.log}, {len(candidates)} candidates, K = {SPLITS}")
    table = Table()
    for validator in (cf.IPS(), cf.DR()):
        result = compare(problem, data, candidates, validator, arguments.every)
        if not table.columns:
            for heading in result:
                table.add_column(heading)
        table.add_row(*result.values())
    Console().print(table)


if __name__ == "__main__":
    main()
