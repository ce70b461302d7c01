"""Rows that are there several times: seen where they are copies, and not where they are the same by chance."""

import numpy as np
import pytest

import counterfold as cf
from problems import diagnose


def make_log(context, action, reward, propensity, times=1, **more):
    """Return a log whose rows are there so many times."""
    where = np.repeat(np.arange(len(action)), times)
    columns = {"action": action, "reward": reward, "propensity": propensity} | more
    if context is not None:
        columns["context"] = context
    return cf.Log(**{name: np.asarray(column)[where] for name, column in columns.items()})


def draw_log(rng, *, rows=2000, users=None, actions=3, discrete=False, bare=False):
    """Return the columns of a log whose actions are drawn; `users` come back, `discrete` contexts are few."""
    x = rng.integers(2, size=(rows, 3)).astype(float) if discrete else rng.normal(size=(rows, 3))
    x = x if users is None else x[rng.integers(users, size=rows)]
    probs = np.exp(np.clip(x @ rng.normal(size=(3, actions)), -1, 1))
    probs /= probs.sum(axis=1, keepdims=True)
    action = (probs.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    reward = (rng.random(rows) < 0.2).astype(float)
    return None if bare else x, action, reward, probs[np.arange(rows), action]


def is_found(log):
    found = diagnose(log, np.full(len(log), 0.3))
    return [one.severity for one in found.findings if one.name == "repeated-rows"], found


CLEAN = {
    "other contexts": {},
    "users come back": {"users": 400},
    "users come back, many actions": {"users": 900, "actions": 50},
    "users come back twice": {"users": 1500},
    "few contexts": {"discrete": True},
    "no context": {"bare": True},
    "few rows": {"rows": 100},
}


@pytest.mark.parametrize("kind", CLEAN)
def test_every_row_several_times_is_found(kind):
    log = make_log(*draw_log(np.random.default_rng(0), **CLEAN[kind]), times=4)
    severities, found = is_found(log)
    enough = found.repeated_share < 1 - 20 / len(log)
    assert severities == (["caution"] if enough else [])
    assert found.row_copies == (4 if enough else 1)
    assert found.repeated_share >= 0.75


@pytest.mark.parametrize("kind", ["other contexts", "users come back twice"])
def test_rows_that_a_join_multiplied_are_found(kind):
    rng = np.random.default_rng(1)
    columns = draw_log(rng, **CLEAN[kind])
    severities, found = is_found(make_log(*columns, times=rng.integers(1, 4, size=2000)))
    assert (severities, found.row_copies) == (["caution"], 1)
    assert 0.4 < found.repeated_excess <= 1
    few = np.where(np.arange(2000) % 15 == 0, 2, 1)
    assert is_found(make_log(*columns, times=few))[0] == (["note"] if kind == "other contexts" else [])


def test_copies_within_groups_do_no_harm():
    columns = draw_log(np.random.default_rng(2))
    severities, found = is_found(make_log(*columns, times=4, group=np.arange(2000) % 500))
    assert (severities, found.row_copies) == ([], 4)


def test_users_whose_action_is_drawn_once_must_be_groups():
    rng = np.random.default_rng(3)
    x, action, _, propensity = draw_log(rng, rows=500)
    visits = np.repeat(np.arange(500), 4)
    reward = (rng.random(2000) < 0.05).astype(float)
    log = cf.Log(context=x[visits], action=action[visits], reward=reward, propensity=propensity[visits])
    severities, _ = is_found(log)
    assert severities == ["caution"]


@pytest.mark.statistical
@pytest.mark.parametrize("kind", CLEAN)
def test_rows_that_are_the_same_by_chance_are_no_copies(kind):
    """Less than 1 % of clean logs are called repeated."""
    rng = np.random.default_rng(4)
    found = [is_found(make_log(*draw_log(rng, **CLEAN[kind])))[0] for _ in range(100)]
    assert sum(map(bool, found)) <= 1


def test_a_log_without_exploration_cannot_tell():
    x, _, reward, _ = draw_log(np.random.default_rng(5), users=500)
    log = make_log(x, (x[:, 0] > 0).astype(int), reward, np.ones(2000))
    found = diagnose(log, cf.Probabilities(np.ones(2000)))
    assert "repeated-rows" not in [one.name for one in found.findings]
    assert found.repeated_excess == 0.0
