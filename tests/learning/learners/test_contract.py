"""Every learner: a finite score for each action, the same twice, and no row that it was not given."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import counterfold as cf
from counterfold.base import registry
from counterfold.learning.learners import _econml
from counterfold.learning.learners.base import TrainingRows
from counterfold.policies.learned.scorers import LinearScorer
from learning_logs import draw_log

NAMES = registry.names("learners")
ALL = np.ones(3, dtype=bool)


@pytest.fixture(params=NAMES)
def learner(request):
    return registry.find("learners", request.param)()


def test_every_learner_scores_every_action(learner):
    log = draw_log()
    scores = learner.fit(TrainingRows.of(log, ALL), 0).score(log.context)
    assert scores.shape == (400, 3)
    assert np.isfinite(scores).all()


def test_every_learner_learns_the_same_twice(learner):
    rows = TrainingRows.of(draw_log(), ALL)
    first, second = (learner.fit(rows, 3).score(rows.context) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_trees_do_not_hang_on_the_last_bits_of_a_regression(monkeypatch):
    pytest.importorskip("econml")
    log = draw_log(rows=3000)
    columns = {"action": log.action, "reward": log.reward, "logging_probs": log.logging_probs}
    ages = cf.Log(context=np.round(5 * log.context), **columns)
    exact, rng = cf.CrossFitted.predictions, np.random.default_rng(0)
    scores = [cf.PolicyForest(trees=8).fit(TrainingRows.of(ages, ALL), 0).score(ages.context)]

    def predict_on_another_machine(model, examples):
        found = exact(model, examples)
        return found * (1 + 1e-15 * rng.normal(size=found.shape))

    monkeypatch.setattr(cf.CrossFitted, "predictions", predict_on_another_machine)
    for _ in range(3):
        scores.append(cf.PolicyForest(trees=8).fit(TrainingRows.of(ages, ALL), 0).score(ages.context))
        np.testing.assert_allclose(scores[-1], scores[0], rtol=1e-12)


@pytest.mark.parametrize("learner", ["policy-tree", "weighted-classifier"])
@pytest.mark.parametrize(("level", "scale"), [(1e8, 1.0), (0.0, 1e39), (0.0, 1e-30)])
def test_rewards_of_any_level_and_scale_are_learnt_from(learner, level, scale):
    log = draw_log(rows=1500, effect=3.0)
    moved = {"action": log.action, "reward": level + scale * log.reward, "logging_probs": log.logging_probs}
    several = [cf.Log(context=log.context, **moved), log]
    fitted = [registry.build("learners", learner).fit(TrainingRows.of(one, ALL), 0) for one in several]
    taken, expected = (one.score(log.context).argmax(axis=1) for one in fitted)
    assert len(set(expected.tolist())) > 1
    assert (taken == expected).mean() > 0.95


def test_random_classifiers_learn_the_same_twice():
    log, forest = draw_log(), RandomForestClassifier(5)
    first, second = (cf.learn(log, [forest], shares=1, progress=False).attempt.value for _ in range(2))
    assert first == second


def test_every_learner_is_frozen_and_named(learner):
    assert is_dataclass(learner)
    assert learner.name == type(learner).__name__
    for one in fields(learner):
        with pytest.raises(AttributeError):
            setattr(learner, one.name, 1)


@pytest.mark.parametrize("learner", sorted(set(NAMES) - {"imitation", "constant-arm"}), indirect=False)
def test_learners_find_what_earns_more(learner):
    rows = TrainingRows.of(draw_log(rows=1000), ALL)
    scores = registry.build("learners", learner).fit(rows, 0).score(np.array([[2.0, 0.0], [-2.0, 0.0]]))
    assert scores[0].argmax() == 1
    assert scores[1].argmax() != 1


def test_imitation_does_as_a_log_of_softmax_did():
    rng = np.random.default_rng(0)
    context = rng.normal(size=(3000, 2))
    scores = np.column_stack([context[:, 0], np.zeros(3000), 0.5 - context[:, 1]])
    probs = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    action = (probs.cumsum(axis=1) > rng.random((3000, 1))).argmax(axis=1)
    reward = rng.normal(size=3000)
    for known in ({"logging_probs": probs}, {"propensity": probs[np.arange(3000), action]}):
        log = cf.Log(context=context, action=action, reward=reward, **known)
        found = cf.Imitation().fit(TrainingRows.of(log, ALL), 0).score(context)
        likely = np.exp(found) / np.exp(found).sum(axis=1, keepdims=True)
        assert np.abs(likely - probs).max() < (0.01 if "logging_probs" in known else 0.15)


def test_robust_scores_are_those_of_a_loop():
    log = draw_log(rows=60)
    rows = TrainingRows.of(log, ALL)
    q = cf.CrossFitted(cf.SharedRidge()).predictions(rows.examples)
    for row in range(60):
        weight = min(1 / log.propensity[row], 60**0.5)
        for action in range(3):
            wanted = q[row, action]
            if log.action[row] == action:
                wanted += weight * (log.reward[row] - q[row, action])
            assert rows.robust_scores[row, action] == pytest.approx(wanted)


def test_trees_are_those_of_econml():
    econml = pytest.importorskip("econml.policy")
    log = draw_log()
    rounded = {"action": log.action, "reward": log.reward, "logging_probs": log.logging_probs}
    rows = TrainingRows.of(cf.Log(context=np.round(10 * log.context), **rounded), ALL)
    scores = rows.robust_scores
    tree = econml.PolicyTree(max_depth=2, min_samples_leaf=50, honest=False, random_state=0).fit(rows.context, scores)
    found = cf.PolicyTree().fit(rows, 0)
    np.testing.assert_allclose(found.score(rows.context), tree.predict_value(rows.context))
    forest = econml.PolicyForest(8, min_samples_leaf=10, random_state=0, n_jobs=1).fit(rows.context, scores)
    found = cf.PolicyForest(trees=8).fit(rows, 0)
    np.testing.assert_allclose(found.score(rows.context), forest.predict_value(rows.context))


def test_without_econml_all_but_forests_compete(monkeypatch):
    monkeypatch.setattr(_econml, "find_spec", lambda _: None)
    learned = cf.learn(draw_log(rows=100), ["greedy-learner", "policy-tree", "policy-forest"], progress=False)
    assert learned.left_out == {"PolicyForest": "needs EconML: pip install 'counterfold[learn]'"}
    with pytest.raises(cf.ParameterError, match=r"PolicyForest needs EconML: pip install 'counterfold\[learn\]'\."):
        cf.learn(draw_log(rows=100), "policy-forest", progress=False)


@pytest.mark.parametrize("classifier", [LogisticRegression(), GaussianNB()], ids=["linear", "bayes"])
def test_any_classifier_that_takes_weights(classifier):
    learned = cf.learn(draw_log(), [classifier], shares=1, progress=False)
    assert learned.chosen == f"WeightedClassifier({type(classifier).__name__})"
    assert learned.policy.predict([[3.0, 0.0]]).tolist() == [1]


def test_a_classifier_with_nothing_to_tell_apart():
    reward = np.zeros(400)
    reward[7] = 1.0
    rows = TrainingRows.of(draw_log(reward=reward), ALL)
    same = cf.WeightedClassifier().fit(rows.take(np.arange(100, 200)), 0).score(rows.context[:3])
    assert (same == same[0, 0]).all()
    assert not cf.learn(draw_log(reward=reward), ["weighted-classifier"], progress=False).beats_log


def test_a_classifier_without_weights_is_blamed():
    with pytest.raises(cf.ModelError, match="the classifier KNeighborsClassifier failed with TypeError"):
        cf.learn(draw_log(), [KNeighborsClassifier()], progress=False)


class Threshold(cf.Learner):
    """A learner of a user's own: action 1 where the first column is above its mean."""

    def fit(self, rows, seed):  # noqa: ARG002 (as all learners)
        slopes = np.zeros((2, 3))
        slopes[0, 1] = 1.0
        return LinearScorer(np.array([0.0, -rows.context[:, 0].mean(), -9.0]), slopes, np.ones(2))


class Broken(Threshold):
    """One that fails, or scores one action too few."""

    def __init__(self, scores=None):
        self.scores = scores

    def fit(self, rows, seed):  # noqa: ARG002 (as all learners)
        return LinearScorer(np.zeros(2), self.scores, np.ones(2))


class Loose(cf.Learner):
    """One that returns something that has scores, and nothing else of a scorer."""

    def fit(self, rows, seed):  # noqa: ARG002 (as all learners)
        return self

    def score(self, context):
        return np.zeros((len(context), 3))


class Silent(cf.Learner):
    """One that forgets to return anything."""

    def fit(self, rows, seed):
        pass


def test_a_learner_of_ones_own():
    learned = cf.learn(draw_log(), [Threshold()], shares=1, progress=False)
    assert (learned.chosen, learned.beats_log) == ("Threshold", True)
    assert learned.policy.predict([[2.0, 0.0], [-2.0, 0.0]]).tolist() == [1, 0]
    with pytest.raises(cf.ParameterError, match="the learner Loose must return a `Scorer` of"):
        cf.learn(draw_log(), [Loose()], progress=False)
    with pytest.raises(cf.ParameterError, match=r"the learner Silent must return a `Scorer` of .*, got None\."):
        cf.learn(draw_log(), [Silent()], progress=False)
    with pytest.raises(cf.ParameterError, match="the learner Broken failed with"):
        cf.learn(draw_log(), [Broken()], progress=False)
    with pytest.raises(cf.ParameterError, match="the learner Broken must return a finite score for each of 3 actions"):
        cf.learn(draw_log(), [Broken(np.zeros((2, 2)))], progress=False)
