"""WeightedClassifier: the logistic regression that it takes by itself."""

import numpy as np
import pytest

import counterfold as cf
from counterfold.learning.learners.weighted_classifier import fit_logistic


@pytest.mark.parametrize("classes", [[0, 3], [0, 2, 3]])
def test_scores_are_those_of_a_logistic_regression_on_scaled_columns(classes):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    context = rng.normal(size=(400, 3)) * [1.0, 1000.0, 0.01] + [0.0, 5000.0, 1.0]
    actions, weights = rng.choice(classes, 400), rng.random(400)
    actions[context[:, 1] > 5500] = 0
    scores = np.exp(fit_logistic(context, actions, weights, 5).score(context))
    found = scores / scores.sum(axis=1, keepdims=True)
    expected = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    expected.fit(context, actions, logisticregression__sample_weight=weights)
    np.testing.assert_allclose(found[:, classes], expected.predict_proba(context), atol=1e-6)
    assert np.delete(found, classes, axis=1).max() < 1e-9


def test_columns_of_very_different_sizes_are_learnt_from():
    rng = np.random.default_rng(1)  # warnings, such as that a fit did not converge, are errors here
    days, income, action = rng.integers(0, 90, 2000), rng.normal(50_000, 10_000, 2000), rng.integers(2, size=2000)
    reward = np.where(action == 1, (days - 45) / 20, 0.0) + rng.normal(size=2000)
    log = cf.Log(context=np.column_stack([days, income]), action=action, reward=reward, propensity=np.full(2000, 0.5))
    learned = cf.learn(log, "weighted-classifier", shares=1, progress=False)
    assert learned.beats_log
    assert learned.policy.predict([[80, 50_000], [5, 50_000]]).tolist() == [1, 0]
