"""The column of times: how it is found, what depends on its order, and that nothing else does."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from problems import log_of
from reference import random_data

ROWS = 900
START = np.datetime64("2024-03-01T00:00:00")
ASKED = {"candidates": ["ips"], "selector": "slope", "reward_model": None, "progress": False}


@pytest.fixture
def frame():
    """Return a log in the order of time."""
    rng = np.random.default_rng(0)
    action = rng.integers(2, size=ROWS)
    columns = {"x": rng.normal(size=ROWS), "action": action, "reward": (rng.random(ROWS) < 0.3).astype(float)}
    return pd.DataFrame(columns | {"propensity": 0.5, "target": 0.5, "when": START + np.arange(ROWS) * 3000})


@pytest.fixture
def save(tmp_path):
    def write(frame, name="log.parquet"):
        if name.endswith("csv"):
            frame.to_csv(tmp_path / name, index=False)
        else:
            pa.parquet.write_table(pa.Table.from_pandas(frame), tmp_path / name, row_group_size=130)
        return tmp_path / name

    return write


def test_a_confidence_sequence_takes_rows_in_the_order_of_time(frame, save):
    asked = ASKED | {"interval": cf.ConfidenceSequence(low=0.0, high=1.0)}
    shuffled = save(frame.sample(frac=1.0, random_state=0))
    expected = cf.evaluate(save(frame, "sorted.parquet"), **asked).interval
    for engine in ("memory", "local"):  # on short logs each row has a bucket
        found = cf.evaluate(shuffled, time="when", engine=engine, **asked).interval
        assert found == pytest.approx(expected, rel=1e-9)
    assert cf.evaluate(shuffled, **asked).interval != pytest.approx(expected, rel=1e-3)


def test_groups_come_in_the_order_of_their_first_times(frame):
    frame["group"] = np.arange(ROWS) // 3
    asked = ASKED | {"interval": cf.ConfidenceSequence(low=0.0, high=1.0)}
    shuffled = frame.sample(frac=1.0, random_state=0)
    assert cf.evaluate(shuffled, time="when", **asked).interval == pytest.approx(cf.evaluate(frame, **asked).interval)


def test_equal_times_stay_in_the_order_of_the_log(frame):
    asked = ASKED | {"interval": cf.ConfidenceSequence(low=0.0, high=1.0)}
    frame["day"] = START
    assert cf.evaluate(frame, time="day", **asked).interval == cf.evaluate(frame, **asked).interval


def test_nothing_else_depends_on_time(frame):
    shuffled = frame.sample(frac=1.0, random_state=0)
    plain, timed = cf.evaluate(shuffled, progress=False), cf.evaluate(shuffled, time="when", progress=False)
    assert (plain.value, plain.stderr) == (timed.value, timed.stderr)
    assert plain.interval == pytest.approx(timed.interval, rel=1e-12)
    assert plain.estimate.contributions.tolist() == timed.estimate.contributions.tolist()
    assert timed.uplift().interval() == pytest.approx(plain.uplift().interval(), rel=1e-12)


def change_half_way(seed=0):
    """Return a log whose policy changed half-way through time, though it says that it did not; rows in no order."""
    data, rng = random_data(seed, rows=2000), np.random.default_rng(seed)
    hour = rng.permutation(2000)
    data.logging = np.full((2000, 4), 0.25)
    acting = np.where((hour < 1000)[:, None], [0.4, 0.2, 0.2, 0.2], [0.1, 0.3, 0.3, 0.3])
    data.a = np.array([rng.choice(4, p=row) for row in acting])
    return data, START + hour * 3600


@pytest.mark.parametrize("alone", [False, True], ids=["all probabilities", "propensities alone"])
def test_a_policy_that_changed_is_found_by_time_whatever_the_order_of_the_rows(alone):
    data, when = change_half_way()
    given = {"context": data.x, "reward": data.r}
    for order in (
        np.arange(2000),
        np.argsort(data.a, kind="stable"),
    ):  # sorted by action, the row's number tells nothing
        known = {"propensity": np.full(2000, 0.25)} if alone else {"logging_probs": data.logging[order]}
        given = {"context": data.x[order], "reward": data.r[order], "action": data.a[order]}
        with_time = cf.Log(**given, **known, actions=range(4), time=when[order])
        found = {one.name: one for one in cf.check(with_time, data.target[order]).findings}
        assert "they changed in the course of time in a way that the log does not say" in found["propensities"].problem
        assert cf.check(cf.Log(**given, **known, actions=range(4)), data.target[order]).propensities_p > 0.001


def test_every_engine_tests_the_propensities_by_time(tmp_path):
    data, when = change_half_way()
    columns = {"action": data.a, "reward": data.r, "logging_probs": data.logging.tolist(), "when": when}
    pa.parquet.write_table(
        pa.table(columns | {"target": data.target.tolist()}), tmp_path / "a.parquet", row_group_size=300
    )
    found = [cf.check(tmp_path / "a.parquet", engine=one, time="when") for one in ("memory", "local")]
    memory, local = (one.propensities_p for one in found)
    assert memory == pytest.approx(local, rel=1e-9)
    assert memory < 1e-6


def test_loggers_that_took_turns_are_found_by_time():
    data = random_data(0, rows=2000)
    rng = np.random.default_rng(0)
    logger, given = rng.integers(2, size=2000), {"context": data.x, "action": data.a, "reward": data.r}
    given |= {"logger": logger, "logger_probs": {"0": data.logging, "1": data.logging}, "actions": range(4)}
    time = START + (logger * 1000 + rng.permutation(2000)) * 3600
    assert cf.check(cf.Log(**given), data.target).loggers_p > 0.001
    assert cf.check(cf.Log(**given, time=time), data.target).loggers_p < 1e-6


@pytest.mark.parametrize("name", ["log.parquet", "log.csv"])
def test_dates_are_found_under_the_very_name(frame, save, name):
    path = save(frame.rename(columns={"when": "time"}), name)
    for engine in ("memory", "local"):
        assert cf.check(path, engine=engine).periods == 6
        assert cf.check(path, engine=engine, ignore=["time"]).periods is None
    assert cf.read_log(path).context_names == ("x",)


def test_other_columns_of_that_name_are_context_as_before(frame):
    frame["time"] = np.arange(ROWS) % 24
    assert cf.read_log(frame).context_names == ("x", "time")
    assert cf.read_log(frame).time is None
    named = cf.read_log(frame, time="time")
    assert (named.context_names, named.time.has_days) == (("x",), False)
    frame["time"] = "12:30"
    assert cf.read_log(frame).time is None


def test_a_named_column_is_no_context_unless_listed(frame):
    frame["when"] = 1_700_000_000 + np.arange(ROWS)
    assert cf.read_log(frame, time="when").context_names == ("x",)
    assert cf.read_log(frame, time="when", context=["x", "when"]).context_names == ("x", "when")


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_bad_times_far_into_a_file_are_named_by_their_rows(frame, save, engine):
    long = pd.concat([frame] * 20, ignore_index=True)
    long["when"] = long["when"].astype(str)
    long.loc[17_000, "when"] = "yesterday"
    with pytest.raises(
        cf.DataError, match=r"`time` \(column `when`\) must be times such as .* got yesterday in 1 of .*"
    ):
        cf.check(save(long), time="when", engine=engine)
    with pytest.raises(cf.DataError, match=r"first at row 17000\."):
        cf.check(save(long), time="when", engine=engine)


def test_columns_that_are_not_there_or_have_another_role(frame):
    with pytest.raises(cf.DataError, match=r"column `whem` must be there\. Did you mean `when`"):
        cf.check(frame, time="whem")
    with pytest.raises(cf.DataError, match="column `reward` must have one role, got `reward` and `time`"):
        cf.check(frame, time="reward")
    with pytest.raises(cf.DataError, match="column `target` must have one role"):
        cf.check(frame, time="target")
    with pytest.raises(cf.ParameterError, match="`time` must be the name of a column, as text"):
        cf.check(frame, time=frame["when"])


def test_a_column_of_times_of_day_is_refused_by_its_type(frame):
    table = pa.Table.from_pandas(frame).append_column("clock", pa.array([1] * ROWS).cast(pa.time64("us")))
    with pytest.raises(cf.DataError, match=r"`time` \(column `clock`\) must be dates, timestamps, .* got time64\[us\]"):
        cf.check(table, time="clock")


def test_a_comparison_of_differences_keeps_the_order(frame):
    found = cf.compare(frame, {"a": "uniform", "b": "target"}, baseline="b", time="when", progress=False)
    assert found.table[0].value == pytest.approx(0.0, abs=0.1)


def test_estimates_take_the_order_of_the_log():
    data, when = change_half_way()
    log = log_of(data, time=when)
    found = cf.estimate(log, data.target, "ips").interval(method=cf.ConfidenceSequence(low=-1e3, high=1e3))
    order = np.argsort(when)
    in_order = cf.Estimate("", cf.estimate(log, data.target, "ips").contributions[order])
    assert found.low == pytest.approx(in_order.interval(method=cf.ConfidenceSequence(low=-1e3, high=1e3)).low)
