"""Calibration: what the reward model predicts beside what was earned, where the target goes."""

import numpy as np
import pytest

import counterfold as cf
from exhibited import LABELS, LOG, ROWS, TARGET, WEIGHTS, draw_log


def test_calibration_against_loop():
    model = cf.CrossFitted(cf.RidgePerAction(alpha=1.0))
    shown = cf.evaluate(LOG, TARGET, reward_model=model).exhibits
    tenths, actions = shown["calibration"].lines, shown["action-calibration"].lines
    assert sum(line["rows"] for line in tenths) == sum(line["rows"] for line in actions) == ROWS
    for line in actions:
        mine = LOG.action == LABELS.index(line["name"])
        earned = sum(weight * reward for weight, reward in zip(WEIGHTS[mine], LOG.reward[mine], strict=True))
        assert (line["rows"], line["observed"]) == (mine.sum(), pytest.approx(earned / WEIGHTS[mine].sum()))
        assert line["low"] < line["observed"] < line["high"]
    assert [line["predicted"] for line in tenths] == sorted(line["predicted"] for line in tenths)
    assert "calibration" not in cf.evaluate(LOG, TARGET, reward_model=model, candidates=["ips", "snips"]).exhibits


def test_calibration_is_of_what_the_target_does():
    """A model that is right where the target goes is right, whatever it says elsewhere."""
    rng = np.random.default_rng(0)
    context = rng.normal(size=(4000, 1))
    action = rng.integers(2, size=4000)
    wanted = (context[:, 0] > 0).astype(int)
    reward = np.where(action == wanted, 1.0 + context[:, 0] ** 2, -5.0) + 0.1 * rng.normal(size=4000)
    log = cf.Log(context=context, action=action, reward=reward, logging_probs=np.full((4000, 2), 0.5))
    q = np.where(np.arange(2) == wanted[:, None], 1.0 + context**2, 7.0)
    shown = cf.evaluate(log, np.eye(2)[wanted], reward_model=q).exhibits
    assert shown["calibration"].facts["explained"] > 0.9
    assert sum(line["rows"] for line in shown["calibration"].lines) == (action == wanted).sum()
    tenths = [line["rows"] / (action == wanted).sum() for line in shown["calibration"].lines]
    assert tenths == pytest.approx([0.1] * 10, abs=0.002)
    for line in [*shown["calibration"].lines, *shown["action-calibration"].lines]:
        assert line["predicted"] == pytest.approx(line["observed"], abs=0.02)


def test_calibration_shows_rows_that_the_model_did_not_see():
    rng = np.random.default_rng(1)
    log, target = draw_log(120, seed=1)
    noise = replace_context(log, rng.normal(size=(120, 25)))
    shown = cf.evaluate(noise, target, reward_model=cf.RidgePerAction(alpha=1e-9)).exhibits["calibration"]
    assert shown.facts["explained"] < 0  # in sample it would be near 1


def replace_context(log, context):
    given = {"action": np.array(LABELS)[log.action], "reward": log.reward, "logging_probs": log.logging_probs}
    return cf.Log(context=context, **given, actions=LABELS)


def test_few_rows_and_equal_rewards_have_wide_intervals_within_the_rewards():
    rng = np.random.default_rng(6)
    action = np.array([*rng.integers(2, size=398), 2, 2])
    reward = np.where(action == 1, 0.0, rng.random(400) < 0.3)
    log = cf.Log(
        context=rng.normal(size=(400, 1)), action=action, reward=reward, logging_probs=np.full((400, 3), 1 / 3)
    )
    lines = {
        line["name"]: line for line in cf.evaluate(log, np.full((400, 3), 1 / 3)).exhibits["action-calibration"].lines
    }
    assert lines["1"]["low"] == 0 < lines["1"]["high"] < 0.05  # the rule of three
    assert (lines["2"]["low"], lines["2"]["high"] > 0.8) == (0.0, True)


def test_rows_of_groups_count_as_one_in_calibration():
    rng = np.random.default_rng(7)
    users = np.repeat(np.arange(60), 20)
    action, reward = rng.integers(2, size=1200), np.repeat(rng.random(60), 20)
    given = {"context": rng.normal(size=(1200, 1)), "action": action, "reward": reward}
    plain, grouped = (
        cf.evaluate(cf.Log(**given, logging_probs=np.full((1200, 2), 0.5), group=group), np.full((1200, 2), 0.5))
        for group in (None, users)
    )
    widths = [
        np.mean([line["high"] - line["low"] for line in one.exhibits["action-calibration"].lines])
        for one in (plain, grouped)
    ]
    assert 2.5 < widths[1] / widths[0] < 4.5  # the root of about ten rows of a user with each action
