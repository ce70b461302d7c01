"""Columns that have a role because of their names alone: what is said of them, and times that nobody named."""

import numpy as np
import pandas as pd
import pytest

import counterfold as cf
from counterfold.io.schema.usual_names import TIME, WHO, spell

ROWS = 4000
ENGINES = pytest.mark.parametrize("engine", ["memory", "local"])
START = np.datetime64("2024-03-01", "us")


@pytest.fixture
def log():
    rng = np.random.default_rng(0)
    first = rng.random(ROWS) < 0.5
    columns = {"age": rng.normal(size=ROWS), "action": np.where(first, "a", "b"), "propensity": 0.5}
    return pd.DataFrame(columns | {"reward": (rng.random(ROWS) < 0.2) * 1, "target": np.where(first, 0.4, 0.6)})


def spread(days):
    """Return times in so many days, in order."""
    return START + np.linspace(0, days * 86_400e6 - 1, ROWS).astype("timedelta64[us]")


def ask(log, **asked):
    return cf.evaluate(log, **{"candidates": ["snips"], "reward_model": None, "progress": False} | asked)


def notes(found):
    return [one.problem for one in found.diagnostics.findings if one.name == "as-read"]


# what is said

TAKEN = {
    "kept": (lambda: np.where(np.arange(ROWS) % 2, 0.5, 1.0), "the probability with which the row was kept"),
    "group": (lambda: np.arange(ROWS) % 900, "the user or session that a row belongs to"),
    "available": (lambda: [[True, True]] * ROWS, "the actions that could be taken"),
    "time": (lambda: spread(20), "when decisions were made"),
}


@ENGINES
@pytest.mark.parametrize("role", TAKEN)
def test_a_column_that_nobody_named_is_noted(log, role, engine):
    make, meaning = TAKEN[role]
    log[role] = make() if role != "available" else list(make())
    asked = {"engine": engine, "actions": ["a", "b"]}
    found = ask(log, **asked)
    assert notes(found) == [f"column `{role}` was taken for {meaning}, because of its name"]
    [finding] = [one for one in found.diagnostics.findings if one.name == "as-read"]
    assert (finding.severity, finding.remedy) == (
        "note",
        f"put it into `ignore` (--ignore {role}) if it is something else",
    )
    assert notes(ask(log, **asked, **{role: role})) == []
    assert notes(ask(log, **asked, ignore=["target", role])) == []


WRONG = {
    "kept": (lambda: np.arange(ROWS) % 2 == 0, r"got 0.0 in 2000 of 4000 rows"),
    "group": (lambda: ["all"] * ROWS, r"`group` must have at least 2 different groups, got 1\."),
    "available": (lambda: ["yes"] * ROWS, "`available`"),
}


@ENGINES
@pytest.mark.parametrize("role", WRONG)
def test_errors_of_a_column_that_nobody_named_say_so(log, role, engine):
    make, rule = WRONG[role]
    log[role] = make()
    hint = (
        rf"Column `{role}` was taken because of its name: leave it out if it is something else \(`ignore`, --ignore\)"
    )
    with pytest.raises(cf.DataError, match=rule) as raised:
        ask(log, engine=engine)
    assert raised.match(hint)
    with pytest.raises(cf.DataError, match=rule) as raised:
        ask(log, engine=engine, **{role: role})
    assert "because of its name" not in str(raised.value)
    assert ask(log, engine=engine, ignore=["target", role]).value > 0


# times

TIMES = {
    "ts": lambda times: times,
    "timestamp": lambda times: times.astype("datetime64[s]").astype(str),
    "createdAt": lambda times: times.astype("datetime64[s]").astype(int),
    "Event Time": lambda times: times.astype("datetime64[ms]").astype(int) / 1.0,
    "date": lambda times: times.astype("datetime64[D]").astype(str),
    "day": lambda times: [int(str(one).replace("-", "")) for one in times.astype("datetime64[D]")],
}


@ENGINES
@pytest.mark.parametrize("name", TIMES)
def test_late_rewards_are_found_by_times_that_nobody_named(log, name, engine):
    log.loc[ROWS * 4 // 5 :, "reward"] = 0
    log[name] = TIMES[name](spread(30))
    found = ask(log, engine=engine)
    assert notes(found) == [f"column `{name}` was taken for when decisions were made, because of its name"]
    assert found.verdict == "caution"
    assert found.diagnostics.late_rows > 0
    assert name not in found.contents.context
    named = ask(log, engine=engine, time=name)
    assert found.diagnostics.measures == named.diagnostics.measures
    without = ask(log, engine=engine, ignore=["target", name])  # rows are in the order of decisions all the same
    assert [one.name for one in without.diagnostics.findings if one.severity == "caution"] == ["row-order"]


@ENGINES
def test_of_several_times_none_is_taken(log, engine):
    log["created_at"], log["event_time"] = spread(30), spread(31)
    found = ask(log, engine=engine)
    said = "columns `created_at` and `event_time` may tell when decisions were made, and none was taken for it"
    assert notes(found) == [said]
    assert found.diagnostics.periods is None
    assert notes(ask(log, engine=engine, time="created_at")) == []


BAD = {
    "missing": lambda times: np.where(np.arange(ROWS) == ROWS - 3, np.datetime64("NaT"), times),
    "text": lambda times: np.where(np.arange(ROWS) == ROWS - 3, "soon", times.astype("datetime64[s]").astype(str)),
    "numbers": lambda times: np.where(np.arange(ROWS) == ROWS - 3, -1, times.astype("datetime64[s]").astype(int)),
}


@ENGINES
@pytest.mark.parametrize("kind", BAD)
def test_times_that_some_rows_lack_are_not_taken(log, kind, engine, tmp_path):
    log["ts"] = BAD[kind](spread(30))
    log.to_parquet(tmp_path / "log.parquet", row_group_size=170)
    found = ask(tmp_path / "log.parquet", engine=engine)
    but = "1 of 4,000 rows have none, or one that is written in another way"
    assert notes(found) == [f"column `ts` may tell when decisions were made, and was not taken for it: {but}"]
    assert found.diagnostics.periods is None
    assert "ts" in found.contents.left_out
    with pytest.raises(cf.DataError, match=r"`time` \(column `ts`\) must be"):
        ask(tmp_path / "log.parquet", engine=engine, time="ts")


OTHERS = {
    "day": lambda: np.arange(ROWS) % 7,
    "time": lambda: np.arange(ROWS) % 24,
    "date_of_birth": lambda: spread(30),
    "joined_at": lambda: spread(30),
    "updated_at": lambda: spread(30),
    "log_date": lambda: ["soon"] * ROWS,
    "ts": lambda: np.arange(ROWS) % 2 == 0,
}


@ENGINES
@pytest.mark.parametrize("name", OTHERS)
def test_other_columns_are_no_times(log, name, engine):
    log[name] = OTHERS[name]()
    found = ask(log, engine=engine)
    assert notes(found) == []
    assert found.diagnostics.periods is None


def test_a_horizon_names_the_time(log):
    log["time"], log["reward_time"] = spread(30), spread(30) + np.timedelta64(1, "h")
    assert not any("because of its name" in one for one in notes(ask(log, horizon="2h")))


# names


@pytest.mark.parametrize(
    "name",
    ["user_id", "userID", "User Id", "customer.uuid", "app_user_id", "UID", "visitorId", "account_no", "patient"],
)
def test_names_of_users(name):
    assert WHO.fullmatch(spell(name))


@pytest.mark.parametrize(
    "name", ["user_age", "item_id", "device", "query", "visit", "users", "user_id_hash_bucket", "id", "fluid"]
)
def test_names_of_something_else(name):
    assert not WHO.fullmatch(spell(name))


@pytest.mark.parametrize("name", ["birth_date", "signup_date", "time_on_page", "times", "reward_time", "updated_at"])
def test_names_of_other_times(name):
    assert not TIME.fullmatch(spell(name))
