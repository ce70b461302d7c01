"""Some rows of a log know nothing of the others, whatever a log holds for every row."""

import inspect
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest

import counterfold as cf
from counterfold.io.schema.scan import open_log

ROWS, INDEX = 61, np.array([3, 60, 17, 17, 0])
"""How many rows there are, which is not how many there are of anything else, and some of them."""


def make_parts(rng):
    probs = rng.dirichlet(np.ones(3), size=(2, ROWS))
    action = rng.integers(3, size=ROWS)
    index = pd.RangeIndex(100, 100 + ROWS)
    known = {"action": pd.Series(action, index=index), "reward": rng.normal(size=ROWS), "kept": rng.uniform(size=ROWS)}
    known |= {"context": rng.normal(size=(ROWS, 2)), "group": np.arange(ROWS) // 2, "time": rng.normal(size=ROWS)}
    known |= {"available": np.ones((ROWS, 3), dtype=bool), "by": {"device": rng.choice(["a", "b"], ROWS)}}
    known |= {"actions": [0, 1, 2], "action_features": rng.normal(size=(3, 2)), "seen": np.ones(3, dtype=bool)}
    return known, probs, action


def make_several_loggers(rng):
    known, probs, _ = make_parts(rng)
    return cf.Log(**known, logger=rng.choice(["x", "y"], ROWS), logger_probs=dict(zip("xy", probs, strict=True)))


def make_full_probs(rng):
    known, probs, _ = make_parts(rng)
    return cf.Log(**known, logging_probs=probs[0])


def make_draws(rng):
    known, probs, action = make_parts(rng)
    return cf.Log(**known, propensity=probs[0][np.arange(ROWS), action], propensity_precision="float16")


def make_fitted(rng):
    known, _, _ = make_parts(rng)
    return cf.Log(**known, propensity="fit")


def make_doses(rng):
    known = {"dose": rng.normal(size=ROWS), "reward": rng.normal(size=ROWS), "propensity": rng.uniform(size=ROWS)}
    return cf.Log(**known, context=rng.normal(size=(ROWS, 2)))


def make_from_table(rng):
    known = {"action": rng.integers(3, size=ROWS), "reward": rng.normal(size=ROWS), "propensity": np.full(ROWS, 0.3)}
    table = pd.DataFrame({**known, "user_id": np.arange(ROWS) // 3, "age": rng.normal(size=ROWS)})
    log = next(iter(open_log(table, {}, cf.learn).split().values())).read()
    assert log.identifiers
    return log


LOGS = (make_several_loggers, make_full_probs, make_draws, make_fitted, make_doses, make_from_table)


def list_arrays(value, place):
    """Yield all arrays that an object holds anywhere, and where; those of another package's objects are none."""
    if isinstance(value, np.ndarray):
        yield place, value
    elif hasattr(value, "items"):
        for name, one in value.items():
            yield from list_arrays(one, f"{place}.{name}")
    elif is_dataclass(value):
        for one in fields(value):
            yield from list_arrays(getattr(value, one.name), f"{place}.{one.name}")
    elif isinstance(value, (tuple, list)):
        for number, one in enumerate(value):
            yield from list_arrays(one, f"{place}.{number}")


@pytest.mark.parametrize("make", LOGS)
def test_nothing_is_left_of_other_rows(make):
    log = make(np.random.default_rng(0))
    assert log.counts is None or len(log.counts) == ROWS  # computed once of all rows
    some = log.take(INDEX)
    before, after = dict(list_arrays(vars(log), "log")), dict(list_arrays(vars(some), "log"))
    by_row = {place: one.shape.index(ROWS) for place, one in before.items() if ROWS in one.shape}
    assert {"log.reward", "log.context"} <= by_row.keys()
    for place, axis in by_row.items():
        if place != "log.counts":
            np.testing.assert_array_equal(after[place], np.take(before[place], INDEX, axis=axis), err_msg=place)
            assert not after[place].flags.writeable
    assert not any(ROWS in one.shape for one in after.values())
    np.testing.assert_array_equal(some.row_numbers, INDEX)
    assert some.index is None
    assert len(some) == len(INDEX)
    if log.counts is not None:
        np.testing.assert_array_equal(some.counts, log.counts[INDEX])
    np.testing.assert_array_equal(some.take(np.array([1, 4])).row_numbers, [60, 0])


def test_what_a_log_takes_is_in_one_of_these_logs():
    rng = np.random.default_rng(0)
    logs = [make(rng) for make in LOGS]
    given = {"least_kept", "logger_weights", "logger_shares", "check", "facts", "index", "named_context"}
    kept = [pair for log in logs for pair in vars(log).items()]
    held = {name for name, one in kept if one is not None and (not hasattr(one, "__len__") or len(one))}
    same = {"logger": "loggers", "logger_probs": "loggers", "propensity_precision": "precision", "by": "segments"}
    wanted = {same.get(name, name) for name in inspect.signature(cf.Log).parameters} - given
    assert wanted - {"actions"} <= held
