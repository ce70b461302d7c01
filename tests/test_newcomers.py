"""What somebody stumbled over who saw the library for the first time."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import counterfold as cf

ROWS = 3000


@pytest.fixture(scope="module")
def shop():
    """Return a log in which the value of any policy is 0.2."""
    rng = np.random.default_rng(1)
    age = rng.uniform(18, 80, ROWS)
    p = 1 / (1 + np.exp(-(age - 50) / 20))
    taken = rng.random(ROWS) < p
    minutes = pd.to_timedelta(np.arange(ROWS), unit="min")
    columns = {"user": rng.integers(1000, size=ROWS), "ts": pd.Timestamp("2024-03-01") + minutes, "age": age.round()}
    columns |= {"item": np.where(taken, "a", "b"), "click": (rng.random(ROWS) < 0.2).astype(int)}
    return pd.DataFrame(columns | {"propensity": np.where(taken, p, 1 - p)})


def ask(log, target="a", **asked):
    return cf.evaluate(log, target, **{"action": "item", "reward": "click", "progress": False} | asked)


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("group", [None, "user"])
def test_rows_that_a_join_multiplied_by_their_reward(shop, group, engine):
    joined = pd.concat([shop, shop[shop.click == 1]], ignore_index=True)
    found = ask(joined, "uniform", group=group, time="ts", engine=engine)
    assert found.value > 0.3  # where 0.2 is right
    assert found.verdict == "caution"
    assert "so that copies move the answer" in "; ".join(found.diagnostics.reasons)
    assert ask(shop, "uniform", group=group, time="ts", engine=engine).verdict == "good"


@pytest.mark.parametrize("role", ["item", "propensity", "name"])
def test_a_reward_may_be_computed_from_columns_that_have_a_role(role, shop):
    log = shop.assign(name=np.where(shop.item == "a", "Shoe", "Hat"))
    text = {"propensity": "click * propensity"}.get(role, f"click * case {role} when 'a' then 2 else 3 end")
    memory, local = (ask(log, reward=text, engine=engine) for engine in ("memory", "local"))
    assert local.value == pytest.approx(memory.value, rel=1e-9)
    assert role not in memory.contents.context


def test_text_that_is_not_utf8_is_not_lost_without_a_word(tmp_path, shop):
    city = np.where(shop.item == "a", "Roma", "Zürich")
    shop.assign(city=city).to_csv(tmp_path / "log.csv", index=False, encoding="latin-1")
    assert ask(tmp_path / "log.csv").contents.left_out["city"] == "it is not text in UTF-8; save the file as UTF-8"


def test_columns_that_no_policy_can_have_seen_are_not_suggested(shop):
    log = shop.drop(columns="propensity").assign(name=np.where(shop.item == "a", "Shoe", "Hat"), paid=shop.click * 2.5)
    found = ask(log, propensity="fit")
    assert {"name", "paid", "user"} <= set(found.contents.left_out)
    remedy = found.diagnostics.findings[0].remedy
    assert "name" not in remedy
    assert "paid" not in remedy


def test_a_misspelt_column_to_ignore(shop):
    with pytest.raises(cf.DataError, match=r"column `agee` in `ignore` must be there\. Did you mean `age`\?"):
        ask(shop, ignore=["agee"])
    with pytest.raises(cf.DataError, match=r"column `AGE` in `ignore` must be there\. Did you mean `age`\?"):
        ask(shop, ignore=["AGE"])
    with pytest.raises(cf.DataError, match=r"column `not_there_at_all` in `ignore` must be there\. Found: user, ts"):
        ask(shop, ignore=["age", "not_there_at_all"])
    assert "age" not in ask(shop, ignore=["age", "target"]).contents.context


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("name", ["keep_prob", "rate"])
def test_a_forgotten_probability_to_be_kept(name, engine, shop):
    kept = np.where(shop.click == 1, 1.0, 0.1)
    log = shop.assign(**{name: kept})[np.random.default_rng(2).random(ROWS) < kept]
    found = ask(log, engine=engine)
    assert found.contents.left_out[name] == "it looks like the probability with which a row was kept"
    assert found.verdict == "caution"
    assert any("name it as `kept`" in one.remedy for one in found.diagnostics.findings)
    assert ask(log, kept=name, engine=engine).interval.low < 0.2
    assert ask(log, ignore=[name], engine=engine).contents.left_out.keys() == {"user"}


def test_a_rate_that_has_nothing_to_do_with_the_reward_is_noted(shop):
    found = ask(shop.assign(sample_rate=np.random.default_rng(3).choice([0.2, 0.5], ROWS)))
    assert found.verdict == "good"
    assert any("sample_rate" in one.problem for one in found.diagnostics.findings)


def test_what_is_left_out_is_listed(shop):
    log = shop.assign(embedding=[[1.0, 2.0]] * ROWS, took=pd.to_timedelta(1, unit="s"))
    found = ask(log).contents.left_out
    assert "it is of type list" in found["embedding"]
    assert "it is of type duration" in found["took"]
    assert "name it as `group`" in found["user"]
    assert "ts" not in found  # it is the time


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (lambda row: f"{37000 + row:,}", "as row 0: '37,000'"),
        (lambda row: f"{10 * row:,}", "as row 100: '1,000'"),
        (str, "as row 0: '0'"),
        (lambda row: "n.a." if row == 7 else str(row), "but not row 7: 'n.a.'"),
    ],
)
def test_the_cell_that_makes_numbers_a_text_is_shown(cells, shown, shop):
    found = ask(shop.assign(income=[cells(row) for row in range(ROWS)])).contents.left_out["income"]
    assert found == f"it is text, though rows hold numbers, {shown}"


def test_frames_with_odd_columns(shop):
    log = shop.assign(odd=[1 if row % 2 else "x" for row in range(ROWS)])
    assert ask(log).contents.left_out["odd"] == "it holds several kinds of values, int and str"
    with pytest.raises(
        cf.DataError, match="column `odd` must hold one kind of values, got int and str; make it one kind"
    ):
        ask(log, group="odd")
    twice = pd.concat([shop, shop[["age"]]], axis=1)
    with pytest.raises(cf.DataError, match="age"):
        ask(twice)


def test_rewards_that_are_missing_because_nothing_was_earned(shop):
    order = np.where(shop.click == 1, 30.0 + shop.age, np.nan)
    found = ask(shop.assign(order=order), reward="order", missing_reward="drop", ignore=["click"])
    assert any("none that is left is 0" in one.problem for one in found.diagnostics.findings)
    assert found.verdict != "good"
    assert ask(shop.assign(order=order), reward="order", missing_reward="zero", ignore=["click"]).value < 30


def test_arguments_that_there_are_not(shop):
    with pytest.raises(
        cf.ParameterError, match=r"`evaluate` has no argument `period`. Ask the answer: `result.over_time"
    ):
        ask(shop, period="week")


def test_the_module_is_a_command():
    done = subprocess.run([sys.executable, "-m", "counterfold", "--help"], capture_output=True, text=True, check=True)
    assert "evaluate" in done.stdout
