"""Policies that are learnt on Spark are those of the local engine."""

import pyarrow as pa
import pytest

import counterfold as cf
from spark_logs import LOCAL, MARKS, SLOW

pytestmark = MARKS

FEATURES = pa.table(
    {
        "action": ["red", "green", "blue", *(f"unknown {place}" for place in range(50))],
        "price": [1.0, 2.0, 4.0, *[None] * 50],
        "topic": ["warm", "cold", "cold", *(f"other {place}" for place in range(50))],
    }
)


@LOCAL
@pytest.mark.parametrize(
    "settings",
    [{}, {"action_features": FEATURES}, pytest.param({"group": "user", "missing_reward": "drop"}, marks=SLOW)],
)
def test_policies_are_those_of_the_local_engine(settings, spark, path):
    del spark
    asked = {"ignore": ["target", "other_policy"], "context": ["age", "height"], "progress": False, **settings}
    found, expected = (cf.learn(path, "greedy-learner", engine=name, **asked) for name in ("spark", "local"))
    assert found.sample == expected.sample
    assert found.policy.describe() == expected.policy.describe()
    assert found.evaluation.value == pytest.approx(expected.evaluation.value, rel=1e-9)
    assert found.evaluation.contents.rewards.count == expected.evaluation.contents.rewards.count
