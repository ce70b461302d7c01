"""Files of policies that are damaged: refused in one sentence, and no policy that was saved as it was learnt."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import counterfold as cf
from counterfold.base import registry

io = pytest.importorskip("skops.io", reason="needs the extra `skops`")
pytest.importorskip("econml", reason="needs the extra `learn`")

FAST = {"shares": 1, "folds": 3, "progress": False}


def draw_frame(rows=300):
    """Return a log with numbers, text, gaps and dates."""
    rng = np.random.default_rng(0)
    city, action = rng.choice(["Rome", "Oslo", "Bonn"], rows), rng.choice(["a", "b", "c"], rows)
    age = np.where(np.arange(rows) % 9 == 0, np.nan, rng.normal(size=rows))
    joined = np.datetime64("2024-01-01") + rng.integers(9, size=rows).astype("timedelta64[D]")
    reward = 1.0 * ((city == "Rome") & (action == "b")) + rng.normal(size=rows) / 4
    known = {"age": age, "city": city, "joined": joined, "action": action, "reward": reward}
    return pd.DataFrame({**known, "propensity": 1 / 3})


LOG = draw_frame()
CONTEXT = ["age", "city", "joined"]


def learn(learner, **settings):
    return cf.learn(LOG, [learner], context=CONTEXT, **{**FAST, **settings}).attempted


LEARNERS = {name: registry.build("learners", name) for name in sorted(registry.names("learners"))} | {
    "forest of 3": cf.PolicyForest(trees=3),
    "deep tree": cf.PolicyTree(depth=6, smallest_leaf=5),
    "model": cf.ModelLearner(cf.RidgePerAction()),
    "classifier": GaussianNB(),
}
SETTINGS = {
    "whole": {},
    "mixed": {"shares": 0.5, "explore": 0.1},
    "limited": {"limits": ["b <= 30%", "c >= 10%"], "explore": 0.05},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_no_policy_is_refused_that_was_saved_as_it_was_learnt(learner, settings, tmp_path):
    policy = learn(learner, **settings)
    policy.save(tmp_path / "policy.skops")
    again = cf.Skops(tmp_path / "policy.skops", trusted=io.get_untrusted_types(data=policy.dump())).model
    np.testing.assert_array_equal(again.predict_proba(LOG), policy.predict_proba(LOG))


@pytest.mark.parametrize("reward", [0.0, 1e9, 1e-30])
@pytest.mark.parametrize("name", ["policy-tree", "policy-forest:trees=3", "greedy-learner"])
def test_no_policy_is_refused_that_was_learnt_from_odd_rewards_or_without_a_column_that_matters(name, reward, tmp_path):
    rewards = np.where(np.arange(len(LOG)) % 50 == 0, reward, 0.0)
    rewards[7] += reward == 0
    policy = cf.learn(LOG.assign(reward=rewards, same=1.0), [name], context=["age", "same"], **FAST).attempted
    policy.save(tmp_path / "policy.skops")
    assert cf.Skops(tmp_path / "policy.skops").model.describe() == policy.describe()


GREEDY, TREE, FOREST = learn("greedy-learner"), learn("policy-tree"), learn("policy-forest:trees=2")
LIMITED = learn("greedy-learner", limits="b <= 30%")
MODEL, CLASSIFIER = learn(cf.ModelLearner(cf.RidgePerAction())), learn(cf.WeightedClassifier(GaussianNB()))
INNER = int(np.flatnonzero(TREE.scorer.feature >= 0)[0])


def put(array, place, value):
    """Return an array with another value at a place."""
    found = array.copy()
    found[place] = value
    return found


def change_features(**changes):
    return replace(GREEDY, features=replace(GREEDY.features, **changes))


def change_scorer(policy, **changes):
    return replace(policy, scorer=replace(policy.scorer, **changes))


def change_tree(**changes):
    """Return the tree with some arrays changed, each by a function."""
    scorer = TREE.scorer
    return change_scorer(TREE, **{name: change(getattr(scorer, name)) for name, change in changes.items()})


DAMAGED = {
    "labels: one": replace(GREEDY, labels=5),
    "labels: too few": replace(GREEDY, labels=["a", "b"]),
    "labels: lists": replace(GREEDY, labels=[["a"], ["b"], ["c"]]),
    "features: none": replace(GREEDY, features=None),
    "features: number for names": change_features(names=5),
    "features: numbers among names": change_features(names=[1, 2, 3]),
    "features: number for columns": change_features(columns=5),
    "features: too few columns": change_features(columns=["age"]),
    "features: no encodings": change_features(encodings={}),
    "features: strange encodings": change_features(encodings=dict.fromkeys(CONTEXT, "age")),
    "features: dates of two parts": change_features(
        encodings=GREEDY.features.encodings | {"joined": replace(GREEDY.features.encodings["joined"], vary=(True,) * 2)}
    ),
    "scorer: a text": replace(GREEDY, scorer="linear"),
    "scorer: too few intercepts": change_scorer(GREEDY, intercepts=np.zeros(2)),
    "scorer: NaN": change_scorer(GREEDY, intercepts=np.array([0.0, np.nan, 1.0])),
    "scorer: slopes of other columns": change_scorer(GREEDY, slopes=np.zeros((2, 3))),
    "scorer: texts": change_scorer(GREEDY, spread=np.array(["x"] * GREEDY.scorer.slopes.shape[0])),
    "logger: too few intercepts": replace(GREEDY, logger=replace(GREEDY.logger, intercepts=np.zeros(2))),
    "allowed: none": replace(GREEDY, allowed=np.zeros(3, dtype=bool)),
    "allowed: too few": replace(GREEDY, allowed=np.ones(2, dtype=bool)),
    "share: more than all": replace(GREEDY, share=1.5),
    "share: text": replace(GREEDY, share="half"),
    "explore: NaN": replace(GREEDY, explore=float("nan")),
    "is_greedy: neither": replace(GREEDY, is_greedy="yes"),
    "learnt_rows: text": replace(GREEDY, learnt_rows="none"),
    "prices: of other actions": change_scorer(LIMITED, prices=LIMITED.scorer.prices[:, :2]),
    "prices: of other shares": change_scorer(LIMITED, shares=np.full(9, 1 / 9)),
    "prices: of a damaged scorer": change_scorer(LIMITED, scorer=change_scorer(GREEDY, intercepts=np.zeros(2)).scorer),
    "tree: a loop": change_tree(left=np.zeros_like, right=np.zeros_like),
    "tree: back to the root": change_tree(left=lambda left: put(left, INNER, 0)),
    "tree: out of bounds": change_tree(right=lambda right: put(right, INNER, len(right))),
    "tree: both ways lead to one node": change_tree(left=lambda _: TREE.scorer.right),
    "tree: a column that is not there": change_tree(feature=lambda one: put(one, INNER, len(TREE.features.columns))),
    "tree: no nodes": change_tree(
        **dict.fromkeys(["feature", "left", "right", "threshold", "rows"], lambda one: one[:0])
    ),
    "tree: values of other nodes": change_tree(values=lambda values: values[1:]),
    "tree: values of other actions": change_tree(values=lambda values: values[:, 1:]),
    "tree: gains of other columns": change_tree(gains=lambda gains: gains[1:]),
    "tree: parts of nodes": change_tree(left=lambda left: left.astype(float)),
    "forest: no trees": change_scorer(FOREST, trees=[]),
    "forest: a loop": change_scorer(FOREST, trees=[change_tree(left=np.zeros_like, right=np.zeros_like).scorer]),
    "model: other actions": change_scorer(MODEL, n_actions=2),
    "classifier: other actions": change_scorer(CLASSIFIER, n_actions=2),
}


@pytest.mark.parametrize("policy", DAMAGED.values(), ids=DAMAGED)
def test_what_does_not_fit_together_is_refused_in_one_sentence(policy, tmp_path):
    policy.save(tmp_path / "policy.skops")
    with pytest.raises(cf.DataError, match=r"^`.*policy\.skops` must be a file that .* failed with \w+: .*\.$"):
        cf.evaluate(LOG, f"skops:{tmp_path / 'policy.skops'}", context=CONTEXT, progress=False)
