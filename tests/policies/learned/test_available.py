"""Which actions are available: by label or by position, where a policy decides and where it is valued."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import counterfold as cf
from counterfold.base.errors import SupportWarning
from counterfold.policies.given import as_target
from shop_logs import draw_shop, learn_shop

VISITORS = pd.DataFrame({"age": [30, 70], "visitor": ["new", "known"]})
ONLY = pd.DataFrame([[True, False, False]] * 2, columns=["standard", "discount", "delivery"])


@pytest.fixture(scope="module")
def policy():
    return learn_shop()


@pytest.mark.parametrize(
    "available",
    [ONLY, ONLY.to_dict("list"), pl.from_pandas(ONLY), ONLY.astype(int), ONLY.astype(object), ONLY.assign(gift=True)],
    ids=["frame", "mapping", "polars", "numbers", "objects", "more"],
)
def test_columns_go_by_label(policy, available):
    actions, propensities = policy.draw(VISITORS, seed=0, available=available)
    assert (actions.tolist(), propensities.tolist()) == (["standard"] * 2, [1, 1])


def test_a_matrix_goes_by_position(policy):
    assert policy.classes_.tolist() == ["delivery", "discount", "standard"]
    for available in ([[0, 0, 1]] * 2, pd.DataFrame([[False, False, True]] * 2), np.array([[False, False, True]] * 2)):
        assert policy.predict(VISITORS, available=available).tolist() == ["standard"] * 2


def test_labels_that_are_numbers_are_labels():
    codes = {"standard": 2, "discount": 0, "delivery": 1}
    log = draw_shop()
    policy = learn_shop(log.assign(offer=log["offer"].map(codes)), actions=[2, 0, 1])
    assert policy.classes_.tolist() == [2, 0, 1]
    available = pd.DataFrame([[False, False, True]] * 2)
    assert policy.predict(VISITORS, available=available).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("available", "sentence"),
    [
        ([["false", "true", "true"]] * 2, r"true or false, got 'false' in 2 of 2 rows, first at row 0\."),
        ([[True, np.nan, 1]] * 2, r"true or false, got nan in 2 of 2 rows"),
        ([[0.5, 1, 1]] * 2, r"true or false, got 0\.5 in 2 of 2 rows"),
        ([[None, True, True]] * 2, r"true or false, got None in 2 of 2 rows"),
        (ONLY.assign(standard=[True, None]), r"true or false, got None in 1 of 2 rows, first at row 1\."),
        (ONLY.head(1), r"true or false in each of 2 rows, got shape \(1,\)\."),
        ([[True], [True, False]], r"true or false for each of 3 actions in each of 2 rows, got shape"),
        (ONLY.drop(columns="delivery"), r"for every action of the policy, got none for delivery among standard"),
        ({}, r"a column for every action of the policy, got none for delivery among none"),
    ],
)
def test_what_is_neither_true_nor_false_is_refused(policy, available, sentence):
    with pytest.raises(cf.DataError, match=sentence):
        policy.predict(VISITORS, available=available)


def draw_scarce(seed=0, names=("a", "b", "c"), rows=600):
    """Return a log in which one of three actions, the best one, could be taken in half of the rows."""
    rng = np.random.default_rng(seed)
    available = np.column_stack([np.ones((rows, 2), dtype=bool), rng.random(rows) < 0.5])
    probs, x = available / available.sum(axis=1, keepdims=True), rng.normal(size=rows)
    action = (probs.cumsum(axis=1) < rng.random(rows)[:, None]).sum(axis=1)
    reward = 1.0 * (action == 2) + x * (action == 1) + rng.normal(size=rows)
    known = {"x": x, "action": np.array(names)[action], "reward": reward, "propensity": probs.max(axis=1)}
    return pd.DataFrame({**known, "available": [dict(zip(names, map(bool, row), strict=True)) for row in available]})


@pytest.fixture(scope="module")
def scarce():
    return cf.learn(draw_scarce(), "greedy-learner", shares=1, progress=False).attempted


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_policy_takes_only_what_was_available_on_the_next_log(scarce, engine, tmp_path):
    log = draw_scarce(seed=1)
    log.to_parquet(tmp_path / "next.parquet")
    scarce.save(tmp_path / "policy.skops")
    file = f"skops:{tmp_path / 'policy.skops'}"
    for target in (file, scarce, cf.Skops(tmp_path / "policy.skops").model, f"0.1*uniform + 0.9*{file}"):
        found = cf.evaluate(tmp_path / "next.parquet", target, engine=engine, progress=False)
        assert found.verdict == "good"


def test_availability_goes_by_the_labels_of_the_log(scarce):
    log = draw_scarce(seed=1)
    available = pd.DataFrame(log["available"].tolist())
    wanted = scarce.predict_proba(log, available=available)
    for order in ("abc", "cab"):
        known = {"action": log["action"], "reward": log["reward"], "propensity": log["propensity"]}
        given = cf.Log(context=log[["x"]], available=available, actions=list(order), **known)
        found = as_target(scarce, given).probs
        np.testing.assert_array_equal(found, wanted[:, ["abc".index(one) for one in order]])


def test_where_it_may_take_nothing_that_is_available_the_log_cannot_tell():
    policy = cf.learn(draw_scarce(), "greedy-learner", forbidden=["a"], progress=False).attempted
    log = draw_scarce(seed=1)
    alone = pd.Series([{"a": True, "b": False, "c": False}] * 60)
    log.loc[:59, "action"], log.loc[:59, "propensity"], log.loc[:59, "available"] = "a", 1.0, alone
    with pytest.warns(SupportWarning, match=r"10\.00% of its probability, in 60 of 600 rows"):
        cf.evaluate(log, policy, progress=False)


def test_an_action_that_the_log_does_not_know_is_refused(scarce):
    log = draw_scarce(seed=1)
    log = log[log["action"] != "c"].reset_index(drop=True)
    given = {name: log[name] for name in ("action", "reward", "propensity")}
    known = cf.Log(context=log[["x"]], available=np.ones((len(log), 2)), actions=["a", "b"], **given)
    with pytest.raises(cf.DataError, match=r"the columns of .* must be named after the actions, got c for 2: a, b"):
        cf.evaluate(known, scarce, progress=False)
