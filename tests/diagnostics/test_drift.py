"""Values over time: against naive loops, the same on every engine, and what is found of logs that change or do not."""

import json
from dataclasses import astuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
import reference
from counterfold.evidence.history import HOURS, History
from problems import log_of, rows_of
from reference.diagnostics import compare_days, error

START = np.datetime64("2024-03-01")


def draw(rows=1200, seed=0, days=12):
    """Return a problem, and a day for each row in no order, of which the last one has few rows."""
    data = reference.random_data(seed, rows=rows)
    rng = np.random.default_rng(seed)
    day = rng.integers(days, size=rows)
    day[:5] = days
    return data, day


def stamp(days, unit="D"):
    return START.astype("datetime64[s]") + np.asarray(days).astype(f"timedelta64[{unit}]")


def evaluate(data, time, model=None, **more):
    asked = {"candidates": ["ips"], "selector": "slope", "reward_model": model, "progress": False}
    return cf.evaluate(log_of(data, time=time, **more), data.target, **asked)


def write(data, path, **columns):
    columns |= {"action": data.a, "reward": data.r, "x": data.x[:, 0], "target": data.target.tolist()}
    table = pa.table(columns | {"logging_probs": data.logging.tolist()})
    pa.parquet.write_table(table, path, row_group_size=170)
    return path


def snips(data):
    """Return what each row contributes to SNIPS."""
    weights, rewards = data.weights(), data.r.tolist()
    value = sum(w * r for w, r in zip(weights, rewards, strict=True)) / sum(weights)
    mean = sum(weights) / len(weights)
    return [value + w / mean * (r - value) for w, r in zip(weights, rewards, strict=True)]


@pytest.mark.parametrize("groups", [None, 90])
def test_against_naive_loop(groups):
    data, day = draw()
    group = None if groups is None else np.arange(1200) % groups
    found = evaluate(data, stamp(day), group=group)
    each, rewards, alike = snips(data), data.r.tolist(), [1.0, 1.0, 1.0]
    gaps = [one - reward for one, reward in zip(each, rewards, strict=True)]
    if groups:
        own = [error(one, group.tolist()) ** 2 / (np.var(one) / 1200) for one in (each, rewards, gaps)]
        alike = [max(1.0, one) for one in own]
    p, spread, lines = compare_days(day.tolist(), each, alike[0])
    logged_p, _, logged = compare_days(day.tolist(), rewards, alike[1])
    gap_p, gap_spread, ahead = compare_days(day.tolist(), gaps, alike[2])
    known = found.diagnostics
    assert (known.periods, known.late_rows) == (13, 0)
    assert (known.drift_p, known.drift, known.logged_drift_p) == pytest.approx((p, spread, logged_p), rel=1e-9)
    assert (known.difference_drift_p, known.difference_drift) == pytest.approx((gap_p, gap_spread), rel=1e-9)
    several = lines, logged, ahead
    expected = [
        (lines[one][0], *(part for own in several for part in (own[one][1], own[one][2] ** 0.5))) for one in lines
    ]
    np.testing.assert_allclose([astuple(line)[1:] for line in found.over_time()], expected, rtol=1e-9)
    assert [line.start for line in found.over_time()] == [str(START + one) for one in range(13)]


def test_a_reward_model_makes_it_doubly_robust():
    data, day = draw()
    found = evaluate(data, stamp(day), "ridge-per-action")
    each = cf.DR().contributions(rows_of(data))
    p, spread, lines = compare_days(day.tolist(), each.tolist())
    _, _, ahead = compare_days(day.tolist(), (each - data.r).tolist())
    assert (found.diagnostics.drift_p, found.diagnostics.drift) == pytest.approx((p, spread), rel=1e-9)
    assert [one.value for one in found.over_time()] == pytest.approx([value for _, value, _ in lines.values()])
    errors = [variance**0.5 for _, _, variance in ahead.values()]
    assert [one.difference_stderr for one in found.over_time()] == pytest.approx(errors)
    assert found.diagnostics.history.estimator == "DR"
    whole = np.average([one.value for one in found.over_time()], weights=[one.rows for one in found.over_time()])
    assert whole == pytest.approx(each.mean())


@pytest.mark.parametrize("model", ["default", None])
@pytest.mark.parametrize("more", [{}, {"group": np.arange(1200) % 80}], ids=["rows", "groups"])
def test_every_engine_has_the_same_table(tmp_path, model, more):
    data, day = draw()
    path = write(data, tmp_path / "log.parquet", when=stamp(day * 5000, "s"), **more)
    asked = {"candidates": ["ips"], "selector": "slope", "reward_model": model, "progress": False, "time": "when"}
    memory, local = (cf.evaluate(path, "target", engine=engine, **asked) for engine in ("memory", "local"))
    assert memory.diagnostics.drift_p == pytest.approx(local.diagnostics.drift_p, rel=1e-9)
    for period in (None, "hour", "day", "week"):
        left, right = memory.over_time(period), local.over_time(period)
        assert [one.start for one in left] == [one.start for one in right]
        np.testing.assert_allclose([astuple(one)[1:] for one in left], [astuple(one)[1:] for one in right], rtol=1e-8)


def test_rows_may_be_cut_in_any_way_even_where_hours_become_days():
    data, _ = draw(3000)
    hours = np.append(np.arange(1400) % 300, np.arange(1600) % (HOURS + 200))
    rows = rows_of(data, time=stamp(hours, "h"))
    cut = [rows.take(slice(start, start + 700), lambda part=start: rows.q[part : part + 700]) for start in (0, 700)]
    cut += [rows.take(slice(1400, 3000), lambda: rows.q[1400:])]
    whole, parts = History.of(rows), [History.of(one) for one in cut]
    assert [one.is_hourly for one in (whole, *parts)] == [False, True, True, False]
    for left, middle, right in ((0, 1, 2), (2, 0, 1)):
        total = (parts[left] + parts[middle]) + parts[right]
        assert (total.is_hourly, total.numbers.tolist()) == (False, whole.numbers.tolist())
        assert total.sums[0].tolist() == whole.sums[0].tolist()


PERIODS = {
    "hour": (np.arange(1200) // 60, "h", 20),
    "day": (np.arange(1200) // 60, "D", 20),
    "week": (np.arange(1200) // 10, "D", 18),
    "month": (np.arange(1200) // 2, "D", 20),
    "quarter": (np.arange(1200), "D", 14),
    "year": (np.arange(1200) * 9, "D", 30),
}


@pytest.mark.parametrize("period", PERIODS)
def test_the_period_follows_from_the_log(period):
    data, (number, unit, count) = draw()[0], PERIODS[period]
    found = evaluate(data, stamp(np.random.default_rng(0).permutation(number), unit))
    assert (found.diagnostics.history.used_period, found.diagnostics.periods) == (period, count)
    assert sum(line.rows for line in found.over_time()) == 1200


def test_few_rows_make_longer_periods():
    data = draw(300)[0]
    assert evaluate(data, stamp(np.arange(300) // 10)).diagnostics.history.used_period == "week"
    assert evaluate(draw(60)[0], stamp(np.arange(60) // 2)).diagnostics.history.used_period == "month"


@pytest.mark.parametrize("time", [[START] * 400, stamp(np.arange(400) % 50, "s")], ids=["equal", "one minute"])
def test_one_period_cannot_be_compared(time):
    found = evaluate(draw(400)[0], time).diagnostics
    assert (found.periods, found.drift_p, found.findings) == (1, None, ())
    assert found.texts["over time"] == "1 day from 2024-03-01 on, too few to compare"


def test_weeks_months_quarters_and_years_start_where_they_do():
    found = evaluate(draw(400)[0], stamp(np.arange(400) * 2))
    starts = {
        period: [line.start for line in found.over_time(period)] for period in ("week", "month", "quarter", "year")
    }
    assert starts["week"][:2] == ["2024-02-26", "2024-03-04"]
    assert starts["month"][:2] == ["2024-03-01", "2024-04-01"]
    assert starts["quarter"][:3] == ["2024-01-01", "2024-04-01", "2024-07-01"]
    assert starts["year"] == ["2024-01-01", "2025-01-01", "2026-01-01"]


def test_hours_are_shown_as_such_and_refused_where_they_are_not_kept():
    data = draw()[0]
    assert evaluate(data, stamp(np.arange(1200) // 60, "h")).over_time("hour")[1].start == "2024-03-01T01:00"
    long = evaluate(data, stamp(np.arange(1200), "h"))
    with pytest.raises(cf.ParameterError, match="`period` must be `day` or longer on a log of more than 1024 hours"):
        long.over_time("hour")
    with pytest.raises(cf.ParameterError, match=r"`period` must be .*got 'weak'. Did you mean `week`"):
        long.over_time("weak")


def test_without_days_there_is_no_table():
    for more in ({}, {"time": np.arange(400)}):
        found = evaluate(draw(400)[0], **({"time": None} | more))
        assert (found.over_time(), found.diagnostics.drift_p) == ([], None)
        assert json.loads(found.to_json())["diagnostics"]["over_time"] is None
        with pytest.raises(
            cf.ParameterError, match="`period` must be for a log whose `time` tells days, got none: name the column"
        ):
            found.over_time("week")


def change(case, seed=0, rows=3000):
    """Return an evaluation of a log of 30 days, in no order, in which something changes."""
    data, rng = reference.random_data(seed, rows=rows), np.random.default_rng(seed)
    data.logging, share = 0.5 * data.logging + 0.125, rng.random(rows)
    data.a = np.array([rng.choice(4, p=row) for row in data.logging])
    data.target = 0.5 * data.logging + 0.5 * np.array([1.0, 0.0, 0.0, 0.0])
    noise, hour = rng.normal(size=rows), np.floor(share * 720)
    data.r = {
        "nothing": noise,
        "reward": noise + share,
        "advantage": noise + (2 * share - 1) * (data.a == 0),
        "season": noise + np.where(data.a == 0, 1.6 - 2.4 * np.abs(share - 0.5), 4 * np.abs(share - 0.5)),
        "small": 10 + noise / 10 + 0.008 * (share > 0.5),
        "clicks": (rng.random(rows) < 0.1).astype(float),
        "late": (rng.random(rows) < 0.1) * (share < 0.8),
        "slowly in": (rng.random(rows) < 0.2) * (rng.exponential(0.1, rows) < 1 - share),
        "logger": noise + 0.4 * (share > 0.5) * (data.a > 1),
    }[case]
    return evaluate(data, stamp(hour, "h"))


def speak(found):
    return [(one.severity, one.problem) for one in found.diagnostics.findings if one.name == "drift"]


@pytest.mark.parametrize("case", ["reward", "advantage"])
def test_values_that_change_are_a_caution(case):
    found = change(case)
    [(severity, problem)] = speak(found)
    assert severity == "caution"
    assert f"(p = {found.diagnostics.drift_p:.1g})" in problem
    assert "the value by SNIPS changes over time, from " in problem
    assert "in 30 days (p = " in problem


def test_small_changes_are_a_note():
    found = change("small", rows=40_000)
    [(severity, _)] = speak(found)
    assert (severity, found.diagnostics.drift_p < 0.001) == ("note", True)


def test_what_the_log_earned_may_change_alone():
    found = change("logger", rows=6000)
    [(severity, problem)] = speak(found)
    assert (severity, found.diagnostics.drift_p > 0.001) == ("note", True)
    assert problem.startswith("what the log earned changes over time")


def test_the_difference_may_change_with_the_value_or_alone():
    """Rewards that rise for all actions change the value alone, those of the preferred action both.

    In a season in which it earns as much less as the others earn more, the target's value stays the same.
    """
    world, both = change("reward"), change("advantage")
    assert world.diagnostics.difference_drift_p > 0.001 > both.diagnostics.difference_drift_p
    assert "difference" not in speak(world)[0][1]
    assert ", and so does its difference to the log, from " in speak(both)[0][1]
    [(severity, problem)] = speak(alone := change("season"))
    assert alone.diagnostics.drift_p > 0.001 > alone.diagnostics.difference_drift_p
    assert severity == "caution"
    assert problem.startswith("the difference of the value by SNIPS to the log changes over time, from -")
    assert problem.endswith(f"in 30 days (p = {alone.diagnostics.difference_drift_p:.1g})")


def test_the_difference_of_equal_policies_does_not_change():
    rng = np.random.default_rng(0)
    action, day = rng.integers(2, size=2000), rng.integers(20, size=2000)
    log = cf.Log(
        action=action, reward=1e6 + day + rng.normal(size=2000), propensity=np.full(2000, 0.5), time=stamp(day)
    )
    found = cf.evaluate(log, np.full(2000, 0.5), progress=False)
    assert (found.diagnostics.difference_drift_p, found.diagnostics.difference_drift) == (1.0, 0.0)
    assert {line.difference_stderr for line in found.over_time()} == {0.0}
    assert [line.difference for line in found.over_time()] == pytest.approx([0.0] * 20, abs=1e-6)


@pytest.mark.parametrize("case", ["nothing", "clicks"])
def test_a_log_that_does_not_change_is_not_called_so(case):
    assert [speak(change(case, seed)) for seed in range(20)] == [[]] * 20


def test_rewards_that_are_not_in_yet():
    found = change("late")
    [(severity, problem)] = speak(found)
    assert severity == found.verdict == "caution"
    assert problem.startswith("rewards may not be in yet: in the last 6 days (since 2024-03-25) 0.00% of the rows have")
    assert found.diagnostics.late_rows == sum(line.rows for line in found.over_time()[-6:])
    assert speak(change("slowly in"))[0][1].startswith("rewards may not be in yet: in the last ")


def test_late_rewards_of_a_short_log_are_found_by_hour_and_usual_ones_are_named():
    data, rng = draw(3000)[0], np.random.default_rng(0)
    share = rng.random(3000)
    data.r = np.where((rng.random(3000) < 0.15) & (share < 0.7), rng.random(3000), 5.0)
    [(_, problem)] = speak(evaluate(data, stamp(share * 86400, "s")))
    assert "in the last 7 hours (since 2024-03-01T17:00) 0.00% of the rows" in problem
    assert "have a reward other than 5, and 16.07% before" in problem


def test_a_stray_date_and_a_large_reward_change_nothing():
    data, _ = draw(3000)
    data.r[7] = 1000.0
    day = np.random.default_rng(0).integers(28, size=3000)
    day[3] = 9000
    found = evaluate(data, stamp(day))
    assert speak(found) == []
    assert (found.over_time()[-1].rows, found.diagnostics.periods) == (1, 29)


def test_where_the_target_has_no_weight_nothing_is_said():
    given = {"action": [0, 0, 0, 1] * 100, "reward": [0, 1] * 200, "actions": range(3)}
    log = cf.Log(**given, logging_probs=np.tile([0.7, 0.2, 0.1], (400, 1)), time=stamp(np.arange(400)))
    assert cf.check(log, np.tile([0.0, 0.0, 1.0], (400, 1))).over_time() == []


def test_doses_have_a_table():
    rng = np.random.default_rng(0)
    dose, day = rng.random(2000), rng.integers(20, size=2000)
    log = cf.Log(dose=dose, reward=dose + rng.normal(size=2000), propensity=np.ones(2000), time=stamp(day))
    found = cf.evaluate(log, np.full(2000, 0.5), progress=False)
    assert len(found.over_time()) == 20
    assert speak(found) == []
    grouped = cf.Log(
        dose=dose, reward=log.reward, propensity=np.ones(2000), time=stamp(day), group=np.arange(2000) // 5
    )
    assert cf.evaluate(grouped, np.full(2000, 0.5), progress=False).diagnostics.drift_p > 0.001
    assert cf.check(grouped, np.full(2000, 0.5)).drift_p > 0.001


def test_a_day_may_be_a_group():
    rng = np.random.default_rng(0)
    day = rng.integers(30, size=1500)
    frame = pd.DataFrame({"action": rng.integers(2, size=1500), "propensity": 0.5, "target": 0.5, "day": stamp(day)})
    frame["reward"] = rng.normal(size=1500) + 0.5 * rng.normal(size=30)[day]
    found = cf.check(frame, group="day", time="day")
    assert (found.groups, found.periods) == (30, 30)
    assert cf.check(frame, time="day").drift_p < found.drift_p


def test_kept_rows_count_as_the_decisions_that_they_stand_for():
    """Rows with `kept` have the values of rows that are there as often, and larger errors."""
    rng = np.random.default_rng(3)
    rows, times = 600, rng.choice([1, 2, 4], size=600)
    action, reward = rng.integers(2, size=rows), rng.normal(size=rows)
    day = np.datetime64("2024-01-01") + np.arange(rows) // 100
    columns = {"action": action, "reward": reward, "propensity": np.full(rows, 0.5), "time": day}
    every = {name: np.repeat(column, times) for name, column in columns.items()}
    target = np.where(action == 1, 0.8, 0.2)
    few = cf.evaluate(cf.Log(**columns, kept=1 / times), cf.Probabilities(target)).diagnostics.history
    many = cf.evaluate(cf.Log(**every), cf.Probabilities(np.repeat(target, times))).diagnostics.history
    for one, other in zip(few.table, many.table, strict=True):
        assert (one.start, one.rows) == (other.start, 100)
        assert (one.value, one.logged) == pytest.approx((other.value, other.logged))
        assert one.difference == pytest.approx(other.difference)
        assert (one.stderr > other.stderr, one.difference_stderr > other.difference_stderr) == (True, True)


def draw_sampled(seed, rows=6000):
    """Return a log over ten days in which nothing changes, of which clicks and some other rows were kept."""
    rng = np.random.default_rng([9, seed])
    click = (rng.random(rows) < 0.1).astype(float)
    kept = np.where(click > 0, 1.0, np.where(rng.random(rows) < 0.02, 1.0, 0.05))
    columns = {"action": rng.integers(2, size=rows), "reward": click, "propensity": np.full(rows, 0.5), "kept": kept}
    columns["time"] = np.datetime64("2024-01-01") + np.sort(rng.integers(10, size=rows))
    here = rng.random(rows) < kept
    return cf.Log(**{name: column[here] for name, column in columns.items()})


def test_sampled_rows_raise_no_false_alarm_and_their_errors_are_right():
    """Of 60 logs an error rate of 0.3 % would fail with a chance of 2 %; the spread of 600 means is known to 3 %."""
    found = [cf.check(log, np.full(len(log), 0.5)) for log in map(draw_sampled, range(60))]
    assert sum(any(one.name == "drift" for one in few.findings) for few in found) <= 1
    lines = [line for few in found for line in few.history.table]
    spread = np.std([line.logged for line in lines])
    assert np.mean([line.logged_stderr for line in lines]) == pytest.approx(spread, rel=0.3)
