"""A log for the tests of Spark, the marks of these tests, and what makes two answers the same."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from tables import table_of
from torture.spark import find_obstacle

MARKS = [
    pytest.mark.spark,
    pytest.mark.skipif(find_obstacle() is not None, reason=str(find_obstacle())),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


SLOW = pytest.mark.slow
LOCAL = pytest.mark.parametrize("place", ["local"], indirect=True)
CLUSTER = pytest.mark.parametrize("place", ["cluster"], indirect=True)
ACTIONS = ["red", "green", "blue"]
ROWS = 3_000


def logged(rows=ROWS):
    """Return a log with two targets, of which one is known for the logged actions alone."""
    rng = np.random.default_rng(0)
    logging, target = (rng.dirichlet([4.0, 2.0, 3.0], size=rows) for _ in range(2))
    code = (logging.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    x, each = rng.normal(size=(rows, 2)), np.arange(rows)
    columns = {"age": x[:, 0], "height": x[:, 1], "action": np.array(ACTIONS)[code]}
    return table_of(
        columns,
        reward=x[:, 0] * (code == 1) + code + rng.normal(size=rows),
        propensity=logging[each, code],
        logging_probs=named(logging),
        target=named(target),
        other_policy=target[each, code] / 2 + logging[each, code] / 2,
        user=[f"user {row % 97}" for row in range(rows)],
    )


def named(probs):
    return [dict(zip(ACTIONS, row, strict=True)) for row in probs.tolist()]


def saved(table, path, row_group_size=500):
    pa.parquet.write_table(table, path, row_group_size=row_group_size)
    return path


def cut(table, folder, sizes):
    """Write a folder of files with so many rows each."""
    folder.mkdir()
    for number, size in enumerate(sizes):
        saved(table.slice(sum(sizes[:number]), size), folder / f"part-{number}.parquet")
    return folder


def flat(value, name=""):
    """Return all that a result says, by the place where it says so."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list | tuple):
        parts = enumerate(value)
    else:
        return {name: value}
    return {place: one for key, part in parts for place, one in flat(part, f"{name}.{key}").items()}


def words_and_numbers(value):
    every = flat(value)
    numbers = {place: one for place, one in every.items() if isinstance(one, int | float)}
    return {place: one for place, one in every.items() if place not in numbers}, numbers


def check_same(found, expected):
    """Require two results to agree in every word, and in every number to a billionth."""
    (words, numbers), (others, close) = (
        words_and_numbers(one if isinstance(one, list) else one.to_dict()) for one in (found, expected)
    )
    assert words == others
    assert numbers == pytest.approx(close, rel=1e-9, abs=1e-12)
