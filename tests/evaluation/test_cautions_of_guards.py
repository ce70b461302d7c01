"""Cautions about the reward of a guard are cautions about the decision."""

import json

import numpy as np
import pytest

import counterfold as cf

ROWS = 4000


def make_log(*, slow_are_lost):
    """Return a log in which b earns more than a, and is slower; slow answers may have no latency in it."""
    rng = np.random.default_rng(1)
    item = rng.integers(2, size=ROWS)
    latency = 100 + 8 * item + 5 * rng.normal(size=ROWS)
    if slow_are_lost:
        latency[(latency > 105) & (rng.random(ROWS) < 0.8)] = np.nan
    return {
        "action": np.array(["a", "b"])[item],
        "revenue": item + rng.normal(size=ROWS),
        "latency": latency,
        "propensity": np.full(ROWS, 0.5),
    }


def compare(log, **given):
    asked = {"reward": "revenue", "guards": ["latency <= +5%"], "missing_reward": "drop", "context": []}
    return cf.compare(log, ["b"], **asked, **given, progress=False)


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_rewards_of_a_guard_that_are_missing_by_the_action_are_a_caution(engine):
    found = compare(make_log(slow_are_lost=True), engine=engine)
    assert found.judge("b").verdict == "caution"
    named = [one.problem for one in found["b"].diagnostics.findings if one.name == "missing-rewards"]
    assert len(named) == 1
    assert named[0].startswith("by the guard on `latency`, ")
    assert found.advise("b").action != "ship"
    told = json.loads(found.to_json())["evaluations"][0]["diagnostics"]["findings"]
    assert named[0] in [one["problem"] for one in told]


def test_a_choice_has_the_verdict_on_it():
    clean = cf.compare(make_log(slow_are_lost=False), ["a", "b"], reward="revenue", ignore=["latency"], progress=False)
    assert (clean.decision.choice, clean.decision.verdict) == ("b", "good")
    log = make_log(slow_are_lost=False)
    log["revenue"][(log["action"] == "b") & (log["revenue"] < 1)] = np.nan  # what b does not sell is not logged
    asked = {"reward": "revenue", "missing_reward": "drop", "ignore": ["latency"], "progress": False}
    lost = cf.compare(log, ["a", "b"], **asked)
    assert (lost.decision.choice, lost.decision.verdict) == ("b", "caution")
    nothing = cf.compare(make_log(slow_are_lost=False), ["a"], reward="revenue", ignore=["latency"], progress=False)
    assert (nothing.decision.choice, nothing.decision.verdict) == (None, None)
