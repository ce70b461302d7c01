"""Constant arms: every action competes, the best one is found, and it is said where one does as well."""

import numpy as np
import pytest

import counterfold as cf
from counterfold.learning.contenders import MAX_CONSTANTS
from counterfold.learning.learners.base import TrainingRows
from learning_logs import draw_log

ALL = np.ones(3, dtype=bool)


def draw_shop(rows=900, actions=3, best=1, seed=0):
    """Return a log in which one action earns more than all others, in every context."""
    rng = np.random.default_rng(seed)
    context, action = rng.normal(size=(rows, 2)), rng.integers(actions, size=rows)
    reward = 0.6 * (action == best) + 0.2 * context[:, 0] + 0.5 * rng.normal(size=rows)
    probs = np.full((rows, actions), 1 / actions)
    return cf.Log(context=context, action=action, reward=reward, logging_probs=probs, actions=list(range(actions)))


def test_one_that_names_no_action_takes_the_best_by_robust_scores():
    rows = TrainingRows.of(draw_shop(), ALL)
    scores = cf.ConstantArm().fit(rows, 0).score(rows.context)
    np.testing.assert_allclose(scores[0], [rows.robust_scores[:, action].mean() for action in range(3)])
    assert (scores.argmax(axis=1) == 1).all()


def test_the_named_action_comes_first_and_the_others_in_their_order():
    rows = TrainingRows.of(draw_shop(), ALL)
    for action in range(3):
        scores = cf.ConstantArm(action).fit(rows, 0).score(rows.context[:1])[0]
        assert scores.argmax() == action
        others = [code for code in range(3) if code != action]
        means = rows.robust_scores.mean(axis=0)
        assert (scores[others].argmax() == 1) == (means[others[1]] > means[others[0]])


def test_every_allowed_action_competes_alone():
    learned = cf.learn(draw_shop(), ["constant-arm"], forbidden=[2], progress=False)
    assert [line.contender for line in learned.table] == ["always 0", "always 1"]
    assert (learned.chosen, learned.beats_log) == ("always 1", True)
    assert learned.policy.describe() == "take 1\nnever 2"
    both = cf.learn(draw_shop(), [cf.ConstantArm(1), "constant-arm"], progress=False)
    assert [line.contender for line in both.table] == ["always 1", "always 0", "always 2"]


def test_an_arm_that_cannot_be_taken_is_left_out():
    learned = cf.learn(
        draw_shop(), [cf.ConstantArm(1), cf.ConstantArm(7), cf.ConstantArm(2)], forbidden=[2], progress=False
    )
    assert learned.left_out == {
        "always 7": "takes an action that is not in the log",
        "always 2": "takes an action that is not allowed",
    }


def test_the_table_has_the_best_three_of_many_arms():
    learned = cf.learn(draw_shop(actions=6, best=4), ["constant-arm"], progress=False)
    assert len(learned.table) == 3
    assert learned.chosen == "always 4"


def test_of_very_many_actions_only_the_best_one_competes():
    log = draw_shop(rows=1500, actions=MAX_CONSTANTS + 1, best=4)
    learned = cf.learn(log, ["constant-arm"], progress=False)
    assert [line.contender for line in learned.table] == ["ConstantArm"]
    assert learned.policy.predict(log.context[:2]).tolist() == [4, 4]


def test_a_constant_that_does_as_well_is_preferred_and_said():
    learned = cf.learn(draw_shop(), progress=False)
    assert learned.chosen == "always 1"
    assert learned.sentence.startswith("always 1 beats the log: +")
    if learned.simpler is not None:
        assert "always 1 does as well as" in learned.sentence
        assert learned.to_dict()["simpler"]["contender"] == learned.simpler.contender
    assert learned.policy.predict([[0.0, 0.0]]).tolist() == [1]


def test_a_constant_is_not_preferred_where_the_context_matters():
    learned = cf.learn(draw_log(rows=800, effect=2.0), progress=False)
    assert learned.beats_log
    assert not learned.chosen.startswith("always")


def test_the_same_arm_in_every_fold_is_valued_as_it_is():
    log = draw_shop()
    learned = cf.learn(log, [cf.ConstantArm(1)], progress=False)  # alone: choosing among several adds to the error
    assert {line.contender: line.folds for line in learned.table}["always 1"] == 5
    alone = cf.evaluate(log, cf.Always(1), progress=False) if hasattr(cf, "Always") else cf.evaluate(log, "always:1")
    assert learned.evaluation.value == pytest.approx(alone.value, rel=1e-6)
    assert learned.evaluation.stderr == pytest.approx(alone.stderr, rel=1e-6)


def test_available_actions_take_the_place_of_one_that_is_not():
    learned = cf.learn(draw_shop(), ["constant-arm"], progress=False)
    assert learned.policy.predict([[0.0, 0.0]], available=[[True, False, True]])[0] in {0, 2}
