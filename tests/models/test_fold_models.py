"""Linear models of folds, which predict all rows together: against each model alone, one row at a time."""

from dataclasses import replace

import numpy as np
import pytest

import counterfold as cf
import reference
from counterfold.base.hashing import assign_folds
from counterfold.models import Fitted, ModelStream
from counterfold.selectors._model_pull import move_values
from problems import rows_of

LIMITS = (0.2, 0.4), (1.0, 0.0), (-9.0, 9.0)
"""What predictions of each fold stay within; the second ones are those of a model that saw no reward."""


def fit_folds(rows, limits):
    """Return a model for each of three folds, each with limits of its own."""
    stream = ModelStream.of(cf.SharedRidge(10.0, 1.0), 3, rows.examples)
    models = stream.cross_fit(stream.sums(rows.examples), 3)
    return [replace(one, limits=some) for one, some in zip(models, limits, strict=True)]


def predict_alone(model, examples, place):
    """Return what a model says of every action in one row, by its formula."""
    centre, scale, found = model.scaling.centre, model.scaling.scale, []
    for action in range(examples.n_actions):
        thought = [logarithm[place, action] for logarithm in examples.log_probs]
        seen = (np.array([*examples.context[place], *thought]) - centre) / scale
        found.append(model.intercepts[action] + seen @ model.slopes[:, action])
    low, high = model.limits
    return found if low > high else np.clip(found, low, high)


@pytest.mark.parametrize("limits", [LIMITS, LIMITS[:1] * 3], ids=["limits differ", "same limits"])
def test_each_row_is_predicted_by_the_model_of_its_fold(limits, monkeypatch):
    monkeypatch.setattr("counterfold.models._policy_models.ROWS_PER_BLOCK", 40)
    examples = rows_of(reference.random_data(4, rows=97), cf.CrossFitted()).examples
    models = fit_folds(rows_of(reference.random_data(4, rows=97), cf.CrossFitted()), limits)
    fold = assign_folds(examples.units, 3)
    first = np.flatnonzero(fold == 0)
    alone = [predict_alone(models[number], examples, place) for place, number in enumerate(fold)]
    np.testing.assert_allclose(Fitted(tuple(models)).predictions(examples), alone, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(models[0](examples.take(first)), np.array(alone)[first], rtol=1e-10, atol=1e-12)


def test_pulls_on_several_values_are_those_on_each():
    rows = rows_of(reference.random_data(5, rows=97), cf.CrossFitted())
    caps = [0.0, 1.0, np.inf]
    alone = np.concatenate([move_values([cap], rows) for cap in caps])
    np.testing.assert_allclose(move_values(caps, rows), alone, rtol=1e-10)


def test_the_sums_of_a_model_do_not_depend_on_how_many_rows_are_scaled_together(monkeypatch):
    examples = rows_of(reference.random_data(6, rows=97), cf.CrossFitted()).examples
    stream = ModelStream.of(cf.SharedRidge(), 3, examples)
    whole = stream.sums(examples)
    monkeypatch.setattr("counterfold.models._moments.ROWS_PER_BLOCK", 10)
    parts = stream.sums(examples)
    np.testing.assert_allclose(parts.moments, whole.moments, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(parts.columns, whole.columns, rtol=1e-10, atol=1e-12)
    assert whole.columns[0] == len(examples)


@pytest.mark.parametrize(
    "model", [cf.LogisticRidge(), cf.SharedRidge(), cf.PooledRidge(), cf.RidgePerAction()], ids=str
)
@pytest.mark.parametrize("binary", [False, True])
def test_models_of_folds_need_not_be_scaled_alike(model, binary):
    """Each row is predicted as the model of its fold predicts it alone, wherever models come from."""
    data = reference.random_data(7, rows=200, binary=binary)
    data.x[:, 1] = 1e5 + 100 * data.x[:, 1]
    rows = rows_of(data, cf.CrossFitted(model))
    fold = assign_folds(rows.examples.units, 5)
    for number, one in enumerate(rows.fitted.predictors):
        mine = np.flatnonzero(fold == number)
        np.testing.assert_allclose(rows.q[mine], one(rows.examples.take(mine)), rtol=1e-9, atol=1e-9)


def test_of_models_that_are_scaled_differently_nobody_knows_the_pulls():
    rows = rows_of(reference.random_data(8, rows=100))
    apart = Fitted(tuple(cf.SharedRidge(1.0, 1.0).fit(rows.examples.take(slice(end))) for end in (50, 100)))
    assert apart.fit_noise == "unknown"
    assert rows_of(reference.random_data(8, rows=100), cf.CrossFitted()).fitted.fit_noise == "known"
