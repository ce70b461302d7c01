"""What users may pass as a reward model, and what is refused."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

import counterfold as cf
import reference
from counterfold.models import as_model
from counterfold.models.base import TrainedModel
from problems import log_of, near, rows_of


def test_predictions_are_taken_and_follow_the_rows():
    data = reference.random_data(15)
    q = reference.ridge(data, 1.0)
    rows = rows_of(data, q)
    near(rows.take(np.array([5, 3])).q, q[[5, 3]])
    assert not isinstance(rows.model, TrainedModel)


def test_sklearn_estimators_are_taken_per_action():
    data = reference.random_data(16)
    near(rows_of(data, Ridge(alpha=2.0)).q, reference.ridge(data, 2.0))


class Distributional(Ridge):
    """A regressor that predicts a distribution, too, and is no classifier."""

    def predict_proba(self, rows):
        return np.ones((len(rows), 7)) / 7


def test_a_regressor_that_predicts_distributions_is_none_of_classes():
    data = reference.random_data(16)
    near(rows_of(data, Distributional(alpha=2.0)).q, reference.ridge(data, 2.0))


@dataclass(frozen=True)
class Odd(TrainedModel):
    """A model that predicts what it is told to."""

    predicted: Any

    def fit(self, _examples):
        return lambda rows: np.resize(self.predicted, (len(rows), *np.shape(self.predicted)[1:]))


ODD = {
    "nan": (
        [[0.0, 1.0, np.nan, 2.0]],
        "must predict finite rewards of at most 1e\\+60 in size, got nan in 60 of 60 rows",
    ),
    "infinite": ([[0.0, 1.0, 2.0, np.inf]], "must predict finite rewards .* got inf in 60 of 60 rows, first at row 0"),
    "huge": ([[1e300] * 4], "must predict finite rewards .* got 1e\\+300 in 60 of 60 rows, first at row 0"),
    "one column": ([[1.0]], "must predict a number for each of 4 actions in each of 60 rows, got shape \\(60, 1\\)"),
    "a vector": ([1.0], "must predict a number for each of 4 actions in each of 60 rows, got shape \\(60,\\)"),
}


@pytest.mark.parametrize(("predicted", "message"), ODD.values(), ids=ODD)
def test_what_is_no_reward_is_refused(predicted, message):
    with pytest.raises(cf.ModelError, match=rf"^the reward model {message}"):
        cf.DM().contributions(rows_of(reference.random_data(17), Odd(predicted)))
    with pytest.raises(cf.ModelError, match=r"^the reward model must predict"):
        cf.DM().contributions(rows_of(reference.random_data(17), cf.CrossFitted(Odd(predicted))))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("ridge", "unknown model `ridge`. Known: default, best, action-encoded, "),
        (7, "`reward_model` must be a reward model, a scikit-learn estimator or predictions .*, got int."),
        (np.zeros((59, 4)), "`reward_model` must have one entry per row \\(60\\), got 59."),
        (np.zeros((60, 3)), "`reward_model` must have one column per action \\(4: 0, 1, 2, 3\\), got 3."),
        (np.full((60, 4), np.nan), "`reward_model` must be finite, got nan in 60 of 60 rows, first at row 0."),
    ],
    ids=["text", "number", "rows", "columns", "nan"],
)
def test_what_is_no_model_is_refused(model, message):
    with pytest.raises(cf.CounterfoldError, match=message):
        as_model(model, log_of(reference.random_data(17)))


def test_a_model_that_cannot_predict_says_so():
    rows = rows_of(reference.random_data(18, rows=10), cf.PerAction(KNeighborsRegressor()))
    with pytest.raises(
        cf.ModelError,
        match=r"^predicting 10 rows by the reward model KNeighborsRegressor\(\) failed with ValueError: .*\.$",
    ):
        _ = rows.q


def test_a_model_that_cannot_be_fitted_says_so():
    rows = rows_of(reference.random_data(18), cf.PerAction(LogisticRegression()))
    with pytest.raises(
        cf.ModelError, match=r"^fitting the reward model LogisticRegression\(\) on \d+ rows failed with "
    ):
        _ = rows.q


@pytest.mark.parametrize(
    "make", [lambda: cf.RidgePerAction(0.0), lambda: cf.CrossFitted(folds=1)], ids=["alpha", "folds"]
)
def test_bad_parameters_are_refused(make):
    with pytest.raises(cf.ParameterError, match=r"`(alpha|folds)` must be .*, got "):
        make()
