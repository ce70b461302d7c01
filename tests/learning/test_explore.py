"""Exploring: what is shipped takes every action it may now and then, is valued so, and its log can judge others."""

import numpy as np
import pytest

import counterfold as cf
from learning_logs import draw_log

ASKED = {"learners": "greedy-learner", "shares": 1, "folds": 3, "progress": False}


def test_every_action_that_may_be_taken_is_and_the_file_says_so(tmp_path):
    log = draw_log()
    learned = cf.learn(log, **ASKED, explore=0.15, forbidden=[2])
    probs = learned.attempted.predict_proba(log.context)
    np.testing.assert_allclose(np.sort(probs, axis=1), np.tile([0, 0.075, 0.925], (400, 1)))
    assert "15% of the decisions at random" in learned.attempted.describe()
    assert learned.to_dict()["policy"]["explore"] == 0.15
    pytest.importorskip("skops")
    learned.attempted.save(tmp_path / "policy.skops")
    np.testing.assert_array_equal(cf.Skops(tmp_path / "policy.skops").model.predict_proba(log.context), probs)


def test_what_cannot_be_taken_is_not_explored():
    policy = cf.learn(draw_log(), **ASKED, explore=0.2).attempted
    probs = policy.predict_proba([[1.0, 0.0]], available=[[True, False, True]])
    assert probs[0, 1] == 0
    assert sorted(probs[0].tolist()) == pytest.approx([0, 0.1, 0.9])


@pytest.mark.parametrize("settings", [{}, {"explore": 0.2}, {"shares": 0.5}, {"forbidden": [0]}], ids=str)
def test_the_most_likely_action_can_be_taken(settings):
    log = draw_log()
    policy = cf.learn(log, **ASKED | settings).attempted
    assert (policy.predict(log.context) == 1).any()
    available = np.ones((len(log), 3), dtype=bool)
    available[:, 1] = False
    named = policy.predict(log.context, available)
    assert set(named.tolist()) <= {0, 2}
    probs = policy.predict_proba(log.context, available)
    np.testing.assert_array_equal(probs[np.arange(len(log)), named], probs.max(axis=1))
    with pytest.raises(cf.DataError, match="`available` must be true or false for each of 3 actions"):
        policy.predict(log.context, available=available[:, :2])


@pytest.mark.parametrize("shares", [1, 0.5])
def test_what_is_explored_is_part_of_the_value(shares):
    log = draw_log(rows=3000)
    asked = {**ASKED, "shares": shares}
    plain, explored = (cf.learn(log, **asked, explore=share).attempt for share in (0.0, 0.4))
    even = cf.evaluate(log, "uniform", progress=False).value
    assert explored.value == pytest.approx(0.6 * plain.value + 0.4 * even, abs=0.03)
    assert plain.value - explored.value > 0.05


def test_the_log_of_what_explores_can_judge_the_next_policy():
    log = draw_log(rows=2000)
    rng = np.random.default_rng(5)
    verdicts = []
    for explore in (0.0, 0.1):
        policy = cf.learn(log, **ASKED, explore=explore).policy
        context = rng.normal(size=(3000, 2))
        probs = policy.predict_proba(context)
        taken, chance = policy.draw(context, rng)
        reward = np.where(taken == 1, context[:, 0], 0.0) + rng.normal(size=3000)
        later = cf.Log(context=context, action=taken, reward=reward, logging_probs=probs)
        np.testing.assert_allclose(later.propensity, chance)
        verdicts.append(cf.check(later, np.tile([0.3, 0.4, 0.3], (3000, 1))).verdict)
    assert verdicts[0] == "not answerable"
    assert verdicts[1] != "not answerable"


def test_actions_are_drawn_with_their_probabilities():
    policy = cf.learn(draw_log(), **ASKED, explore=0.3).policy
    context = np.tile([[2.0, 0.0]], (20_000, 1))
    probs = policy.predict_proba(context)
    taken, chance = policy.draw(context, 3)
    counts = np.array([(taken == label).sum() for label in policy.classes_])
    spread = np.sqrt(20_000 * probs[0] * (1 - probs[0]))
    assert (np.abs(counts - 20_000 * probs[0]) < 4 * spread + 1e-9).all()  # wrong for one seed in 5,000
    np.testing.assert_allclose(chance, probs[np.arange(20_000), np.searchsorted(policy.classes_, taken)])
    again, _ = policy.draw(context, 3)
    np.testing.assert_array_equal(taken, again)


def test_a_large_log_values_what_is_explored(tmp_path):
    pd = pytest.importorskip("pandas")
    log = draw_log(rows=1000)
    frame = pd.DataFrame(log.context, columns=["x", "y"]).assign(action=log.action, reward=log.reward)
    frame.assign(propensity=log.propensity).to_parquet(tmp_path / "log.parquet")
    learned = cf.learn(tmp_path / "log.parquet", **ASKED, engine="local", explore=0.3)
    assert learned.attempted.predict_proba(frame).min() == pytest.approx(0.1)
    plain = cf.learn(tmp_path / "log.parquet", **ASKED, engine="local")
    assert learned.attempt.value < plain.attempt.value


@pytest.mark.parametrize("seed", [-1, "a", 0.5])
def test_bad_seeds_are_one_sentence(seed):
    policy = cf.learn(draw_log(), **ASKED).attempted
    with pytest.raises(cf.ParameterError, match=r"`seed` must be a whole number"):
        policy.draw([[0.0, 0.0]], seed)


@pytest.mark.parametrize("explore", [-0.1, 0.6, float("nan"), "x"])
def test_bad_shares_are_one_sentence(explore):
    with pytest.raises(cf.ParameterError, match=r"`explore` must be in \[0, 0.5\], got"):
        cf.learn(draw_log(), **ASKED, explore=explore)
