"""Copies of the reward, outcomes, indices and identifiers are no context; what was known before is."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from counterfold.log.assignment import balance_log, choose_context

ROWS = 400


def make_log(*, named_context=True, reward=None, **columns):
    rng = np.random.default_rng(0)
    given = {"x": rng.normal(size=ROWS)} | columns
    names = list(given)
    reward = rng.normal(size=ROWS) if reward is None else reward
    context = pa.table({name: np.asarray(given[name], dtype=float) for name in names})
    action = rng.integers(2, size=ROWS)
    half = np.full(ROWS, 0.5)
    return cf.Log(context=context, action=action, reward=reward, propensity=half, named_context=named_context)


RNG = np.random.default_rng(1)
REWARD = np.where(RNG.random(ROWS) < 0.1, RNG.lognormal(size=ROWS), 0.0)
OFTEN = np.where(RNG.random(ROWS) < 0.8, RNG.lognormal(size=ROWS), 0.0)
CLICK = np.where(RNG.random(ROWS) < 0.3, 2.0, -1.0)
LEFT_OUT = {
    "copy": ({"y": REWARD}, REWARD, "copy of the reward"),
    "another unit": ({"y": 5 - 0.01 * REWARD}, REWARD, "copy of the reward"),
    "purchase": ({"y": REWARD > 0}, REWARD, "no reward where it is 0"),
    "visit": ({"y": (REWARD > 0) | (RNG.random(ROWS) < 0.2)}, REWARD, "no reward where it is 0"),
    "frequent purchase": ({"y": OFTEN > 0}, OFTEN, "no reward where it is 0"),
    "seconds after a click": ({"y": 30 * CLICK + 15 * RNG.normal(size=ROWS)}, CLICK, "tells much of the reward"),
    "less after a click": ({"y": -CLICK + 0.8 * RNG.normal(size=ROWS)}, CLICK, "(correlation -0."),
    "time spent": ({"y": REWARD + 0.5 * REWARD.std() * RNG.normal(size=ROWS)}, REWARD, "tells much of the reward"),
    "row number": ({"y": 17 + np.arange(ROWS)}, REWARD, "index"),
    "unnamed": ({"": RNG.permutation(ROWS)}, REWARD, "index"),
    "pandas": ({"Unnamed: 0": RNG.permutation(ROWS)}, REWARD, "index"),
    "identifier": ({"userId": RNG.permutation(10**6)[:ROWS]}, REWARD, "identifier"),
}
KEPT = {
    "noise": {"y": RNG.normal(size=ROWS)},
    "correlated": {"y": REWARD + 1.5 * REWARD.std() * RNG.normal(size=ROWS)},
    "rare": {"y": RNG.random(ROWS) < 0.1},
    "often": {"y": RNG.random(ROWS) < 0.9},
    "constant": {"y": np.ones(ROWS)},
    "zero": {"y": np.zeros(ROWS)},
    "few identifiers": {"user_id": RNG.integers(20, size=ROWS)},
    "numbers by another name": {"paid": RNG.permutation(10**6)[:ROWS]},
}


@pytest.mark.parametrize(("columns", "reward", "why"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_is_no_context_is_left_out_and_said(columns, reward, why):
    log, _ = choose_context(make_log(named_context=False, reward=reward, **columns))
    [(name, reason)] = log.left_out.items()
    assert [name] == [*columns]
    assert why in reason
    assert log.context_names == ("x",)
    assert log.context.shape == (ROWS, 1)


@pytest.mark.parametrize("columns", KEPT.values(), ids=KEPT)
def test_what_may_be_context_is_kept(columns):
    log, _ = choose_context(make_log(named_context=False, reward=REWARD, **columns))
    assert log.context_names == ("x", *columns)


def test_more_may_be_known_of_rewards_that_vary_than_of_clicks():
    noise = RNG.normal(size=ROWS)
    varied = CLICK + 0.01 * RNG.normal(size=ROWS)
    kept = [
        choose_context(make_log(named_context=False, reward=one, y=one + 1.5 * noise))[0] for one in (CLICK, varied)
    ]
    assert [log.context_names for log in kept] == [("x",), ("x", "y")]


def test_that_few_rows_are_correlated_may_be_chance():
    x, reward = np.arange(20.0) % 7, np.arange(20) % 7 > 3
    given = {"action": [0, 1] * 10, "reward": reward, "propensity": np.full(20, 0.5), "named_context": False}
    assert abs(np.corrcoef(x, reward)[0, 1]) > 0.8
    assert balance_log(cf.Log(context=x[:, None], **given)).leave_out() == {}


def test_named_context_stays():
    log = make_log(reward=REWARD, y=REWARD)
    same, balance = choose_context(log)
    assert same is log
    assert balance.reasons["y"].is_outcome
    found = cf.evaluate(log, np.full(ROWS, 0.5), reward_model=None)
    [finding] = [one for one in found.diagnostics.findings if one.name == "outcome-context"]
    assert "column `y` may be no context" in finding.problem
    assert found.contents.context == ("x", "y")


def test_a_few_rows_tell_nothing():
    log = cf.Log(context=[[1.0], [2.0]], action=[0, 1], reward=[1.0, 2.0], propensity=[0.5, 0.5], named_context=False)
    assert balance_log(log).leave_out() == {}


@pytest.fixture
def table():
    """Return a log with an outcome that depends on the action, and a copy of the reward."""
    rng = np.random.default_rng(3)
    action = rng.integers(3, size=3000)
    x = rng.normal(size=3000)
    reward = x + action + rng.normal(size=3000)
    columns = {"x": x, "w": rng.normal(size=3000), "seconds": rng.exponential(1 + action), "usd": 2 * reward}
    columns |= {"action": action, "reward": reward, "propensity": np.full(3000, 1 / 3)}
    columns |= {f"target_{label}": np.full(3000, share) for label, share in enumerate((0.2, 0.2, 0.6))}
    return pa.table(columns)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("model", ["default", "ridge-per-action", None])
def test_every_engine_keeps_the_same_columns(table, full, model, tmp_path):
    if full:
        table = table.append_column("logging_probs", [[[1 / 3] * 3] * 3000])
    pa.parquet.write_table(table, tmp_path / "log.parquet", row_group_size=500)
    asked = {"progress": False, "reward_model": model}
    memory, local = (cf.evaluate(tmp_path / "log.parquet", engine=one, **asked) for one in ("memory", "local"))
    assert memory.contents.context == local.contents.context == ("x", "w")
    assert memory.contents.left_out == local.contents.left_out
    assert set(memory.contents.left_out) == {"seconds", "usd"}
    assert local.value == pytest.approx(memory.value, rel=1e-9)
    assert local.diagnostics.propensities_p == pytest.approx(memory.diagnostics.propensities_p)
    assert local.diagnostics.context_p == pytest.approx(memory.diagnostics.context_p, rel=1e-6)
    assert memory.to_dict()["context"] == {"taken": ["x", "w"], "left_out": memory.contents.left_out, "encoded": {}}
    named = [one for one in local.diagnostics.findings if one.name == "outcome-context"]
    [finding] = [one for one in named if one.severity == "caution"]
    assert "`seconds`" in finding.problem
    assert "as it is left out" in finding.remedy


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_function_of_the_context_sees_every_column(table, engine, tmp_path):
    pa.parquet.write_table(table, tmp_path / "log.parquet", row_group_size=500)
    scan = cf.LogScan(tmp_path / "log.parquet")
    found = cf.evaluate(scan, lambda x: np.full((len(x), 3), 1 / 3), engine=engine, progress=False)
    assert found.contents.context == ("x", "w", "seconds", "usd")
    assert {one.name for one in found.diagnostics.findings} >= {"outcome-context"}


def test_a_log_that_was_read_before_gives_the_same_answer(table):
    target = np.tile([0.2, 0.2, 0.6], (3000, 1))
    read, scanned = cf.evaluate(cf.read_log(table), target), cf.evaluate(cf.LogScan(table), "target")
    assert read.contents.left_out == scanned.contents.left_out
    assert read.value == scanned.value
    ignoring = cf.read_log(table, ignore=["target", "seconds", "usd"])
    assert cf.estimate(cf.read_log(table), target, "snips").value == cf.estimate(ignoring, target, "snips").value
    # Rows fall into folds by all that they hold, so that a model of the same columns is cross-fitted on other folds.
    found, expected = (cf.estimate(one, target, "dr") for one in (cf.read_log(table), ignoring))
    assert found.value == pytest.approx(expected.value, abs=0.1 * expected.stderr)


@pytest.mark.parametrize(("name", "why"), [("policy_v2", "a policy's probability"), ("v2", "depends on the action")])
def test_probabilities_of_the_logged_action_are_known_by_name_and_mean_weight(name, why):
    rng = np.random.default_rng(4)
    action = rng.integers(2, size=ROWS)
    context = pa.table({"x": rng.random(ROWS), name: np.where(action == 1, 0.7, 0.3)})
    given = {"context": context, "action": action, "reward": rng.normal(size=ROWS), "propensity": np.full(ROWS, 0.5)}
    log, _ = choose_context(cf.Log(**given, named_context=False))
    assert why in log.left_out[name]
    assert log.context_names == ("x",)
