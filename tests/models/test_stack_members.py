"""Members of stacks, which are models of their own: against scikit-learn and naive loops, and what they refuse."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

import counterfold as cf
import reference
from counterfold.models.stack import as_member
from problems import near, rows_of


def test_logistic_ridge_against_scikit_learn():
    data = reference.random_data(10, rows=300, binary=True)
    data.r = 3 * data.r - 1
    rows = rows_of(data, cf.LogisticRidge())
    linear = (rows_of(data, cf.SharedRidge()).q + 1) / 3

    def see(row, action):
        chance = min(max(linear[row, action], 0.02), 0.98)
        return [np.log(chance / (1 - chance)), chance, *reference.see(data, row, action)]

    logged = np.array([see(row, data.a[row]) for row in range(300)])
    counts = (data.target / data.logging)[np.arange(300), data.a] + 0.1
    counts = np.sqrt(counts)
    counts *= counts.sum() / (counts**2).sum()
    centre, scale = logged.mean(axis=0), logged.std(axis=0)
    model = LogisticRegression(tol=1e-10, max_iter=1000).fit((logged - centre) / scale, data.r, counts)
    for action in range(4):
        columns = (np.array([see(row, action) for row in range(300)]) - centre) / scale
        expected = 3 * expit(columns @ model.coef_[0] + model.intercept_[0]) - 1
        np.testing.assert_allclose(rows.q[:, action], expected, atol=1e-4)


def test_logistic_ridge_is_shared_ridge_where_rewards_are_not_two():
    data = reference.random_data(10)
    near(rows_of(data, cf.LogisticRidge()).q, rows_of(data, cf.SharedRidge()).q)


@pytest.mark.parametrize("kept", [False, True])
def test_nearest_neighbours_against_naive_loops(kept):
    data = reference.random_data(11)
    data.a[data.a == 3] = 2
    counts = 1 + np.arange(60) % 3 if kept else np.ones(60)
    rows = rows_of(data, cf.NearestNeighbours(size=1.5), kept=1 / counts if kept else None)
    near(rows.q, reference.nearest_neighbours(data, 1.5, counts))


def test_nearest_neighbours_of_no_rows_predict_nothing():
    examples = rows_of(reference.random_data(11)).examples
    assert not cf.NearestNeighbours().fit(examples.take(slice(0)))(examples).any()


def test_linear_plus_against_scikit_learn():
    data = reference.random_data(12, rows=200)
    linear = rows_of(data, cf.SharedRidge()).q
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    q = rows_of(data, cf.LinearPlus(cf.ActionEncoded(tree, sees_policies=True))).q

    def see(row, action):
        onehot = [float(action == one) for one in range(4)]
        return [*data.x[row], linear[row, action], *reference.see(data, row, action)[3:], *onehot]

    at = np.arange(200), data.a
    fitted = tree.fit(np.array([see(row, data.a[row]) for row in range(200)]), data.r - linear[at])
    for action in range(4):
        near(q[:, action], linear[:, action] + fitted.predict(np.array([see(row, action) for row in range(200)])))
    again = rows_of(data, cf.LinearPlus(cf.PerAction(tree)))
    assert again.q.shape == (200, 4)


class Distribution(Ridge):
    """A regressor that tells more of a reward than its mean."""

    def predict_proba(self, features):
        return self.predict(features), 1.0


class Untold:
    """A classifier that is not derived from scikit-learn's base."""

    def fit(self, _features, rewards):
        self.classes_ = np.unique(rewards)
        return self

    def predict(self, features):
        return np.zeros(len(features))

    def predict_proba(self, features):
        return np.tile([0.5, 0.5], (len(features), 1))


class Mixed(ClassifierMixin, Untold):
    """One that is derived from the half of it, and so cannot tell what it is."""


class Unnamed(Untold, BaseEstimator):
    """One that is derived from the other half, and does not tell what it is."""


MEMBERS = {
    "regressor": (Ridge(), cf.LinearPlus),
    "regressor with probabilities": (Distribution(), cf.LinearPlus),
    "pipeline of it": (make_pipeline(Distribution()), cf.LinearPlus),
    "classifier": (LogisticRegression(), cf.ActionEncoded),
    "classifier without probabilities": (LinearSVC(), cf.ActionEncoded),
    "linear classifier without probabilities": (RidgeClassifier(), cf.ActionEncoded),
    "pipeline of a classifier": (make_pipeline(LogisticRegression()), cf.ActionEncoded),
    "untold": (Untold(), cf.ActionEncoded),
    "mixed": (Mixed(), cf.ActionEncoded),
    "unnamed": (Unnamed(), cf.ActionEncoded),
}


@pytest.mark.parametrize(("estimator", "kind"), MEMBERS.values(), ids=MEMBERS)
def test_what_a_regressor_is_and_what_a_classifier_its_tags_say(estimator, kind):
    assert type(as_member(estimator)) is kind
    q = rows_of(reference.random_data(13, rows=80, binary=True), cf.Stack([cf.SharedRidge(), estimator])).q
    assert np.isfinite(q).all()
    assert np.ptp(q) > 0


@pytest.mark.parametrize("classifier", [LinearSVC(random_state=0), RidgeClassifier()], ids=["svm", "ridge"])
def test_a_classifier_without_probabilities_predicts_one_of_the_rewards(classifier):
    data = reference.random_data(14, binary=True)
    q, onehot = rows_of(data, cf.ActionEncoded(classifier)).q, np.eye(4)
    fitted = classifier.fit(np.hstack([data.x, onehot[data.a]]), data.r)
    for action in range(4):
        near(q[:, action], fitted.predict(np.array([[*x, *onehot[action]] for x in data.x])))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cf.LinearPlus(LinearRegression()), r"^`model` must be a reward model that can be fitted, .*\.$"),
        (lambda: cf.LogisticRidge(3), r"^`ridge` must be a `SharedRidge`, got 3\.$"),
        (lambda: cf.NearestNeighbours(0), r"^`size` must be "),
        (lambda: cf.ActionEncoded(sees_policies="yes"), r"^`sees_policies` must be True or False, got 'yes'\.$"),
    ],
)
def test_bad_parameters_of_members_are_refused(make, message):
    with pytest.raises(cf.ParameterError, match=message):
        make()
