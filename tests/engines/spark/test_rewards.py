"""Spark prepares rewards as the local engine does, and says the same."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from spark_logs import LOCAL, MARKS, ROWS, SLOW, check_same, saved

pytestmark = MARKS
TIME = np.datetime64("2024-01-01", "us") + np.arange(ROWS) * np.timedelta64(1000, "s")


@pytest.fixture(scope="module")
def late(table, tmp_path_factory):
    """Return a log some rewards of which are missing, newest decisions first, as a file of several partitions."""
    rng = np.random.default_rng(1)
    missing = rng.random(ROWS) < np.where(np.array(table["action"]) == "red", 0.3, 0.1)
    columns = {name: table[name] for name in table.column_names if name != "reward"}
    columns |= {"reward": pa.array(np.array(table["reward"]), mask=missing), "cost": rng.random(ROWS)}
    columns |= {"time": TIME[::-1], "reward_time": pa.array(TIME[::-1] + np.timedelta64(1, "h"), mask=missing)}
    return saved(pa.table(columns), tmp_path_factory.mktemp("logs") / "late.parquet")


ASKED = {
    "drop": {"missing_reward": "drop", "ignore": ["cost"]},
    "zero": {"missing_reward": "zero", "ignore": ["cost"]},
    "expression": {"reward": "reward - 0.2 * cost", "missing_reward": "drop"},
    "horizon": {"horizon": "7d"},
    "propensity": {"propensity": "10 * propensity / 10", "missing_reward": "drop", "ignore": ["cost"]},
}


@LOCAL
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("kind", [pytest.param(one, marks=[] if one == "expression" else SLOW) for one in ASKED])
def test_rewards_are_prepared_as_by_the_local_engine(late, kind):
    asked = {"candidates": ["ips", "dr"], "selector": "slope", "progress": False, **ASKED[kind]}
    expected = cf.evaluate(late, engine="local", **asked)
    check_same(cf.evaluate(late, engine="spark", **asked), expected)
    assert expected.diagnostics.findings


@SLOW
@LOCAL
def test_several_rewards_of_a_frame(spark, late):
    rewards = ["cost", "coalesce(reward, 0) - cost", "reward + cost"]  # the last one leaves rows out
    asked = {"reward": rewards, "missing_reward": "drop", "candidates": ["ips"], "progress": False}
    found = cf.evaluate(spark.read.parquet(str(late)), **asked)
    expected = cf.evaluate(late, engine="local", **asked)
    for reward, one in expected.items():
        check_same(found[reward], one)


@LOCAL
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    "asked",
    [
        {"horizon": "900d"},
        {"reward": "reward - 2 * cots"},
        {"reward": "sum(cost)"},
        {"horizon": "7d", "until": "2023-01-01"},
    ],
)
def test_what_is_wrong_gets_the_same_sentence(late, asked):
    said = []
    for engine in ("local", "spark"):
        with pytest.raises(cf.CounterfoldError) as raised:
            cf.evaluate(late, engine=engine, progress=False, **asked)
        said.append(str(raised.value))
    assert said[0] == said[1]
