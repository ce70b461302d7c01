"""Every reward model: one prediction per row and action, the same twice, and out of fold where it says so."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import counterfold as cf
import reference
from counterfold.base import registry
from problems import dose_rows, near, rows_of

NAMES = registry.names("models")


@pytest.fixture(params=NAMES)
def kind(request):
    return registry.find("models", request.param)


def rows_for(model, seed):
    """Return random rows with four actions, or with the logged dose and three draws."""
    if model.suits("labels"):
        return rows_of(reference.random_data(seed, rows=120), model)
    return dose_rows(reference.random_doses(seed, rows=120, draws=3), model)


def test_every_model_predicts_every_action_of_every_row(kind):
    rows = rows_for(kind(), 7)
    assert rows.q.shape == (120, 4)
    assert np.isfinite(rows.q).all()


def test_every_model_gives_the_same_answer_twice(kind):
    np.testing.assert_array_equal(rows_for(kind(), 8).q, rows_for(kind(), 8).q)


def test_random_models_without_a_seed_get_one():
    data = reference.random_data(9)
    forest = cf.PerAction(RandomForestRegressor(n_estimators=5))
    np.testing.assert_array_equal(rows_of(data, forest).q, rows_of(data, forest).q)


def test_every_model_survives_a_single_row(kind):
    rows = rows_for(kind(), 10).take(np.array([7]))
    assert rows.q[0, rows.actions[0]] == (0.0 if kind is cf.CrossFitted else rows.rewards[0])


def test_classifiers_predict_the_mean_reward():
    data = reference.random_data(11, rows=300, binary=True)
    data.r = 3 * data.r - 1
    q = rows_of(data, cf.PerAction(LogisticRegression())).q
    mine = data.a == 0
    model = LogisticRegression().fit(data.x[mine], data.r[mine])
    near(q[:, 0], 3 * model.predict_proba(data.x)[:, 1] - 1)


def test_action_encoded_shares_the_slope_and_nothing_else():
    data = reference.random_data(12, rows=300)
    data.r = data.x[:, 0] + np.array([0.0, 5.0, -3.0, 1.0])[data.a]
    q = rows_of(data, cf.ActionEncoded(LinearRegression())).q
    near(q, data.x[:, :1] + [0.0, 5.0, -3.0, 1.0])


FIXED = [cf.RidgePerAction(), cf.SharedRidge(alpha=10.0, common=1.0)]


@pytest.mark.parametrize("model", FIXED, ids=str)
def test_cross_fitted_never_predicts_a_row_it_saw(model):
    data = reference.random_data(13, rows=200)
    before = rows_of(data, cf.CrossFitted(model)).q
    data.r[17] += 1000.0
    after = rows_of(data, cf.CrossFitted(model)).q
    np.testing.assert_array_equal(after[17], before[17])
    assert np.abs(after - before).max() > 1


@pytest.mark.parametrize("folds", [2, 5, 9])
def test_cross_fitted_has_so_many_folds_whatever_the_period_of_the_log(folds):
    data = reference.random_data(13, rows=300)
    data.a[:] = np.arange(300) % 2
    data.r[:] = np.random.default_rng(0).normal(size=300)
    data.x[:], data.logging[:], data.target[:] = 0.0, 1 / 4, 1 / 4
    assert len(np.unique(rows_of(data, cf.CrossFitted(folds=folds)).q[:, 0])) == folds


def test_every_part_of_a_pipeline_gets_a_seed():
    data = reference.random_data(9)
    forest = cf.PerAction(make_pipeline(StandardScaler(), RandomForestRegressor(n_estimators=5)))
    np.testing.assert_array_equal(rows_of(data, forest).q, rows_of(data, forest).q)


@pytest.mark.parametrize("model", FIXED, ids=str)
def test_cross_fitted_keeps_groups_together(model):
    data = reference.random_data(14, rows=200)
    group = np.arange(200) // 10
    before = rows_of(data, cf.CrossFitted(model), group=group).q
    data.r[30] += 1000.0
    after = rows_of(data, cf.CrossFitted(model), group=group).q
    np.testing.assert_array_equal(after[30:40], before[30:40])
