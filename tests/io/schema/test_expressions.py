"""Rewards that are computed: missing numbers, overflow, names that differ in case, functions that skip gaps."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import counterfold as cf

ROWS = 400


def make_log(**columns):
    """Return a log of two actions with more columns."""
    return {"action": np.arange(ROWS) % 2, "propensity": np.full(ROWS, 0.5)} | columns


def gaps():
    x = np.random.default_rng(0).normal(size=ROWS)
    x[::3] = np.nan
    return x


@pytest.mark.parametrize("text", ["case when x > 0 then 1 else 0 end", "greatest(x, 0)", "coalesce(x, 7)"])
def test_what_is_no_number_is_missing_whatever_holds_it(text):
    x = gaps()
    several = [make_log(x=x), pd.DataFrame(make_log(x=x)), pa.table(make_log(x=pa.array(x, from_pandas=True)))]
    plain, frame, table = (cf.read_log(one, reward=text, context=[]).reward for one in several)
    np.testing.assert_array_equal(plain, table)
    np.testing.assert_array_equal(frame, table)
    if "case" in text:
        assert plain.mean() == np.mean(x > 0)  # a gap is not larger than all numbers


def test_functions_that_skip_gaps_are_noted():
    found = cf.evaluate(make_log(x=gaps()), "always:1", reward="greatest(x, 0)")
    [note] = [one for one in found.diagnostics.findings if "greatest" in one.problem]
    assert note.severity == "note"
    assert "case when x is null" in note.remedy
    assert not cf.evaluate(make_log(x=gaps()), "always:1", reward="coalesce(x, 0)").diagnostics.findings


def test_columns_that_differ_in_case_alone():
    log = make_log(Cost=np.arange(ROWS) + 5.0, cost=np.arange(ROWS) * 1.0)
    with pytest.raises(cf.ParameterError, match="must read columns that differ not in case alone, got Cost, cost"):
        cf.evaluate(log, "always:1", reward="Cost - 0.5 * cost")
    assert cf.read_log(log, reward="2 * Cost", context=[]).reward[0] == 10.0


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint64"])
def test_small_whole_numbers_do_not_overflow(kind):
    small = (np.arange(ROWS) % 120).astype(kind)
    log = cf.read_log(make_log(i=small, j=np.full(ROWS, 100, kind)), reward="i * i - j", context=[])
    np.testing.assert_array_equal(log.reward, small.astype(float) ** 2 - 100)


def test_what_cannot_be_computed_is_said():
    with pytest.raises(
        cf.DataError, match=r"the reward `cast\(word as double\)` could not be computed: Could not convert"
    ):
        cf.evaluate(make_log(word=["a"] * ROWS), "always:1", reward="cast(word as double)")


def test_an_expression_that_takes_too_long_is_interrupted(monkeypatch):
    monkeypatch.setattr("counterfold.io.sources._expressions.PATIENCE", 0.0)
    with pytest.raises(cf.DataError, match=r"could not be computed: it takes more than 0 seconds. Compute it as a col"):
        cf.read_log(make_log(x=np.arange(ROWS) % 7), reward="x + 1")


def test_an_interrupt_ends_an_expression_at_once():
    """Ctrl-C, as a signal to this very process, while DuckDB computes."""
    import os
    import signal
    import threading
    import time

    from counterfold.io.sources._expressions import run_within

    class Connection:
        was_interrupted = False

        def interrupt(self):
            self.was_interrupted = True

        def close(self):
            pass

    connection = Connection()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which processes in the background ignore
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_within(60.0, connection, lambda _: time.sleep(5), "the reward `x` could not be computed")
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 4
    assert connection.was_interrupted
