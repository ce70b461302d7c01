"""What cannot be fitted, and what is wrong with the request, is told in one sentence."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.svm import LinearSVC

import counterfold as cf
from counterfold.log.propensities import as_fit
from fitted_logs import ROWS, draw, make_log

MISTAKES = {
    "name": ({"propensity": "fit:bosting"}, r"`propensity` must be .*Did you mean `fit:boosting`\?"),
    "no probabilities": ({"propensity": LinearSVC()}, "must have `predict_proba`, so that it knows .* got LinearSVC"),
    "known": (
        {"logging_probs": np.full((ROWS, 3), 1 / 3)},
        "`propensity` must not be fitted where there are `logging_",
    ),
}


@pytest.mark.parametrize(("more", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(more, message):
    with pytest.raises(cf.ParameterError, match=message):
        make_log(**more)


def test_a_log_of_doses_needs_densities():
    x, _, _, reward, _ = draw()
    with pytest.raises(cf.ParameterError, match="`propensity` must be densities for a log of doses"):
        cf.Log(dose=x[:, 0], reward=reward, propensity="fit")


class Broken(DummyClassifier):
    """A classifier that fails, or that predicts nonsense."""

    def predict_proba(self, X):  # noqa: N803 (scikit-learn's name)
        """Return NaN."""
        return super().predict_proba(X) * np.nan


class Failing(DummyClassifier):
    """A classifier that cannot be fitted."""

    def fit(self, X, y):  # noqa: ARG002, N803 (as scikit-learn calls it)
        """Fail."""
        raise RuntimeError("no memory of these")


def test_a_classifier_that_fails():
    with pytest.raises(cf.ModelError, match="the classifier Broken must predict a probability for each action"):
        make_log(propensity=Broken())
    with pytest.raises(cf.ModelError, match="the classifier Failing failed with RuntimeError: no memory of these"):
        make_log(propensity=Failing())


def test_without_propensities_the_error_points_here(table):
    with pytest.raises(
        cf.DataError, match=r'got neither. If none were logged, `propensity="fit"` \(--propensity fit\)'
    ):
        cf.evaluate(table)
    x, action, _, reward, _ = draw()
    with pytest.raises(cf.DataError, match=r'got neither. If none were logged, `propensity="fit"`'):
        cf.Log(context=x, action=action, reward=reward)


def test_what_is_no_wish():
    assert as_fit("propensity") is None
    assert as_fit(np.full(3, 0.5)) is None
    assert as_fit(pd.Series([0.5])) is None
    assert as_fit(None) is None
    assert as_fit(as_fit("fit")).name == "logistic"
