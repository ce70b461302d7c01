"""Logs that nothing is wrong with, and for every diagnostic a log on which it speaks."""

import numpy as np
from sklearn.dummy import DummyRegressor

import counterfold as cf
import reference
from problems import log_of

ANSWERS = {"model-shift": {"candidates": ["dm"], "reward_model": cf.PerAction(DummyRegressor())}}
"""What is asked where the answer matters; elsewhere it is IPS alone."""


def clean_data(rows=2000):
    """Return a problem that nothing is wrong with: every action likely, the target near the log."""
    data = reference.random_data(0, rows=rows)
    data.logging = 0.5 * data.logging + 0.125
    rng = np.random.default_rng(1)
    data.a = np.array([rng.choice(4, p=row) for row in data.logging])
    data.r = data.x[:, 0] + rng.normal(size=rows)
    data.target = 0.5 * data.logging + 0.125
    return data


def wrong_propensities():
    data = clean_data()
    data.logging = np.roll(data.logging, 1, axis=1)
    data.target = np.tile([0.7, 0.1, 0.1, 0.1], (2000, 1))
    return log_of(data), data.target


def one_large_weight():
    data = clean_data()
    log = cf.Log(action=data.a, reward=data.r, propensity=np.where(np.arange(2000) == 7, 1e-4, 0.5))
    return log, np.full(2000, 0.5)


def little_overlap():
    data = clean_data(200)
    return log_of(data), np.eye(4)[np.where(np.arange(200) < 30, data.a, (data.a + 1) % 4)]


def nothing_supported():
    data = clean_data()
    data.logging = np.tile([0.5, 0.5, 0.0, 0.0], (2000, 1))
    data.a %= 2
    return log_of(data), np.tile([0.4, 0.4, 0.2, 0.0], (2000, 1))


def five_groups():
    data = clean_data()
    return log_of(data, group=np.arange(2000) % 5), data.target


def biased_answer():
    data = clean_data()
    data.r = data.r + 3.0 * (data.a == 0)
    return log_of(data), np.tile([0.85, 0.05, 0.05, 0.05], (2000, 1))


def flattering_model():
    data = clean_data(300)
    return log_of(data), data.target


def one_click_counts():
    data = clean_data()
    data.r = np.zeros(2000)
    data.r[[3, 500, 700]] = 1.0
    return log_of(data), data.target


def missing_rewards():
    data = clean_data()
    data.r[::100] = -999.0
    return log_of(data), data.target


def rows_four_times():
    data = clean_data()
    for name in ("x", "a", "r", "logging", "target"):
        setattr(data, name, np.repeat(getattr(data, name), 4, axis=0))
    return log_of(data), data.target


def context_from_afterwards():
    data = clean_data()
    data.x[:, 2] += data.a == 1
    return log_of(data), data.target


def loggers_in_turn():
    data = clean_data()
    both = {"old": data.logging, "new": data.logging}
    given = {"context": data.x, "action": data.a, "reward": data.r}
    return cf.Log(**given, logger=["old"] * 800 + ["new"] * 1200, logger_probs=both), data.target


def as_another_tool_wrote_it():
    data = clean_data()
    return log_of(data).add_notes([("rewards were costs", "read values as costs with another sign")]), data.target


def better_every_day():
    data = clean_data()
    data.r += np.arange(2000) / 1000
    return log_of(data, time=np.datetime64("2024-03-01") + np.arange(2000) // 100), data.target


ONLY_NOTES = {"as-read"}
"""Diagnostics that say what one should know, which is nothing against the answer."""


def nothing_logged():
    data = clean_data()
    return cf.Log(context=data.x, action=data.a, reward=data.r, propensity="fit"), data.target


def few_draws():
    data = clean_data()
    rng = np.random.default_rng(2)
    data.logging = np.array([rng.multinomial(10, row / row.sum()) for row in data.logging]) / 10
    return log_of(data, propensity_precision="10 draws"), data.logging


def rewards_of_one_action_missing():
    data = clean_data()
    columns = {"action": data.a, "reward": np.where((data.a == 1) & (data.x[:, 0] > 0), np.nan, data.r)}
    columns |= {"logging_probs": data.logging.tolist(), "x": data.x[:, 0]}
    log = cf.read_log(columns, missing_reward="drop", context=["x"])
    return log, data.target[~np.isnan(columns["reward"])]


def users_of_one_mood():
    data = clean_data()
    user = np.arange(2000) % 100
    columns = {"user_id": user, "action": data.a, "reward": data.r + np.random.default_rng(3).normal(size=100)[user]}
    return cf.read_log(columns | {"logging_probs": data.logging.tolist(), "x": data.x[:, 0]}), data.target


def last_rewards_not_in_yet():
    data = clean_data()
    data.r[1600:] = 0.0
    return log_of(data), data.target


def harmed_on_one_device():
    data = clean_data()
    device = np.arange(2000) % 4
    data.r += np.where(device == 3, -2.0, 2.0) * is_gained(data)
    return log_of(data, by={"device": device}), data.target


def few_clicks():
    data = clean_data()
    data.r = (np.random.default_rng(7).random(2000) < 0.015).astype(float)
    data.target = np.eye(4)[np.zeros(2000, dtype=int)]
    return log_of(data), data.target


def segments_from_afterwards():
    data = clean_data()
    return log_of(data, by={"page": np.where(is_gained(data), "first", "last")}), data.target


def learnt_from_it():
    log = log_of(clean_data())
    return log, cf.learn(log, "greedy-learner", shares=1, progress=False).attempted


def is_gained(data):
    """Say where the target takes the logged action more often than the log."""
    logged = np.arange(len(data.a)), data.a
    return data.target[logged] > data.logging[logged]


def capped_at_one():
    data = clean_data()
    data.r = np.minimum(data.r, 1.0)
    return log_of(data), data.target


def clipped_at_a_fifth():
    data = clean_data()
    propensity = np.maximum(data.logging[np.arange(2000), data.a], 0.2)
    return cf.Log(context=data.x, action=data.a, reward=data.r, propensity=propensity, actions=range(4)), data.target


def rewards_of_the_row_before():
    data = clean_data()
    data.r = np.roll(data.r, 1)
    return log_of(data), data.target


def labels_reused_half_way():
    data = clean_data()
    data.r += np.where(np.arange(2000) < 1000, 1.0, -1.0) * data.a
    return log_of(data), data.target


def column_that_tells_rewards():
    data = clean_data()
    data.r = np.sin(4 * data.x[:, 1]) * (1 + data.a)
    return log_of(data), data.target


def target_that_knows_rewards():
    data = clean_data()
    logged = np.eye(4)[data.a]
    data.target = np.where((data.r > 0)[:, None], 0.5 * logged, (1 - logged) / 6) + 0.5 * data.target
    return log_of(data), data.target


def robot_that_never_clicks():
    data = clean_data()
    data.r = (data.r > 0) * 1.0
    data.x[::10] = data.x[0]
    data.r[::10] = 0.0
    return log_of(data), data.target


def target_that_is_always_right():
    data = clean_data()
    right = np.digitize(data.x[:, 1], [-0.7, 0.0, 0.7])
    data.r = (data.a == right) * 1.0
    return log_of(data), np.eye(4)[right]


PROVOKED = {
    "as-read": (as_another_tool_wrote_it, {}),
    "disagreement": (biased_answer, {"candidates": ["dm"], "reward_model": np.zeros((2000, 4)) + np.arange(4)}),
    "drift": (better_every_day, {}),
    "effective-rows": (little_overlap, {}),
    "few-groups": (five_groups, {}),
    "fitted-propensities": (nothing_logged, {}),
    "few-rewards": (one_click_counts, {}),
    "harmed-segment": (harmed_on_one_device, {}),
    "known-rows": (learnt_from_it, {}),
    "largest-weight": (one_large_weight, {}),
    "mean-weight": (wrong_propensities, {}),
    "missing-rewards": (rewards_of_one_action_missing, {}),
    "missing-support": (nothing_supported, {}),
    "model-shift": (flattering_model, ANSWERS["model-shift"]),
    "outlying-rewards": (missing_rewards, {}),
    "repeated-rows": (rows_four_times, {}),
    "outcome-context": (context_from_afterwards, {}),
    "outcome-segments": (segments_from_afterwards, {}),
    "propensities": (wrong_propensities, {}),
    "rough-propensities": (few_draws, {}),
    "row-order": (last_rewards_not_in_yet, {}),
    "several-loggers": (loggers_in_turn, {}),
    "small-log": (few_clicks, {}),
    "unnamed-groups": (users_of_one_mood, {}),
    "capped-rewards": (capped_at_one, {}),
    "changed-actions": (labels_reused_half_way, {}),
    "clipped-propensities": (clipped_at_a_fifth, {}),
    "future-columns": (column_that_tells_rewards, {}),
    "informed-target": (target_that_knows_rewards, {}),
    "perfect-value": (target_that_is_always_right, {"candidates": ["snips"]}),
    "repeated-context": (robot_that_never_clicks, {}),
    "shifted-rewards": (rewards_of_the_row_before, {}),
}
"""For every diagnostic a log and a target on which it speaks, and what is asked."""
