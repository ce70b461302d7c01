"""Policies of `learn` on logs that are in memory, whose context is encoded already."""

import numpy as np
import pandas as pd
import pytest

import counterfold as cf
from counterfold.policies.given import as_target
from shop_logs import ROLES, draw_shop

CONTEXT = ["visitor", "age", "joined"]


def draw_frame(seed=0, rows=600):
    """Return a log with text, gaps in numbers and dates, and times of day."""
    frame = draw_shop(seed, rows)
    frame["joined"] = pd.date_range("2024-01-01", periods=rows, freq="37min")
    frame.loc[::9, "joined"], frame.loc[::7, "visitor"] = None, None
    return frame.assign(age=frame["age"].where(frame["age"] > 20))


def make_log(frame, context):
    return cf.Log(context=frame[context], action=frame["offer"], reward=frame["bought"], propensity=frame["p"])


def learn_log(frame, context):
    return cf.learn(make_log(frame, context), "softmax-learner", shares=1, progress=False).attempted


def test_a_policy_of_a_log_is_valued_on_another_log_as_on_its_frame():
    policy, frame = learn_log(draw_frame(), CONTEXT), draw_frame(seed=1)
    log = make_log(frame, CONTEXT[::-1])
    np.testing.assert_array_equal(as_target(policy, log).probs, policy.predict_proba(frame))
    values = [
        cf.evaluate(log, policy, progress=False).value,
        cf.evaluate(frame, policy, context=CONTEXT, **ROLES).value,
    ]
    assert values[0] == pytest.approx(values[1])


def test_a_policy_is_valued_on_a_log_that_was_read(tmp_path):
    draw_frame(seed=1).to_parquet(tmp_path / "log.parquet")
    policy = learn_log(draw_frame(), CONTEXT)
    names = {name: ROLES[name] for name in ("action", "reward", "propensity")}
    log = cf.read_log(tmp_path / "log.parquet", context=CONTEXT, **names)
    np.testing.assert_array_equal(as_target(policy, log).probs, policy.predict_proba(draw_frame(seed=1)))


def test_columns_without_gaps_and_numbers_as_categories_are_the_same():
    frame = draw_shop().assign(store=pd.Categorical(np.arange(600) % 3), constant="x")
    context = ["store", "joined", "constant"]
    policy, later = learn_log(frame, context), draw_shop(seed=1).assign(store=np.arange(600) % 3, constant="x")
    wanted = policy.predict_proba(later)
    for kind in (int, "category", str):  # text that holds numbers is read as numbers
        log = make_log(later.assign(store=later["store"].astype(kind)), context)
        np.testing.assert_array_equal(as_target(policy, log).probs, wanted)


def test_rare_values_are_told_from_others_where_the_policy_does():
    def draw_cities(seed, often):
        cities = np.array(["Rome", "Oslo", "Bonn"])[np.arange(600) % 3]
        return draw_shop(seed).assign(city=np.where(np.arange(600) < 500, cities, often))

    policy = learn_log(draw_cities(0, "Oslo"), ["city"])
    many = draw_cities(1, [f"town {row}" for row in range(600)])
    np.testing.assert_array_equal(as_target(policy, make_log(many, ["city"])).probs, policy.predict_proba(many))
    few = many.replace({"city": {"Bonn": "Rome"}})
    few.loc[0, "city"] = "Bonn"
    message = "column `city` of the context must tell Bonn from other values, as the policy does, but a `Log` keeps"
    with pytest.raises(cf.DataError, match=message):
        cf.evaluate(make_log(few, ["city"]), policy, progress=False)


def test_a_column_that_a_log_lacks_is_named():
    policy = learn_log(draw_frame(), CONTEXT)
    for context, found in ((["age", "joined"], "Found: age, joined"), ([], "Its context is empty")):
        with pytest.raises(
            cf.DataError, match=rf"column `visitor`, which `target` looks at\. {found}\. Name the columns"
        ):
            cf.evaluate(make_log(draw_frame(seed=1), context), policy, progress=False)
