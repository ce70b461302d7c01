"""Tables of logs that are not as most are: of doses, of rows that were kept, of actions in turn, of very many."""

import numpy as np
import pytest

import counterfold as cf
from exhibited import LABELS, draw_log


def test_rows_that_count_several_times_are_repeated_rows():
    log, target = draw_log(200, seed=5)
    twice = np.repeat(np.arange(200), np.where(log.reward > 0, 1, 2))
    kept = {"action": np.array(LABELS)[log.action], "reward": log.reward, "logging_probs": log.logging_probs}
    rates = np.where(log.reward > 0, 1.0, 0.5)
    one = cf.evaluate(cf.Log(**kept, kept=rates, actions=LABELS), target).exhibits["support"]
    log = cf.Log(**{name: values[twice] for name, values in kept.items()}, actions=LABELS)
    other = cf.evaluate(log, target[twice]).exhibits["support"]
    for mine, theirs in zip(one.lines, other.lines, strict=True):
        for name in ("logged_share", "target_share", "mean_reward"):
            assert mine[name] == pytest.approx(theirs[name])


def test_doses_are_shown_by_range():
    rng = np.random.default_rng(2)
    dose = rng.uniform(0, 1, 400)
    log = cf.Log(context=rng.normal(size=(400, 1)), dose=dose, reward=1 - (dose - 0.6) ** 2, propensity=np.ones(400))
    shown = cf.evaluate(log, np.full(400, 0.6)).exhibits
    lines = shown["support"].lines
    assert sum(line["logged_share"] for line in lines) == pytest.approx(1)
    assert [line["target_share"] for line in lines if line["target_share"]] == [1.0]
    assert shown["influence"].lines[0]["action"].startswith("0.")
    assert "action-calibration" not in shown


def test_very_many_actions_are_not_listed():
    rng = np.random.default_rng(4)
    action = rng.integers(1500, size=3000)
    log = cf.Log(action=action, reward=rng.random(3000), propensity=np.full(3000, 1 / 1500))
    assert "support" not in cf.evaluate(log, np.full(3000, 1 / 1500)).exhibits


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_a_target_without_weight_shows_what_there_is(reward):
    action = np.tile(LABELS[:2], 50)
    rewards = np.tile([0.0, 1.0, 1.0, 0.0], 25) if reward else np.tile([0.0, 1.0], 50)
    log = cf.Log(action=action, reward=rewards, propensity=np.full(100, 0.5))
    shown = cf.evaluate(log, np.where(action == "a", 0.0, 0.0)).exhibits
    assert shown["weights"].lines == []
    assert "sensitivity" not in shown
    assert "influence" not in shown


def test_rows_are_named_by_their_place_in_the_source():
    rewards = np.where(np.arange(40) % 4 == 0, np.nan, np.arange(40) % 3)
    frame = {"action": list("ab") * 20, "reward": rewards, "propensity": [0.5] * 40, "new": [0.5] * 40}
    shown = cf.evaluate(frame, "new", missing_reward="drop").exhibits["influence"]
    assert all(rewards[line["row"]] == line["reward"] for line in shown.lines)


def test_rows_in_turn_have_a_sensitivity_too():
    action = np.arange(40_000) % 2
    rng = np.random.default_rng(8)
    log = cf.Log(action=action, reward=action + rng.normal(size=40_000), propensity=np.full(40_000, 0.5))
    assert "sensitivity" in cf.evaluate(log, cf.Probabilities(action.astype(float))).exhibits
