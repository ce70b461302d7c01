"""Arrays: what users give to `Log` that has another shape, kind or length, or holds no numbers."""

from decimal import Decimal
from fractions import Fraction

import numpy as np

import counterfold as cf
from torture.cases import PLAIN, CallCase
from torture.catalogue import EITHER, REFUSED, entry
from torture.logs import LABELS, know_answer, make_rows

ROWS = len(make_rows())
COLUMNS = {name: [row[name] for row in make_rows()] for name in make_rows()[0]}
CODES = np.array([LABELS.index(label) for label in COLUMNS["action"]])


def make_log(**changes):
    """Return the log from arrays, with others in their places."""
    kept = {"context": np.array([COLUMNS["x0"], COLUMNS["x1"]]).T} | {
        name: COLUMNS[name] for name in ("action", "reward", "propensity")
    }
    return cf.Log(**kept | changes)


def add_array(name, allowed, known=None, **arrays):
    """Register arrays that are given to `Log`."""

    @entry(name, allowed, ("python",))
    def make(_folder):
        found = know_answer(context=()) if known is None else known
        return CallCase(lambda: cf.evaluate(make_log(**arrays), COLUMNS["target"], **PLAIN), found)


def put_in(column, value, row=7):
    """Return a list with another value in one row."""
    cells = list(COLUMNS[column])
    cells[row] = value
    return cells


def mask(column):
    """Return an array of which one value is masked."""
    return np.ma.masked_array(COLUMNS[column], mask=[row == 7 for row in range(ROWS)])


REWARD = COLUMNS["reward"]
ARRAYS = {
    "a reward of 10 to the 400": {"reward": put_in("reward", 10**400)},
    "a reward of 10 to the 400 in objects": {"reward": np.array(put_in("reward", 10**400), object)},
    "complex rewards": {"reward": np.array(REWARD, complex)},
    "one complex reward": {"reward": put_in("reward", 1 + 2j)},
    "complex context": {"context": np.ones((ROWS, 2), complex)},
    "complex labels": {"action": CODES * 1j},
    "masked rewards": {"reward": mask("reward")},
    "masked propensities": {"propensity": mask("propensity")},
    "dates as rewards": {"reward": np.array(["2024-01-01"] * ROWS, "datetime64[D]")},
    "no dates as rewards": {"reward": np.array(["NaT"] * ROWS, "datetime64[D]")},
    "dates as context": {"context": np.array(["2024-01-01"] * ROWS, "datetime64[D]")[:, None]},
    "rewards as texts": {"reward": [f"{value}!" for value in REWARD]},
    "rewards as bytes": {"reward": np.array([b"1"] * ROWS)},
    "rewards of no dimension": {"reward": 1.0},
    "rewards of two dimensions": {"reward": np.array([REWARD, REWARD])},
    "rewards of three dimensions": {"reward": np.ones((ROWS, 1, 1))},
    "fewer rewards": {"reward": REWARD[:-1]},
    "ragged rewards": {"reward": [[1.0], [1.0, 2.0]] * (ROWS // 2)},
    "rewards as a set": {"reward": {1.0, 2.0}},
    "rewards as a dictionary": {"reward": {"a": 1.0}},
    "rewards as a function": {"reward": lambda: REWARD},
    "rewards as a generator": {"reward": (value for value in REWARD)},
    "rewards with an object": {"reward": put_in("reward", object())},
    "rewards with a list": {"reward": put_in("reward", [1.0])},
    "rewards with None": {"reward": put_in("reward", None)},
    "rewards with a text": {"reward": put_in("reward", str(COLUMNS["reward"][7]))},
    "rewards with NaN": {"reward": put_in("reward", np.nan)},
    "rewards with infinity": {"reward": put_in("reward", np.inf)},
    "structured rewards": {"reward": np.zeros(ROWS, [("a", float), ("b", float)])},
    "no rewards": {"reward": []},
    "None as rewards": {"reward": None},
    "context of one dimension": {"context": np.ones(ROWS - 1)},
    "context of three dimensions": {"context": np.ones((ROWS, 2, 2))},
    "context of other length": {"context": np.ones((ROWS - 1, 2))},
    "context of texts": {"context": np.array([["a", "b"]] * ROWS)},
    "context of objects": {"context": np.array([[object(), 1.0]] * ROWS)},
    "context with 10 to the 400": {"context": [[10**400, 1.0]] * ROWS},
    "labels with None": {"action": put_in("action", None)},
    "labels with NaN": {"action": put_in("action", float("nan"))},
    "labels of two dimensions": {"action": np.array([COLUMNS["action"]] * 2)},
    "labels that cannot be hashed": {"action": [[1], [2]] * (ROWS // 2)},
    "labels as dictionaries": {"action": [{"a": 1}, {"b": 1}] * (ROWS // 2)},
    "labels of two kinds": {"action": put_in("action", 7)},
    "labels as objects": {"action": [object() for _ in range(ROWS)]},
    "fewer labels": {"action": COLUMNS["action"][:-1]},
    "no labels": {"action": []},
    "negative propensities": {"propensity": put_in("propensity", -0.1)},
    "propensities above 1": {"propensity": put_in("propensity", 1.5)},
    "propensities of 0": {"propensity": put_in("propensity", 0.0)},
    "fractions as texts": {"propensity": ["1/2"] * ROWS},
    "groups with None": {"group": [None] * ROWS},
    "groups with NaN": {"group": [float("nan")] * ROWS},
    "groups of other length": {"group": [1, 2]},
    "groups of two dimensions": {"group": np.ones((ROWS, 2))},
    "availability of other shape": {"available": np.ones((ROWS, 7), bool)},
    "availability of numbers": {"available": np.full((ROWS, 3), 0.5)},
    "availability of nothing": {"available": np.zeros((ROWS, 3), bool)},
    "features of other length": {"action_features": np.ones((7, 2))},
    "features of texts": {"action_features": [["a"], ["b"], ["c"]]},
    "features as a number": {"action_features": 5},
    "actions twice": {"actions": ["red", "red", "green", "blue"]},
    "actions that lack one": {"actions": ["red", "green"]},
    "actions as a number": {"actions": 5},
    "actions as a text": {"actions": "red"},
    "probabilities of other shape": {"logging_probs": np.ones((ROWS, 7)) / 7, "propensity": None},
    "probabilities of one dimension": {"logging_probs": np.ones(ROWS), "propensity": None},
    "probabilities that do not add up": {"logging_probs": np.full((ROWS, 3), 0.3), "propensity": None},
    "probabilities as texts": {"logging_probs": [["a", "b", "c"]] * ROWS, "propensity": None},
    "probabilities as a dictionary of nothing": {"logging_probs": {}, "propensity": None},
    "doses and actions": {"dose": np.ones(ROWS)},
    "a logger alone": {"logger": ["a"] * ROWS},
    "probabilities of loggers alone": {"logger_probs": {"a": np.full((ROWS, 3), 1 / 3)}},
}
for name, arrays in ARRAYS.items():
    add_array(
        name,
        EITHER
        if name in {"rewards as a generator", "rewards with a text", "labels as objects", "labels of two kinds"}
        else REFUSED,
        **arrays,
    )

FINE = {
    "rewards as fractions": {"reward": [Fraction(str(value)) for value in REWARD]},
    "rewards as decimals": {"reward": [Decimal(str(value)) for value in REWARD]},
    "rewards as objects": {"reward": np.array(REWARD, object)},
    "rewards in reverse memory": {"reward": np.array(REWARD[::-1])[::-1]},
    "rewards big-endian": {"reward": np.array(REWARD, ">f8")},
    "rewards read-only": {"reward": np.frombuffer(np.array(REWARD).tobytes())},
    "rewards in long doubles": {"reward": np.array(REWARD, np.longdouble)},
    "rewards as a tuple": {"reward": tuple(REWARD)},
    "rewards as a memory view": {"reward": memoryview(np.array(REWARD))},
    "labels of int8": {"action": CODES.astype(np.int8)},
    "labels of fixed width": {"action": np.array(COLUMNS["action"])},
    "labels of bytes": {"action": np.array(COLUMNS["action"], "S")},
    "labels as tuples": {"action": [(label,) for label in COLUMNS["action"]]},
    "labels that are huge numbers": {"action": [10**30 + int(code) for code in CODES]},
    "context in columns": {"context": np.asfortranarray(np.array([COLUMNS["x0"], COLUMNS["x1"]]).T)},
    "context of no columns": {"context": np.empty((ROWS, 0))},
}
for name, arrays in FINE.items():
    add_array(name, EITHER, **arrays)
