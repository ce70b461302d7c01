"""Differences over time: paired, the same on every engine, and intervals that hold."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf

START = np.datetime64("2024-03-04")  # a Monday
DAYS = 12


def draw(seed, rows=2400, gain=0.0, groups=None):
    """Return columns of a log of 12 days, with two targets of which `new` gains by `gain` times the day."""
    rng = np.random.default_rng(seed)
    action, day = rng.integers(3, size=rows), rng.integers(DAYS, size=rows)
    group = np.arange(rows) if groups is None else rng.integers(groups, size=rows)
    liked = 0.0 if groups is None else rng.normal(size=(groups, 3))[group, action]
    reward = np.array([0.0, 0.2, 0.5])[action] + gain * day * (action == 2) + liked + rng.normal(size=rows)
    probs = {"old": np.array([0.2, 0.6, 0.2]), "new": np.array([0.1, 0.4, 0.5])}
    columns = {"action": action, "reward": reward, "propensity": np.full(rows, 1 / 3), "when": START + day}
    columns |= {} if groups is None else {"user": group}
    return columns | {name: own[action] for name, own in probs.items()}


def compare(source, baseline="old", **more):
    return cf.compare(source, ["old", "new"], baseline=baseline, time="when", progress=False, **FIXED, **more)


FIXED = {"candidates": ["snips"], "selector": "slope", "reward_model": None}


def find_truth(columns, name):
    """Return what each row contributes to SNIPS, by the formula."""
    weights = columns[name] / columns["propensity"]
    value = weights @ columns["reward"] / weights.sum()
    return value + weights / weights.mean() * (columns["reward"] - value)


def test_values_are_those_of_both_and_errors_are_paired():
    """Errors of 32 pieces are known to 13 % each; those of 12 days together differ from loops' by less than 15 %."""
    columns = draw(0, rows=6000)
    found = compare(columns)
    table, gaps = found.over_time()["new"].table, find_truth(columns, "new") - find_truth(columns, "old")
    days = [gaps[columns["when"] == START + day] for day in range(DAYS)]
    assert [line.rows for line in table] == [len(own) for own in days]
    assert [line.difference for line in table] == pytest.approx([own.mean() for own in days])
    both = zip(found["new"].over_time(), found["old"].over_time(), strict=True)
    assert [line.difference for line in table] == pytest.approx([one.value - other.value for one, other in both])
    errors = np.array([own.std(ddof=1) / len(own) ** 0.5 for own in days])
    assert np.mean([line.stderr for line in table] / errors) == pytest.approx(1, abs=0.15)
    # No interval is shorter than that of all rows would be with as few.
    assert all(line.high - line.low > 2 * 2.0395 * line.stderr * (1 - 1e-4) for line in table)
    unpaired = np.hypot(
        [one.stderr for one in found["new"].over_time()], [one.stderr for one in found["old"].over_time()]
    )
    assert np.mean([line.stderr for line in table]) < 0.8 * unpaired.mean()


def test_without_a_baseline_it_is_the_difference_to_the_log():
    columns = draw(1)
    found = compare(columns, baseline=None).over_time("week")
    assert set(found) == {"old", "new"}
    gaps = find_truth(columns, "new") - columns["reward"]
    weeks = [
        gaps[(columns["when"] >= START + 7 * week) & (columns["when"] < START + 7 * week + 7)] for week in range(2)
    ]
    assert found["new"].period == "week"
    assert [line.difference for line in found["new"].table] == pytest.approx([own.mean() for own in weeks])
    assert [line.start for line in found["new"].table] == ["2024-03-04", "2024-03-11"]


@pytest.mark.parametrize("groups", [None, 300])
def test_every_engine_has_the_same_differences(tmp_path, groups):
    columns = draw(2, groups=groups)
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=170)
    more = {} if groups is None else {"group": "user"}
    several = [compare(tmp_path / "log.parquet", engine=engine, **more) for engine in ("memory", "local")]
    for period in (None, "day", "week"):
        one, other = (found.over_time(period)["new"] for found in several)
        assert (one.period, one.p) == (other.period, pytest.approx(other.p, rel=1e-6))
        assert [(line.start, line.rows) for line in one.table] == [(line.start, line.rows) for line in other.table]
        both = [[(line.difference, line.stderr) for line in found.table] for found in (one, other)]
        np.testing.assert_allclose(*both, rtol=1e-8)
        # Ends go by the interval of all rows where that reaches farther; the skewness of buckets is not that of rows.
        for line, same in zip(one.table, other.table, strict=True):
            assert [line.low, line.high] == pytest.approx([same.low, same.high], abs=0.05 * (line.high - line.low))


def test_a_difference_that_changes_is_told_and_one_to_itself_is_0():
    assert compare(draw(3)).over_time()["new"].p > 0.001 > compare(draw(3, gain=0.1)).over_time()["new"].p
    columns = draw(4)
    same = compare(columns | {"new": columns["old"]}).over_time()["new"]
    assert same.p is None
    assert {(line.difference, line.stderr, line.low, line.high) for line in same.table} == {(0.0, 0.0, 0.0, 0.0)}
    told = json.loads(compare(columns).to_json())["differences"][0]["over_time"]
    assert (told["period"], told["estimator"], len(told["table"])) == ("day", "SNIPS", DAYS)


@pytest.mark.parametrize("baseline", [None, "old"])
def test_a_week_of_rare_rewards_is_not_known_better_than_all_weeks(baseline):
    columns = draw(3)
    rare = (np.random.default_rng(3).random(2400) < 0.02) * np.random.default_rng(4).pareto(1.5, 2400)
    found = compare(columns | {"reward": rare}, baseline)
    whole = found["new"].uplift(None if baseline is None else found[baseline]).interval()
    for line in found.over_time("week")["new"].table:
        assert line.high - line.low >= (whole.high - whole.low) * np.sqrt(2400 / line.rows) * (1 - 1e-9)
        assert line.low < line.difference < line.high


def test_a_log_without_time_has_none():
    columns = draw(5)
    del columns["when"]
    found = cf.compare(columns, ["old", "new"], baseline="old", progress=False, **FIXED)
    assert found.over_time() == {}
    assert json.loads(found.to_json())["differences"][0]["over_time"] is None


@pytest.mark.statistical
@pytest.mark.parametrize(("baseline", "groups"), [(None, None), ("old", None), ("old", 200)])
def test_intervals_of_periods_hold(baseline, groups):
    """Of 40 logs with 12 days, at least 93.5 % of 480 intervals of 95 %: fails with a chance of 7 % at exactly 95 %.

    They are on the safe side, as an error is never below that of as many rows of the whole log.
    """
    held, truth = [], 0.33 - (0.7 / 3 if baseline is None else 0.22)
    more = {} if groups is None else {"group": "user"}
    for seed in range(40):
        table = compare(draw([7, seed], rows=1200, groups=groups), baseline, **more).over_time()["new"].table
        held += [line.low <= truth <= line.high for line in table]
    assert 0.935 <= np.mean(held) <= 0.995
