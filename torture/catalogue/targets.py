"""Targets: texts that nobody can read, scores that are damaged, and policies of the user that raise or return junk."""

import math

import numpy as np

import counterfold as cf
from torture.cases import CallCase, LogCase
from torture.catalogue import ENGINES, EVERYWHERE, REFUSED, RIGHT, entry
from torture.logs import Answer, make_table, write_parquet

TEXTS = {
    "a form without its columns": "greedy:",
    "a form that is mistyped": "gredy:score",
    "a column of scores that is not there": "greedy:points",
    "scores that are text": "greedy:word",
    "a temperature of 0": "softmax:score:temperature=0",
    "a temperature that is no number": "softmax:score:temperature=1e999x",
    "a field that is not there": "softmax:score:heat=1",
    "shares that sum to more than 1": "0.5*uniform + 0.6*red",
    "a share beyond all floats": "1e-999/1e-999*uniform",
    "a part without a share": "0.5*uniform + red",
    "a quote that is not closed": "always:'red",
    "a label that is not there": "always:pink",
    "a module that is not there": "no_such_module_anywhere:choose",
    "a module that cannot be called": "math:pi",
    "a function that fails": "math:floor",
    "a function that ends the program": "sys:exit",
    "a pickle": "policy.pkl",
    "a file of skops that is not there": "skops:policy.skops",
    "a file of ONNX that is not there": "onnx:policy.onnx",
    "a deep mixture": "*".join(["0.5"] * 500),
    "very many parts": "+".join(["0.001*nothing"] * 1000),
    "control characters": "greedy:\x1b[31mred\n",
    "nothing but separators": ":::+++***,,,",
}
SCORES = {
    "missing": [None, 0.1, 0.2],
    "NaN": [math.nan, 0.1, 0.2],
    "infinite": [math.inf, 0.1, 0.2],
    "beyond all that is computed with": [1e300, 0.1, 0.2],
}


def add_scores(first=(0.3, 0.1, 0.2)):
    """Return the table with scores of all actions, those of one row as they are given, and a column of words."""
    table = make_table()
    rows = [[0.3, 0.1, 0.2]] * (table.num_rows - 1)
    named = [dict(zip(("red", "green", "blue"), row, strict=True)) for row in [*rows[:7], list(first), *rows[7:]]]
    return table.append_column("score", [named]).append_column("word", [["word"] * table.num_rows])


def add(name, target, first=(0.3, 0.1, 0.2), ways=ENGINES):
    """Register a target that must be refused."""

    @entry(name, REFUSED, ways)
    def make(folder):
        (folder / "log.parquet").write_bytes(write_parquet(add_scores(first)))
        return LogCase(folder / "log.parquet", None, target)


for name, text in TEXTS.items():
    add(name, text, ways=ENGINES if "\n" in text or len(text) > 500 else EVERYWHERE)
for name, row in SCORES.items():
    add(f"a score that is {name}", "greedy:score", row)
    add(f"a score of a mixture that is {name}", "0.5*uniform + 0.5*softmax:score", row)


class Policy:
    """A model of the user, which returns what it was told to."""

    def __init__(self, predict_proba):
        self.predict_proba = predict_proba


POLICIES = {
    "raises": Policy(lambda _: 1 / 0),
    "returns nothing": Policy(lambda _: None),
    "returns a number": Policy(lambda _: 0.5),
    "returns too few rows": Policy(lambda seen: np.full((len(seen) - 1, 3), 1 / 3)),
    "returns too few columns": Policy(lambda seen: np.full((len(seen), 2), 0.5)),
    "returns NaN": Policy(lambda seen: np.full((len(seen), 3), np.nan)),
    "returns what is negative": Policy(lambda seen: np.tile([-1.0, 1.0, 1.0], (len(seen), 1))),
    "returns sums of 2": Policy(lambda seen: np.full((len(seen), 3), 2 / 3)),
    "returns texts": Policy(lambda seen: np.full((len(seen), 3), "red")),
    "returns three dimensions": Policy(lambda seen: np.full((len(seen), 3, 1), 1 / 3)),
    "looks at the reward": cf.Function(lambda seen: np.where(seen["reward"] > 0, "red", "blue"), columns=["reward"]),
    "looks at a column that is not there": cf.Function(lambda _: "red", columns=["nothing"]),
    "is a mixture of nothing": 0 * cf.Uniform(),
}
for name, policy in POLICIES.items():
    add(f"a policy that {name}", policy)


@entry("a policy that is the log's own", RIGHT, ("python",))
def own_policy(_folder):
    """Evaluate the policy that logged, whose value is the mean reward."""
    table = make_table().drop_columns(["target"])
    known = Answer(float(np.mean(table.column("reward").to_numpy())))
    return CallCase(lambda: cf.evaluate(table, "logger", ["ips"], reward_model=None, progress=False).value, known)
