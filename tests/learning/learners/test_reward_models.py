"""What learners know of rewards: features of actions, and any reward model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import counterfold as cf
from counterfold.learning.learners import _feature_ridge
from counterfold.learning.learners._feature_ridge import PENALTIES, fit_reward_scorer, take_components
from counterfold.learning.learners.base import TrainingRows
from learning_logs import draw_log

ACTIONS, WIDTH = 60, 3


def draw_items(seed=0, rows=900, **changes):
    """Return a log of many items whose rewards their two features tell, and the mean rewards at other contexts."""
    rng = np.random.default_rng(seed)
    features, taste = rng.normal(size=(ACTIONS, 2)), 0.5 * rng.normal(size=(WIDTH, 2))
    context, action = rng.normal(size=(rows, WIDTH)), rng.integers(ACTIONS, size=rows)
    reward = (context @ taste @ features.T)[np.arange(rows), action] + rng.normal(size=rows)
    known = {"context": context, "action": action, "reward": reward, "propensity": np.full(rows, 1 / ACTIONS)}
    others = rng.normal(size=(2000, WIDTH))
    log = cf.Log(**known | {"actions": range(ACTIONS), "action_features": features} | changes)
    return log, others, others @ taste @ features.T


def value(scorer, contexts, means):
    return means[np.arange(len(means)), scorer.score(contexts).argmax(axis=1)].mean()


def fit(log):
    rows = TrainingRows.of(log, np.ones(ACTIONS, dtype=bool))
    return fit_reward_scorer(rows.examples, rows.action_features)


def test_actions_that_are_alike_learn_of_each_other():
    log, contexts, means = draw_items(rows=400)
    without = draw_items(rows=400, action_features=None)[0]
    found, plain = (value(fit(one), contexts, means) / means.max(axis=1).mean() for one in (log, without))
    assert found > 0.9
    assert found > plain + 0.1


def test_features_that_tell_nothing_do_little_harm():
    junk = np.random.default_rng(1).normal(size=(ACTIONS, 5))
    log, contexts, means = draw_items(rows=3000, action_features=junk)
    without = value(fit(draw_items(rows=3000, action_features=None)[0]), contexts, means)
    assert value(fit(log), contexts, means) > 0.95 * without


def find_best_penalty(table, rewards, counts):
    """Return the penalty by which rows are predicted best that are left out, by as many fits as there are rows."""
    losses = []
    for penalty in PENALTIES:
        loss = 0.0
        for row in range(len(table)):
            rest = [other for other in range(len(table)) if other != row]
            fitted = Ridge(penalty).fit(table[rest], rewards[rest], sample_weight=counts[rest])
            loss += counts[row] * (rewards[row] - fitted.predict(table[row : row + 1])[0]) ** 2
        losses.append(loss)
    return PENALTIES[int(np.argmin(losses))]


@pytest.mark.parametrize("noise", [0.0, 1.0, 20.0])
def test_features_against_a_ridge_regression_on_all_products(noise, monkeypatch):
    monkeypatch.setattr(_feature_ridge, "SLICE", 32)
    rng, log = np.random.default_rng(7), draw_items(rows=70)[0]
    propensity = rng.uniform(0.01, 0.03, size=70)
    log = draw_items(rows=70, reward=log.reward + noise * rng.normal(size=70), propensity=propensity)[0]
    rows = TrainingRows.of(log, np.ones(ACTIONS, dtype=bool))
    found = _feature_ridge.fit_features(rows.examples, log.action_features).score(log.context[:5])
    centre, spread = log.context.mean(axis=0), log.context.std(axis=0)

    def see(context, action):
        x = [1.0, *((context - centre) / spread)]
        item = [1.0, *log.action_features[action]]
        return [one * other for one in x for other in item][1:]

    table = np.array([see(context, action) for context, action in zip(log.context, log.action, strict=True)])
    counts = (1 / (ACTIONS * log.propensity) + 0.1) ** 0.5
    fitted = Ridge(find_best_penalty(table, log.reward, counts)).fit(table, log.reward, sample_weight=counts)
    wanted = [[fitted.predict([see(context, action)])[0] for action in range(ACTIONS)] for context in log.context[:5]]
    np.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_features_and_hardly_any_rows(rows):
    assert np.isfinite(fit(draw_items(rows=rows)[0]).score(np.zeros((2, WIDTH)))).all()


def test_many_features_are_cut_to_their_components():
    features = np.random.default_rng(0).normal(size=(30, 3)) @ np.random.default_rng(1).normal(size=(3, 400))
    few = take_components(features, 42)  # with 5 components, 43 * 6 - 1 columns in all
    assert few.shape == (30, 4)
    assert take_components(features, 600).shape == (30, 1)
    assert np.abs(few[:, 3:]).max() < 1e-9
    log = draw_log(action_features=np.random.default_rng(0).normal(size=(3, 1000)))
    assert cf.learn(log, ["greedy-learner"], shares=1, progress=False).policy.predict([[3.0, 0.0]]).tolist() == [1]


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_features_of_actions_beside_a_file(engine, tmp_path):
    log, contexts, means = draw_items(rows=1800)
    table = pd.DataFrame(log.context, columns=["x", "y", "z"])
    table.assign(item=log.action, reward=log.reward, propensity=log.propensity).to_parquet(tmp_path / "log.parquet")
    items = pd.DataFrame(log.action_features, columns=["size", "price"]).assign(item=range(ACTIONS))
    items.to_csv(tmp_path / "items.csv", index=False)
    known = {"action": "item", "action_features": str(tmp_path / "items.csv"), "engine": engine, "progress": False}
    asked, places = (str(tmp_path / "log.parquet"), ["greedy-learner"]), np.arange(len(means))
    policies = [cf.learn(*asked, shares=1, **one).attempted for one in (known, known | {"action_features": None})]
    others = pd.DataFrame(contexts, columns=["x", "y", "z"])
    found, without = (means[places, one.predict(others).astype(int)].mean() for one in policies)
    assert found > without + 0.1 * means.max(axis=1).mean()


def test_any_model_finds_what_no_line_describes():
    rng = np.random.default_rng(0)
    context, action = rng.normal(size=(1500, 2)), rng.integers(2, size=1500)
    reward = np.where(action == (np.abs(context[:, 0]) < 0.7), 1.0, 0.0) + 0.3 * rng.normal(size=1500)
    log = cf.Log(context=context, action=action, reward=reward, propensity=np.full(1500, 0.5))
    forest = RandomForestRegressor(20, min_samples_leaf=10)
    learned = cf.learn(log, ["greedy-learner", cf.ModelLearner(forest)], shares=1, progress=False)
    assert learned.chosen == "ModelLearner(RandomForestRegressor(min_samples_leaf=10, n_estimators=20))"
    assert learned.policy.predict([[0.0, 0.0], [2.0, 0.0], [-2.0, 0.0]]).tolist() == [1, 0, 0]
    assert "the reward model RandomForestRegressor, on 2 columns" in learned.policy.describe()


def test_a_stack_is_saved_and_read_by_those_who_trust_it(tmp_path):
    for reward in (None, (draw_log(rows=300).reward > 0).astype(float)):
        log = draw_log(rows=300, **({} if reward is None else {"reward": reward}))
        rows = TrainingRows.of(log, np.ones(3, dtype=bool))
        scorer = cf.ModelLearner().fit(rows, 0)
        learned = cf.learn(log, ["greedy-learner"], shares=1, progress=False)
        policy = type(learned.policy)(**vars(learned.policy) | {"scorer": scorer})
        policy.save(tmp_path / "policy.skops")
        with pytest.raises(cf.DataError, match="must hold types that are known to be safe, got sklearn") as refused:
            cf.Skops(tmp_path / "policy.skops").model  # noqa: B018 (it reads the file)
        named = str(refused.value).split(":trusted=")[1].split(")")[0].split(",")
        assert all(name.startswith("sklearn.") for name in named)
        again = cf.Skops(tmp_path / "policy.skops", trusted=named).model
        np.testing.assert_array_equal(again.predict_proba(log.context), policy.predict_proba(log.context))


def test_models_that_are_none_are_refused():
    for wrong in ("best", RandomForestRegressor, 3, None):
        with pytest.raises(cf.ParameterError, match="`model` must be a reward model that can be fitted, or a"):
            cf.ModelLearner(wrong)
    assert cf.ModelLearner(DecisionTreeClassifier()).name == "ModelLearner(DecisionTreeClassifier)"
    assert cf.ModelLearner(cf.RidgePerAction(alpha=2.0)).name == "ModelLearner(RidgePerAction(alpha=2.0))"


def test_models_with_different_settings_compete():
    trees = [cf.ModelLearner(DecisionTreeRegressor(max_depth=depth)) for depth in (1, 2)]
    learned = cf.learn(draw_log(rows=100), trees, shares=1, progress=False)
    assert [line.contender for line in learned.table] == [one.name for one in trees]
    with pytest.raises(cf.ParameterError, match="must be different learners"):
        cf.learn(draw_log(rows=100), [trees[0], trees[0]], progress=False)


class Means:
    """A regressor that knows nothing of scikit-learn but how its own are copied."""

    def get_params(self, **_):
        return {}

    def set_params(self):
        return self

    def fit(self, _, rewards):
        self.mean_ = float(np.mean(rewards))
        return self

    def predict(self, features):
        return np.full(len(features), self.mean_)


def test_a_model_need_not_be_derived_from_that_of_scikit_learn():
    learned = cf.learn(draw_log(rows=100), [cf.ModelLearner(Means())], shares=1, progress=False)
    assert learned.attempted.predict_proba(np.zeros((2, 2))).shape == (2, 3)


UNKNOWN = [
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.tree._tree.Tree",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
]
"""Types that are not safe in a file of a stranger's."""

MODELS = [
    *(cf.SharedRidge(), cf.PooledRidge(), cf.RidgePerAction(), cf.LogisticRidge(), cf.NearestNeighbours()),
    *(cf.LinearPlus(cf.NearestNeighbours()), cf.PerAction(Ridge()), cf.PerAction(DecisionTreeClassifier())),
    *(cf.ActionEncoded(Ridge()), Ridge(), LinearSVC()),
    cf.Stack(members=(cf.SharedRidge(), cf.RidgePerAction(), Ridge())),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_what_is_saved_is_read_again_whatever_the_model(model, tmp_path):
    log = draw_log(rows=200)
    log = draw_log(rows=200, reward=(log.reward > 0).astype(float))
    policy = cf.learn(log, [cf.ModelLearner(model)], shares=1, progress=False).attempted
    policy.save(tmp_path / "policy.skops")
    trusted = [] if type(model) is not cf.PerAction and "Neighbours" not in repr(model) else UNKNOWN
    again = cf.Skops(tmp_path / "policy.skops", trusted=trusted).model
    np.testing.assert_array_equal(again.predict_proba(log.context), policy.predict_proba(log.context))
    assert again.predict_proba(log.context[:0]).shape == (0, 3)
