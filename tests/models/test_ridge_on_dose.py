"""Reward models of doses."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import counterfold as cf
import reference
from problems import dose_log, dose_rows, log_of


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_ridge_on_dose_against_scikit_learn(degree):
    data = reference.random_doses(5, rows=80, draws=2)
    rows = dose_rows(data, cf.RidgeOnDose(alpha=0.01, degree=degree))
    np.testing.assert_allclose(rows.q, reference.ridge_on_dose(data, 0.01, degree), rtol=1e-8)


def test_ridge_on_dose_survives_constant_columns_and_one_row():
    data = reference.random_doses(6)
    data.x[:, 1] = 7.0
    assert np.isfinite(dose_rows(data).q).all()
    assert np.isfinite(dose_rows(data).take(np.array([0])).q).all()
    assert (
        not cf.RidgeOnDose().fit(dose_rows(data).take(np.array([], dtype=int)).examples)(dose_rows(data).examples).any()
    )


def test_a_scikit_learn_model_gets_context_and_dose():
    data = reference.random_doses(7)
    rows = dose_rows(data, LinearRegression())
    model = LinearRegression().fit(np.column_stack([data.x, data.d]), data.r)
    np.testing.assert_allclose(rows.q_logged, model.predict(np.column_stack([data.x, data.d])))
    np.testing.assert_allclose(rows.q_policy, model.predict(np.column_stack([data.x, data.target])))


def test_cross_fitted_models_predict_doses_out_of_fold():
    data = reference.random_doses(8, rows=100)
    rows = dose_rows(data, cf.CrossFitted(cf.RidgeOnDose(), folds=2))
    assert np.isfinite(rows.q).all()
    assert not np.allclose(rows.q, dose_rows(data).q)


def test_models_of_the_wrong_kind_are_refused():
    data = reference.random_doses(9)
    for model in ("ridge-per-action", cf.PerAction(), cf.CrossFitted(cf.RidgePerAction())):
        with pytest.raises(cf.ParameterError, match=r"`reward_model` must suit actions that are doses, got "):
            cf.evaluate(dose_log(data), data.target, reward_model=model)
    labelled = reference.random_data(9)
    with pytest.raises(cf.ParameterError, match=r"`reward_model` must suit actions that are labels, got RidgeOnDose."):
        cf.evaluate(log_of(labelled), labelled.target, reward_model=cf.RidgeOnDose())
    with pytest.raises(cf.DataError, match=r"the logged dose and each of the target's \(2 columns\), got 3."):
        cf.evaluate(dose_log(data), data.target, reward_model=np.zeros((60, 3)))
