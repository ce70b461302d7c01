"""Random calls of the API: whatever is given, the outcome is an answer or one sentence."""

import datetime as dt
import decimal
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import counterfold as cf

ROWS = 6
ODD = [
    *(None, True, False, 0, 1, 2, -1, 10**400, 2**63, 0.5, 1.0, 1e-200, 1e300, float("nan"), float("inf"), 1j),
    *("a", "b", "", "1", "12%", "1,234.5", b"a", b"\xff", (), (1, 2), {}, {"a": 1}, frozenset({1}), object(), len),
    *(
        decimal.Decimal("1.5"),
        dt.date(2020, 1, 1),
        dt.timedelta(1),
        np.datetime64("NaT"),
        np.float32(0.1),
        np.array([1]),
    ),
    *(pd.NA, pd.NaT, pd.Timestamp(0), np.ma.masked, "\x1b[31m", "x" * 5000),
]
PLAIN = {
    "action": ["a", "b", "a", "b", "a", "b"],
    "reward": [1.0, 0.0, 0.5, 0.2, 3.0, 0.1],
    "propensity": [0.5, 0.6, 0.5, 0.5, 0.4, 0.5],
    "context": [[0.0, 5.0], [1.0, 6.0], [2.0, 7.0], [3.0, 8.0], [1.0, 1.0], [2.0, 2.5]],
    "group": [1, 1, 2, 2, 3, 3],
    "logging_probs": [[0.5, 0.5], [0.4, 0.6]] * 3,
    "available": [[1, 1]] * ROWS,
    "actions": ["a", "b"],
    "action_features": [[1.0], [2.0]],
    "logger": ["u", "v"] * 3,
    "logger_probs": {"u": [[0.5, 0.5]] * ROWS, "v": [[0.4, 0.6]] * ROWS},
    "dose": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
}


def as_objects(values):
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def as_masked(values):
    return np.ma.masked_array(as_objects(values), [row == 0 for row in range(len(values))])


CONTAINERS = [list, tuple, as_objects, as_masked, pd.Series, iter, lambda values: values[0], lambda values: values[:3]]
odd_values = st.builds(
    lambda values, contain: contain(values),
    st.lists(st.sampled_from(ODD), min_size=ROWS, max_size=ROWS),
    st.sampled_from(CONTAINERS),
)
one_odd = st.builds(
    lambda name, place, value: [*PLAIN[name][:place], value, *PLAIN[name][place + 1 :]],
    st.sampled_from(["action", "reward", "propensity", "context", "group", "logging_probs", "actions"]),
    st.integers(0, 1),
    st.sampled_from(ODD),
)
anything = st.one_of(odd_values, one_odd, st.sampled_from(ODD), st.sampled_from(list(PLAIN.values())))


def outcome(call):
    """Return what a call answers; an error must be one of ours, with one sentence of readable length."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()
    except cf.CounterfoldError as error:
        said = str(error)
    assert said
    assert "\n" not in said
    return None


def make_log():
    return cf.Log(**{name: PLAIN[name] for name in ("action", "reward", "propensity", "context")})


@settings(max_examples=300, deadline=None)
@given(
    base=st.sampled_from([("action", "reward", "propensity"), ("action", "reward", "logging_probs"), tuple(PLAIN)]),
    changes=st.dictionaries(st.sampled_from(list(PLAIN)), anything, max_size=3),
)
def test_logs(base, changes):
    log = outcome(lambda: cf.Log(**{name: PLAIN[name] for name in base if name != "dose"} | changes))
    assert log is None or len(log) >= 2


@settings(max_examples=300, deadline=None)
@given(target=anything, form=st.sampled_from([lambda one: one, cf.Actions, cf.Probabilities]))
def test_targets(target, form):
    found = outcome(lambda: cf.estimate(make_log(), form(target), cf.IPS()))
    assert found is None or np.isfinite(found.value)


@settings(max_examples=100, deadline=None)
@given(
    candidates=st.sampled_from(["ips", ["ips", "dr"], ["nonsense"], [], 3, None, cf.IPS, [cf.DM(), len]]),
    model=st.one_of(st.sampled_from([None, "default", "shared-ridge", "nonsense", len, cf.SharedRidge]), anything),
    level=st.sampled_from([0.95, 0, 1, "a", None, float("nan")]),
    reward_range=st.sampled_from([None, (0, 5), (5, 0), "ab", 3, [None, 1]]),
)
def test_evaluations(candidates, model, level, reward_range):
    asked = {"candidates": candidates, "reward_model": model, "level": level, "reward_range": reward_range}
    found = outcome(lambda: cf.evaluate(make_log(), {"a": 0.4, "b": 0.6}, progress=False, **asked))
    assert found is None or np.isfinite(found.value)


def tabulate(columns):
    """Return columns that Arrow can hold as a table; others are a matter of the readers.

    Arrow 26 crashes on a mixture of datetime64 and float32 objects, so that these are texts here.
    """
    found = {}
    for name, values in columns.items():
        try:
            found[name] = pa.array([str(one) if isinstance(one, np.generic) else one for one in values])
        except (pa.ArrowException, TypeError, ValueError, OverflowError, np.ma.MaskError):
            found[name] = pa.array([str(value)[:20] for value in values])
    return pa.table(found)


@settings(max_examples=200, deadline=None)
@given(
    changes=st.dictionaries(
        st.sampled_from(["action", "reward", "propensity", "logging_probs", "x", "target"]),
        st.lists(st.sampled_from(ODD), min_size=ROWS, max_size=ROWS),
        max_size=2,
    ),
    alike=st.booleans(),
)
def test_tables(changes, alike):
    changes = {name: [values[0]] * (ROWS - 1) + [values[1]] if alike else values for name, values in changes.items()}
    columns = {name: PLAIN[name] for name in ("action", "reward", "propensity")} | {"target": [0.5] * ROWS} | changes
    table = tabulate(columns)
    outcome(lambda: cf.read_log(table))
    outcome(lambda: cf.read_target(table, "target"))
    found = outcome(lambda: cf.evaluate(table, candidates=["ips"], progress=False))
    assert found is None or np.isfinite(found.value)
