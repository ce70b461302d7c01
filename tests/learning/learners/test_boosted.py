"""Boosted trees as arrays predict what scikit-learn's trees do, and are saved without its types."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import counterfold as cf
from counterfold.learning.learners.base import TrainingRows
from counterfold.policies.learned.boosted import BoostedScorer
from learning_logs import draw_log

ALL = np.ones(3, dtype=bool)


@pytest.mark.parametrize("settings", [{}, {"depth": 1}, {"depth": 5, "smallest_leaf": 3}, {"rounds": 7, "rate": 0.5}])
def test_arrays_predict_what_scikit_learn_does(settings):
    log = draw_log(rows=700)
    learner = cf.BoostedLearner(**settings)
    found = learner.fit(TrainingRows.of(log, ALL), 0).score(log.context)
    centre, scale = log.reward.mean(), log.reward.std()
    for action in range(3):
        own = log.action == action
        model = HistGradientBoostingRegressor(
            max_iter=learner.rounds,
            max_depth=learner.depth,
            max_leaf_nodes=None,
            learning_rate=learner.rate,
            min_samples_leaf=learner.smallest_leaf,
            early_stopping=False,
        )
        model.fit(log.context[own], (log.reward[own] - centre) / scale)
        np.testing.assert_allclose(found[:, action], centre + scale * model.predict(log.context), rtol=1e-9, atol=1e-9)


def test_what_only_an_interaction_tells_is_found():
    rng = np.random.default_rng(0)
    context, action = rng.normal(size=(3000, 2)), rng.integers(2, size=3000)
    reward = np.where(action == 1, np.sign(context[:, 0] * context[:, 1]), 0.0) + rng.normal(size=3000)
    log = cf.Log(context=context, action=action, reward=reward, propensity=np.full(3000, 0.5))
    scores = (
        cf.BoostedLearner().fit(TrainingRows.of(log, np.ones(2, dtype=bool)), 0).score(np.array([[1, 1], [1, -1.0]]))
    )
    assert scores.argmax(axis=1).tolist() == [1, 0]


def test_few_rows_and_equal_rewards_predict_means():
    log = draw_log(rows=80)
    reward = np.where(log.action == 0, 2.0, log.reward)
    known = {"context": log.context, "action": log.action, "logging_probs": log.logging_probs}
    scores = cf.BoostedLearner().fit(TrainingRows.of(cf.Log(reward=reward, **known), ALL), 0).score(log.context)
    assert (scores[:, 0] == 2).all()
    assert np.unique(scores[:, 2]).size == 1
    assert scores[0, 2] == pytest.approx(reward[log.action == 2].mean())


@pytest.mark.parametrize(("level", "scale"), [(1e8, 1.0), (0.0, 1e39), (0.0, 1e-30)])
def test_rewards_of_any_level_and_scale(level, scale):
    log = draw_log(rows=900)
    moved = {"action": log.action, "reward": level + scale * log.reward, "logging_probs": log.logging_probs}
    several = [cf.Log(context=log.context, **moved), log]
    taken, expected = (
        cf.BoostedLearner().fit(TrainingRows.of(one, ALL), 0).score(log.context).argmax(axis=1) for one in several
    )
    assert (taken == expected).mean() > 0.98


def test_a_saved_policy_decides_the_same(tmp_path):
    log = draw_log(rows=600)
    policy = cf.learn(log, ["boosted-learner"], shares=1, progress=False).attempted
    assert isinstance(policy.scorer, BoostedScorer)
    policy.save(tmp_path / "policy.skops")
    again = cf.Skops(tmp_path / "policy.skops").model
    np.testing.assert_array_equal(again.predict_proba(log.context), policy.predict_proba(log.context))
    assert "boosted trees for each action, which look at: " in again.describe()
    later = cf.evaluate(draw_log(seed=5, rows=600), cf.Skops(tmp_path / "policy.skops"), progress=False)
    assert later.uplift().interval().low > 0


def test_what_scikit_learn_keeps_in_another_way_is_refused(monkeypatch):
    monkeypatch.setattr(BoostedScorer, "score", lambda _, context: np.zeros((len(context), 3)))
    with pytest.raises(cf.ModelError, match="BoostedLearner cannot read the trees of HistGradientBoostingRegressor"):
        cf.BoostedLearner().fit(TrainingRows.of(draw_log(rows=600), ALL), 0)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(cf.ParameterError, match=r"`depth` must be at most 8, got 9\."):
        cf.BoostedLearner(depth=9)
    with pytest.raises(cf.ParameterError, match="`rate` must be"):
        cf.BoostedLearner(rate=0)


def test_sums_do_not_depend_on_the_number_of_threads():
    from threadpoolctl import threadpool_limits

    rows = TrainingRows.of(draw_log(rows=900), ALL)
    found = []
    for threads in (1, 4):
        with threadpool_limits(threads):
            found.append(cf.BoostedLearner().fit(rows, 0).score(rows.context))
    np.testing.assert_array_equal(*found)
