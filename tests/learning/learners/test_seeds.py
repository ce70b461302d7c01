"""Seeds of learners, and copies of what users give them."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import counterfold as cf
from counterfold.base.seeding import LARGEST, copy_seeded, narrow_seed
from counterfold.base.validation import LARGEST_SEED
from counterfold.learning.learners.base import TrainingRows
from learning_logs import draw_log


@pytest.mark.parametrize("seed", [LARGEST, LARGEST + 1, LARGEST_SEED])
@pytest.mark.parametrize(
    "learner",
    [
        *(RandomForestClassifier(5), cf.PolicyTree(), cf.PolicyForest(trees=4)),
        *(cf.ModelLearner(one) for one in (RandomForestRegressor(5), cf.PerAction(RandomForestRegressor(5)))),
    ],
    ids=repr,
)
def test_every_seed_that_is_taken_is_good_for_every_learner(learner, seed):
    pytest.importorskip("econml")
    log = draw_log(rows=200)
    first, second = (cf.learn(log, [learner], shares=1, seed=seed, progress=False).attempt.value for _ in range(2))
    assert first == second


FORESTS = {
    "regressor": RandomForestRegressor(5),
    "classifier": RandomForestClassifier(5),
    "per action": cf.PerAction(RandomForestRegressor(5)),
    "in a stack": cf.Stack(members=[cf.SharedRidge(), RandomForestRegressor(5, min_samples_leaf=5)]),
}


@pytest.mark.parametrize("model", FORESTS)
def test_a_reward_model_that_draws_gets_the_seed(model):
    rng = np.random.default_rng(0)
    context = rng.normal(size=(200, 2))
    reward = (np.abs(context[:, 0]) > 0.7).astype(float)
    log = draw_log(rows=200, context=context, reward=reward)
    rows, learner = TrainingRows.of(log, np.ones(3, dtype=bool)), cf.ModelLearner(FORESTS[model])
    first, again, other = (learner.fit(rows, seed).score(context) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_the_seed_of_a_call_is_that_of_its_reward_models():
    log, learner = draw_log(rows=200), cf.ModelLearner(RandomForestRegressor(5))
    several = [cf.learn(log, learner, shares=1, seed=seed, progress=False) for seed in (1, 1, 2)]
    first, again, other = ([one.attempt.value, one.attempted.predict_proba(log.context).tolist()] for one in several)
    assert first == again
    assert first[0] != other[0]
    assert first[1] != other[1]


def test_large_seeds_are_different_ones():
    assert [narrow_seed(seed) for seed in (0, 7, LARGEST)] == [0, 7, LARGEST]
    found = {narrow_seed(LARGEST + number) for number in range(1, 9)}
    assert len(found) == 8
    assert max(found) <= LARGEST


def test_seeds_are_set_where_there_are_none():
    steps = make_pipeline(StandardScaler(), RandomForestClassifier(3))
    assert copy_seeded(steps, 7).get_params()["randomforestclassifier__random_state"] == 7
    assert steps.get_params()["randomforestclassifier__random_state"] is None


class Plain:
    """A classifier that knows nothing of scikit-learn: the share of each class, weighted."""

    fits = 0

    def fit(self, _context, action, sample_weight):
        self.fits += 1
        self.classes_ = np.unique(action)
        self.shares = np.array([sample_weight[action == one].sum() for one in self.classes_])
        return self

    def predict_proba(self, context):
        return np.tile(self.shares / self.shares.sum(), (len(context), 1))


class Told(Plain):
    """One that tells its parameters, and cannot be set others."""

    def get_params(self, **_):
        return {}


@pytest.mark.parametrize("kind", [Plain, Told])
def test_a_classifier_need_not_be_one_of_scikit_learn(kind):
    classifier = kind()
    learned = cf.learn(draw_log(), [classifier], shares=1, progress=False)
    assert learned.chosen == f"WeightedClassifier({kind.__name__})"
    assert learned.attempted.predict_proba(np.zeros((2, 2))).sum() == pytest.approx(2)
    assert classifier.fits == 0
