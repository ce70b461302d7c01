"""Rows that were kept with different probabilities: each counts as the decisions that it stands for."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy.stats import binom
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import counterfold as cf
from counterfold.base import registry
from counterfold.log.contents import Spread
from large_logs import both, made, same

ACTIONS = 3


def draw(rows, seed, keep):
    """Return a log of which some rows were dropped, the target's probabilities there, and how likely each was kept."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, ACTIONS))
    probs, target = soften(0.7 * x), soften(0.3 * np.arange(ACTIONS) - x)
    action = (probs.cumsum(axis=1) > rng.random(rows)[:, None]).argmax(axis=1)
    reward = (rng.random(rows) < mean_reward(x)[np.arange(rows), action]).astype(float)
    kept = keep(x, action, reward)
    here = rng.random(rows) < kept
    columns = {"context": x, "action": action, "reward": reward, "logging_probs": probs}
    return {name: column[here] for name, column in columns.items()}, target[here], kept[here]


def soften(scores):
    odds = np.exp(scores)
    return odds / odds.sum(axis=1, keepdims=True)


def mean_reward(x):
    return 1 / (1 + np.exp(2 - 0.8 * x - 0.5 * np.arange(ACTIONS)))


def by_reward(_x, _action, reward):
    """Keep every click, and one in ten rows without."""
    return np.where(reward > 0, 1.0, 0.1)


@pytest.fixture(scope="module")
def truth():
    x = np.random.default_rng(99).normal(size=(1_000_000, ACTIONS))
    return float((soften(0.3 * np.arange(ACTIONS) - x) * mean_reward(x)).sum(axis=1).mean())


@pytest.fixture(scope="module")
def repeated():
    """Return a log in which rows stand for 1, 2 or 5 decisions, and one in which they are there as often."""
    log, target, _ = draw(200, 3, lambda x, *_: np.ones(len(x)))
    times = np.random.default_rng(4).choice([1, 2, 5], size=len(target))
    every = {name: np.repeat(column, times, axis=0) for name, column in log.items()}
    features = {"action_features": [[0.0], [1.0], [3.0]]}
    return cf.Log(**log, **features, kept=1 / times), target, cf.Log(**every, **features), np.repeat(target, times, 0)


@pytest.mark.parametrize("name", registry.names("estimators"))
def test_every_estimator_counts_a_row_as_often_as_it_stands_for(name, repeated):
    kind = registry.find("estimators", name)
    if "doses" in kind.kinds and "labels" not in kind.kinds:
        pytest.skip("of doses")
    if "loggers" in kind.needs:
        pytest.skip("of several loggers")
    few, few_target, every, every_target = repeated
    settings = {"reward_model": LinearRegression()}
    one = cf.estimate(few, few_target, kind(), **settings)
    assert one.value == pytest.approx(cf.estimate(every, every_target, kind(), **settings).value, rel=1e-9)
    assert one.stderr > cf.estimate(every, every_target, kind(), **settings).stderr  # copies tell nothing new


def test_sums_over_buckets_and_splits_count_alike(repeated):
    few, few_target, every, every_target = repeated
    settings = {"candidates": "plain", "selector": "slope", "reward_model": LinearRegression()}
    one, other = cf.evaluate(few, few_target, **settings), cf.evaluate(every, every_target, **settings)
    assert [line.value for line in one.table] == pytest.approx([line.value for line in other.table], rel=1e-9)
    assert one.logged.value == pytest.approx(other.logged.value, rel=1e-12)
    assert one.diagnostics.mean_weight == pytest.approx(other.diagnostics.mean_weight, rel=1e-12)
    assert one.diagnostics.top_row_share > other.diagnostics.top_row_share


@pytest.mark.parametrize("selector", ["ladder", "ocv", "ocv:refit=False", "kfold-cv", "opera", "slope"])
def test_selectors_work(selector, repeated):
    few, target, *_ = repeated
    found = cf.evaluate(few, target, selector=selector)
    assert found.interval.low < found.value < found.interval.high


@pytest.mark.parametrize("selector", ["theory", "pasif"])
def test_selectors_that_take_rows_as_they_are_say_so(selector, repeated):
    few, target, *_ = repeated
    with pytest.raises(cf.CounterfoldError, match="needs rows that were all kept with the same probability"):
        cf.evaluate(few, target, ["ips", "truncated-ips:max_weight=2"], selector)


def test_a_naive_loop_gives_the_same_values(repeated):
    few, target, *_ = repeated
    above = below = plain = 0.0
    for row in range(len(few)):
        weight = target[row][few.action[row]] / few.logging_probs[row][few.action[row]]
        above += weight * few.reward[row] / few.kept[row]
        below += weight / few.kept[row]
        plain += 1 / few.kept[row]
    assert cf.estimate(few, target, cf.IPS()).value == pytest.approx(above / plain)
    assert cf.estimate(few, target, cf.SNIPS()).value == pytest.approx(above / below)


@pytest.mark.parametrize(
    "model", [cf.RidgePerAction(), cf.SharedRidge(alpha=1e-6, common=1e-6), cf.ActionEncoded(LinearRegression())]
)
def test_reward_models_weigh_rows(model, repeated):
    few, few_target, every, every_target = repeated
    one, other = (
        cf.estimate(log, target, cf.DM(), reward_model=model)
        for log, target in ((few, few_target), (every, every_target))
    )
    plain = cf.Log(context=few.context, action=few.action, reward=few.reward, logging_probs=few.logging_probs)
    unweighted = cf.estimate(plain, few_target, cf.DM(), reward_model=model)
    assert one.value == pytest.approx(other.value, rel=2e-2)
    assert abs(one.value - other.value) < 0.2 * abs(unweighted.value - other.value)


def test_pipelines_weigh_rows_by_their_last_step(repeated):
    few, target, *_ = repeated
    one = cf.estimate(few, target, cf.DM(), reward_model=make_pipeline(StandardScaler(), LinearRegression()))
    assert one.value == pytest.approx(cf.estimate(few, target, cf.DM(), reward_model=LinearRegression()).value)


def test_models_that_cannot_weigh_rows_are_refused(repeated):
    few, target, *_ = repeated
    with pytest.raises(cf.ModelError, match=r"KNeighborsRegressor.* must take `sample_weight`"):
        cf.evaluate(few, target, reward_model=KNeighborsRegressor())


@pytest.mark.slow
def test_intervals_hold_where_rewards_decide_what_is_kept(truth):
    """Of 150 logs; a coverage of 95 % would fail with a chance of 0.1 %, and without `kept` none would hold."""
    held = naive = 0
    for seed in range(150):
        log, target, kept = draw(6000, seed, by_reward)
        low, high = cf.evaluate(cf.Log(**log, kept=kept), target).interval
        held += low <= truth <= high
        if seed < 10:
            low, high = cf.evaluate(cf.Log(**log), target).interval
            naive += low <= truth <= high
    assert held >= binom.ppf(0.001, 150, 0.95)
    assert naive == 0


def test_a_log_of_kept_rows_is_answered(truth):
    log, target, kept = draw(8000, 0, by_reward)
    found = cf.evaluate(cf.Log(**log, kept=kept), target)
    assert found.interval.low < truth < found.interval.high
    assert found.verdict == "good"
    assert found.contents.rewards.weight == pytest.approx((1 / kept).sum())
    assert found.diagnostics.mean_weight == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("rows", [3000, 500])
def test_local_gives_the_answer_of_memory(rows, save_table):
    table = made(rows)
    kept = np.where(table["reward"].to_numpy() > 0.5, 0.9, 0.2)
    here = np.random.default_rng(1).random(rows) < kept
    path = save_table(table.append_column("kept", [kept]).filter(pa.array(here)))
    for candidates, selector in (("paper", "ocv:refit=False"), ("default", "default")):
        memory, local = both(path, candidates=candidates, selector=selector)
        same(memory, local)
        assert local.contents.rewards.weight == pytest.approx(memory.contents.rewards.weight)
        assert local.contents.kept.low == memory.contents.kept.low == 0.2
        assert local.logged.value == pytest.approx(memory.logged.value)
        p = [one.diagnostics.propensities_p for one in (memory, local)]
        assert p[0] == pytest.approx(p[1], rel=1e-6)


def test_the_same_probability_everywhere_changes_nothing(save_table):
    table = made(600)
    same_chance = save_table(table.append_column("kept", [np.full(600, 0.25)]))
    for engine in ("memory", "local"):
        scans = [cf.LogScan(path, ignore=["target", "target_2"]) for path in (same_chance, save_table(table))]
        one, other = (cf.evaluate(scan, "target", engine=engine, progress=False) for scan in scans)
        assert one.value == other.value
        assert one.contents.kept is None
        assert "kept" not in one.contents.context


@pytest.mark.slow
def test_right_propensities_are_not_suspected_where_rewards_decide_what_is_kept():
    """Of 200 logs; an error rate of 0.1 % in each would fail with a chance of 2 %."""
    alarms = 0
    for seed in range(200):
        log, target, kept = draw(3000, 500 + seed, by_reward)
        found = cf.check(cf.Log(**log, kept=kept), target)
        alarms += any(one.name == "propensities" for one in found.findings)
    assert alarms <= 1


def test_wrong_propensities_are_found():
    log, target, kept = draw(30_000, 5, by_reward)
    wrong = np.full_like(log["logging_probs"], 1 / ACTIONS)
    found = cf.check(cf.Log(**log | {"logging_probs": wrong}, kept=kept), target)
    assert "propensities" in {one.name for one in found.findings}


def test_fitted_propensities_are_those_of_all_decisions():
    """Where clicks are always kept, actions that earn more are in the log more often than they were taken."""
    log, _, kept = draw(60_000, 7, by_reward)
    columns = {name: log[name] for name in ("context", "action", "reward")}
    apart = [
        np.abs(cf.Log(**columns, propensity="fit", **more).logging_probs - log["logging_probs"]).mean()
        for more in ({"kept": kept}, {})
    ]
    assert apart[0] < 0.02 < apart[1]


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_loggers_are_mixed_by_the_decisions_that_their_rows_stand_for(engine, save_table):
    table = made(400).drop_columns(["target_2"])
    probs, other = table["logging_probs"], [[0.25] * 4] * 400
    logger = np.array(["old", "new"])[np.arange(400) % 2]
    table = table.drop_columns(["logging_probs", "propensity"]).append_column("logger", [logger])
    table = table.append_column("logger_probs.old", probs).append_column("logger_probs.new", [other])
    kept = np.where(logger == "old", 0.25, 1.0)
    found = cf.evaluate(save_table(table.append_column("kept", [kept])), "target", ["ips"], engine=engine)
    rows = [(p, kept) for p, kept in zip(probs.to_pylist(), kept, strict=True)]
    total = decisions = 0.0
    for (p, one), action, reward, target in zip(
        rows, table["action"].to_pylist(), table["reward"].to_pylist(), table["target"].to_pylist(), strict=True
    ):
        total += target[action] / (0.8 * p[action] + 0.2 * 0.25) * reward / one
        decisions += 1 / one
    assert found.value == pytest.approx(total / decisions)


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (0.0, r"got 0.0 in 1 of 50 rows.*, first at row 7\. Leave the column out if it is something else"),
        (1.5, r"in \(0, 1\], the probability with which the row was kept, got 1.5 in 1 of 50 rows"),
        (-0.5, "first at row 7"),
        (np.nan, "first at row 7"),
        (1e-300, "at least 1e-"),
    ],
)
@pytest.mark.parametrize("engine", ["memory", "local"])
def test_bad_probabilities_are_refused(bad, what, engine, save_table):
    kept = np.full(50, 0.5)
    kept[7] = bad
    path = save_table(made(50).append_column("p", [kept]))
    with pytest.raises(cf.DataError, match=what):
        cf.evaluate(path, "target", kept="p", ignore=["target_2"], engine=engine)


def test_a_column_of_that_name_may_be_something_else(save_table):
    path = save_table(made(50).append_column("kept", [np.arange(50) % 2.0]))
    with pytest.raises(cf.DataError, match="--ignore"):
        cf.evaluate(path, "target", ignore=["target_2"])
    assert cf.read_log(path, ignore=["target", "target_2", "kept"]).kept is None


def test_the_command_line_says_what_rows_stand_for(save_table, run):
    table = made(400)
    kept = np.where(table["reward"].to_numpy() > 0.5, 1.0, 0.5)
    path = save_table(table.append_column("rate", [kept]))
    asked = ["check", path, "--target", "target", "--ignore", "target_2", "--kept", "rate"]
    code, shown, errors = run(*asked)
    assert code == 0, errors
    assert f"which stand for {(1 / kept).sum():,.0f} decisions" in shown
    log = json.loads(run(*asked, "--json")[1])["log"]
    assert (log["kept"], log["decisions"]) == ({"low": 0.5, "high": 1.0}, pytest.approx((1 / kept).sum()))


def test_spreads_of_parts_add_up():
    rng = np.random.default_rng(0)
    values, counts = rng.normal(size=30), rng.uniform(1, 9, size=30)
    whole, parts = Spread.of(values, counts), Spread.of(values[:11], counts[:11]) + Spread.of(values[11:], counts[11:])
    mean = np.average(values, weights=counts)
    assert parts.mean == pytest.approx(mean)
    assert parts.squares == pytest.approx((counts * (values - mean) ** 2).sum())
    assert parts.cubes == pytest.approx((counts * (values - mean) ** 3).sum())
    assert parts.effective == pytest.approx(whole.effective) == pytest.approx(counts.sum() ** 2 / (counts**2).sum())
