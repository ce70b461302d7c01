"""Bandits of many kinds: the truth is what playing the target earns, and propensities are those that drew actions."""

from dataclasses import replace

import numpy as np
import pytest

from counterfold_lab.selection.bandits import CONTEXT_COLUMNS, FAMILIES, USUAL, Bandit, draw_bandit

SEED = 4


@pytest.mark.statistical
@pytest.mark.parametrize("family", FAMILIES)
def test_the_truth_is_what_playing_the_target_earns(family):
    """Within 4.5 standard errors of a plain mean, in all but 1 of 100,000 runs (more for the heavy tails)."""
    one = replace(draw_bandit(family, SEED), rows=100)
    truth = one.draw_problem(SEED).truth
    compute_scores, rng = one.draw_scores(np.random.default_rng(SEED)), np.random.default_rng(99)
    rows = 2_000_000 // (10 * max(one.actions, 10))
    rewards = np.concatenate([played(one, compute_scores, rng, rows) for _ in range(10)])
    assert abs(rewards.mean() - truth) < 4.5 * rewards.std() / np.sqrt(len(rewards))


def played(one, compute_scores, rng, rows):
    scores = compute_scores(rng.standard_normal((rows, CONTEXT_COLUMNS)))
    target = one.target(scores[2])
    action = (target.cumsum(axis=1) > rng.random((rows, 1)) * target.sum(axis=1, keepdims=True)).argmax(axis=1)
    return one.draw_rewards(one.means(scores[0])[np.arange(rows), action], rng)


@pytest.mark.statistical
@pytest.mark.parametrize("reward", ["binary", "sparse", "normal", "shifted", "heavy", "skewed"])
def test_rewards_have_the_stated_means(reward):
    """Within 4.5 standard errors of a plain mean, for every kind of reward."""
    one = Bandit(reward=reward)
    means = one.means(np.full((200_000, 1), 0.7))[:, 0]
    rewards = one.draw_rewards(means, np.random.default_rng(1))
    assert abs(rewards.mean() - means[0]) < 4.5 * rewards.std() / np.sqrt(len(rewards))


@pytest.mark.statistical
@pytest.mark.parametrize("family", [family for family in FAMILIES if "propensity_noise" not in FAMILIES[family]])
def test_propensities_are_those_that_drew_the_actions(family):
    """The mean over rows of each policy's weight is 1, within 4.5 of its standard errors."""
    problem = draw_bandit(family, SEED).draw_problem(SEED)
    log, rows = problem.log, np.arange(len(problem.log))
    for policy in (problem.target, np.full_like(problem.target, 1 / problem.target.shape[1])):
        weights = policy[rows, log.action] / log.logging_probs[rows, log.action]
        assert abs(weights.mean() - 1) < 4.5 * weights.std() / np.sqrt(len(rows))


def test_misread_propensities_are_not_those_that_drew_the_actions():
    one = Bandit(rows=2000, actions=4)
    right, wrong = (replace(one, propensity_noise=noise).draw_problem(0).log for noise in (0.0, 0.3))
    np.testing.assert_array_equal(right.action, wrong.action)
    np.testing.assert_array_equal(right.reward, wrong.reward)
    factor = wrong.logging_probs / right.logging_probs
    assert 0.01 < np.log(factor).std() < 1.0


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_family_gives_valid_problems_of_its_kind(family, seed):
    one = draw_bandit(family, seed)
    for name, choices in (USUAL | FAMILIES[family]).items():
        assert getattr(one, name) in choices
    problem = one.draw_problem(seed)
    assert (len(problem.log), len(problem.log.actions)) == (one.rows, one.actions)
    np.testing.assert_allclose(problem.target.sum(axis=1), 1.0)
    assert problem.scale == pytest.approx(problem.log.reward.std())
    assert problem.scale > 0
    assert np.isfinite(problem.truth)
    assert (problem.predictions is not None) == (one.model != "fitted") == (family == "user's model")


def test_the_same_seed_gives_the_same_problem():
    one, two, other = (draw_bandit("binary", 7).draw_problem(seed) for seed in (7, 7, 8))
    assert one.truth == two.truth != other.truth
    np.testing.assert_array_equal(one.log.reward, two.log.reward)


def test_good_predictions_are_nearer_than_bad_ones():
    one = Bandit(rows=3000, model="good")
    gaps = []
    for model in ("good", "bad"):
        problem = replace(one, model=model).draw_problem(3)
        logged = problem.predictions[np.arange(3000), problem.log.action]
        gaps.append(np.square(logged - problem.log.reward).mean())
    assert gaps[0] < 1.2 < gaps[1]
