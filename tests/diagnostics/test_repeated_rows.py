"""Rows that are there several times: seen where they are copies, and not where they are the same by chance."""

from collections import Counter

import numpy as np
import pytest

import counterfold as cf
from counterfold.diagnostics.repeated_rows import Different
from counterfold.learning.same_context import group_contexts
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


def copy_rewarded(rng, share, *, rows=5000, clicks=0.2, reward=1.0):
    """Return a log of unique contexts with a share of the rows that have a reward twice."""
    x, action, _, propensity = draw_log(rng, rows=rows)
    rewards = (rng.random(rows) < clicks).astype(float)
    times = np.where((rewards == reward) & (rng.random(rows) < share), 2, 1)
    return make_log(x, action, rewards, propensity, times=times), times


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_copies_that_go_with_the_reward_move_the_answer(share, reward):
    log, times = copy_rewarded(np.random.default_rng(6), share, reward=reward, clicks=0.3)
    severities, found = is_found(log)
    assert severities == ["caution"]
    [problem] = [one.problem for one in found.findings if one.name == "repeated-rows"]
    extra, twins = (times - 1).sum() / times.sum(), times[times > 1].sum() / times.sum()
    said = f"about {twins:.1%} of the rows are there more than once ({extra:.1%} are copies of another one)"
    rest = log.reward[np.repeat(times, times) == 1].mean()
    assert problem.startswith(f"{said}; their mean reward is {reward:g}, and that of the others {rest:.3g}")


def test_copies_of_rare_rewards_are_found_though_hardly_any_row_is_one():
    """Of 800 clicks in 80,000 rows 120 are there twice; a sample of all rows sees few of these."""
    rng = np.random.default_rng(7)
    log, _ = copy_rewarded(rng, 0.15, rows=80_000, clicks=0.01)
    severities, found = is_found(log)
    assert severities == ["caution"]
    assert "of the rows with another reward than 0 are there more than once" in " ".join(found.reasons)
    clean, _ = copy_rewarded(rng, 0.0, rows=80_000, clicks=0.01)
    assert is_found(clean)[0] == []


def test_both_numbers_are_those_of_a_naive_count():
    log, _ = copy_rewarded(np.random.default_rng(8), 0.3)
    rows = list(zip(map(tuple, log.context), log.action, log.reward, strict=True))
    counts = Counter(rows)
    found = is_found(log)[1]
    assert found.repeated_share == pytest.approx(1 - len(counts) / len(rows), rel=1e-12)
    assert found.repeated_excess == pytest.approx(sum(counts[row] > 1 for row in rows) / len(rows), rel=1e-12)
    assert found.texts["repeated rows"] == f"{found.repeated_share:.2%} of the rows are the same as one before them"


@pytest.mark.parametrize("natural", [0.0, 0.3])
def test_rewards_of_copies_are_compared_as_a_naive_loop_does(natural):
    rng = np.random.default_rng(9)
    rewards, copied = rng.integers(4, size=80).astype(float), rng.random(80) < 0.2
    ranks = [sum(other < one for other in rewards) + sum(other == one for other in rewards) / 2 for one in rewards]
    ranks = [one / 80 - 0.5 for one in ranks]
    alike = [sum(other == one for other in rewards) for one in rewards]
    chance = natural * abs(sum(n * rank for n, rank in zip(alike, ranks, strict=True)) / sum(alike))
    mine = [rank for rank, is_copy in zip(ranks, copied, strict=True) if is_copy]
    spread = (sum(rank**2 for rank in ranks) / 80) ** 0.5
    expected = (abs(sum(mine) / len(mine)) - chance) / (spread * (1 / len(mine) - 1 / 80) ** 0.5)
    assert Different(rewards, copied).compare(natural) == pytest.approx(expected)


def test_rewards_that_are_all_the_same_or_all_copied_are_not_compared():
    assert Different(np.ones(50), np.arange(50) < 9).compare(0.0) == 0.0
    assert Different(np.arange(50.0), np.ones(50, dtype=bool)).compare(0.0) == 0.0
    assert Different(np.empty(0), np.empty(0, dtype=bool)).share == 0.0


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["other contexts", "users come back", "users come back twice"])
def test_copies_that_have_nothing_to_do_with_the_reward_are_hardly_ever_said_to_move_the_answer(kind):
    rng = np.random.default_rng(10)
    logs = (make_log(*draw_log(rng, **CLEAN[kind]), times=rng.choice([1, 2], 2000, p=[0.95, 0.05])) for _ in range(100))
    assert sum("caution" in is_found(log)[0] for log in logs) <= 1


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


def draw_moments(rng, rows):
    """Return seconds of a month."""
    return np.datetime64("2026-01-01") + rng.integers(30 * 86_400, size=rows).astype("timedelta64[s]")


def copy_later(rng, columns, times, **more):
    """Return a log with each row so many times, each at a time of its own."""
    log = make_log(*columns, times=times, **more)
    known = {"context": log.context, "action": log.action, "reward": log.reward, "propensity": log.propensity}
    return cf.Log(**known, group=log.group, time=draw_moments(rng, len(log)))


def find_problem(found):
    return next(one.problem for one in found.findings if one.name == "repeated-rows")


def test_copies_with_other_times_are_found():
    rng = np.random.default_rng(3)
    columns = draw_log(rng)
    severities, found = is_found(copy_later(rng, columns, rng.integers(1, 3, size=2000)))
    assert severities == ["caution"]
    assert "there more than once, but for their times (" in find_problem(found)
    severities, found = is_found(copy_later(rng, columns, 3))
    assert severities == ["caution"]
    assert find_problem(found).startswith("every row is there 3 times, but for their times, and")


@pytest.mark.parametrize("kind", ["other contexts", "users come back", "users come back, many actions", "few contexts"])
def test_decisions_at_other_times_are_no_copies(kind):
    rng = np.random.default_rng(4)
    assert is_found(copy_later(rng, draw_log(rng, **CLEAN[kind]), 1))[0] == []


def test_copies_at_other_times_within_a_group_are_not_looked_for():
    rng = np.random.default_rng(5)
    assert is_found(copy_later(rng, draw_log(rng), 2, group=np.arange(2000)))[0] == []


def test_copies_that_are_a_group_by_their_context_are_a_note():
    rng = np.random.default_rng(6)
    log = group_contexts(make_log(*draw_log(rng), times=2))
    severities, found = is_found(log)
    assert severities == ["note"]
    assert find_problem(found).endswith("each counts as a decision of its own in the answer, though not in its error")
    moved, _ = copy_rewarded(rng, 0.5)
    assert is_found(group_contexts(moved))[0] == ["caution"]


def join_by_user(columns, users):
    """Return a log in which every decision of a user has each of the user's rewards once."""
    context, action, reward, propensity = columns
    pairs = [(row, other) for own in users for row in own for other in own]
    rows, others = np.array(pairs).T
    return make_log(context[rows], action[rows], reward[others], propensity[rows])


@pytest.mark.parametrize("levels", [4, None])
def test_decisions_with_the_rewards_of_others_are_found(levels):
    context, action, _, propensity = draw_log(np.random.default_rng(0), rows=900, actions=10)
    rng = np.random.default_rng(1)
    reward = rng.normal(size=900) if levels is None else rng.integers(levels, size=900).astype(float)
    log = join_by_user((context, action, reward, propensity), np.arange(900).reshape(300, 3))
    severities, found = is_found(log)
    assert severities == ["caution"]
    assert "another reward" in next(one.problem for one in found.findings if one.name == "repeated-rows")
    assert (found.repeated_share == 0) == (levels is None)


@pytest.mark.parametrize("kind", CLEAN)
def test_drawn_decisions_with_rewards_of_their_own_are_clean(kind):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        context, action, reward, propensity = draw_log(rng, **CLEAN[kind])
        log = make_log(context, action, reward + rng.normal(size=len(reward)), propensity)
        assert is_found(log)[0] == []


def test_copies_of_doses_are_found_whatever_the_targets_and_their_order():
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(500), 3)
    dose = rng.normal(size=500)[rows]
    log = cf.Log(
        context=rng.normal(size=(500, 2))[rows], dose=dose, reward=rng.normal(size=500)[rows], propensity=np.ones(1500)
    )
    targets = {"same": dose, "other": rng.normal(size=1500)}
    for names in (("same", "other"), ("other", "same")):
        results = cf.evaluate(log, {name: targets[name] for name in names}, "dm", reward_model="ridge-on-dose")
        for result in results.values():
            assert "repeated-rows" in {one.name for one in result.diagnostics.findings}
            assert result.diagnostics.row_copies == 3
