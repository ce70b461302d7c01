"""What a text column is worth once it is encoded: `python benchmarks/text_context.py`.

In each problem rewards, or the old policy, or both depend on a text column. Every log is evaluated with the column, as
by default, and without it (`ignore`). Prints a table: the root of the mean squared error with and without it, and how
often the intervals hold the truth. Seeds from 10,000 on were not looked at while the encoding was chosen.
"""

import argparse
import warnings

import numpy as np
import pyarrow as pa

import counterfold as cf
from counterfold.simulation import draw_actions, softmax

ACTIONS = ("a", "b", "c")
PROBLEMS = {
    "rewards depend on it (4 values)": (4, 1.0, 0.0, False, 0.0),
    "rewards depend on it (60 values)": (60, 1.0, 0.0, False, 0.0),
    "nothing depends on it (15 values)": (15, 0.0, 0.0, False, 0.0),
    "rewards depend on it, missing in 30 % of rows": (4, 1.0, 0.0, False, 0.3),
    "fitted propensities, the logger looked at it (4 values)": (4, 1.0, 1.0, True, 0.0),
    "fitted propensities, the logger looked at it (15 values)": (15, 1.0, 1.0, True, 0.0),
    "fitted propensities, it is missing in 30 % of rows": (4, 1.0, 1.0, True, 0.3),
}
"""How many values there are, how much rewards and the logger depend on them, whether propensities are fitted, gaps."""


def draw_log(values, on_reward, on_logger, gaps, rows, seed):
    """Return a log as a table, and the mean reward of each action in each row weighed by the target."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(values, 2.0))
    code, x = rng.choice(values, size=rows, p=shares), rng.normal(size=rows)
    is_missing = rng.random(rows) < gaps
    seen = np.where(is_missing, values, code)  # the logger sees no more than the log
    effects = rng.normal(size=(2, values + 1, len(ACTIONS)))
    logging = softmax(0.5 * x[:, None] * np.array([0.0, 1.0, -1.0]) + on_logger * effects[0][seen])
    means = 0.5 * x[:, None] * np.array([1.0, 0.0, -1.0]) + on_reward * effects[1][seen]
    action, target = draw_actions(logging, rng.random(rows)), softmax(np.tile([0.0, 0.5, 1.0], (rows, 1)))
    every, pick = np.arange(rows), rng.normal(size=rows)
    texts = [None if missing else f"value {number}" for number, missing in zip(code, is_missing, strict=True)]
    columns = {"text": texts, "x": x, "action": [ACTIONS[one] for one in action], "reward": means[every, action] + pick}
    columns |= {"propensity": logging[every, action]}
    columns |= {f"target.{label}": target[:, place] for place, label in enumerate(ACTIONS)}
    return pa.table(columns), float((target * means).sum(axis=1).mean())


def draw_run(problem, rows, seed):
    """Return the errors of the answer with and without the column, and whether the intervals held."""
    values, on_reward, on_logger, is_fitted, gaps = problem
    table, truth = draw_log(values, on_reward, on_logger, gaps, rows, seed)
    fitted = {"propensity": "fit"} if is_fitted else {}
    given = table.drop_columns(["propensity"]) if is_fitted else table
    found = [
        cf.evaluate(given, "target", ignore=["target", *more], progress=False, **fitted) for more in ([], ["text"])
    ]
    return [(one.value - truth, one.interval.low <= truth <= one.interval.high) for one in found]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000, metavar="N")
    parser.add_argument("--runs", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=10_000, metavar="N")
    options = parser.parse_args()
    warnings.simplefilter("ignore", cf.SupportWarning)
    print("| problem | error with the text | without | held with | without |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, problem in PROBLEMS.items():
        seeds = range(options.seed, options.seed + options.runs)
        runs = np.array([draw_run(problem, options.rows, seed) for seed in seeds])
        errors, held = np.sqrt(np.mean(runs[:, :, 0] ** 2, axis=0)), runs[:, :, 1].mean(axis=0)
        cells = [*(f"{one:.4f}" for one in errors), *(f"{one:.1%}" for one in held)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
