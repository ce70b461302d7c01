"""Reward models by name."""

import pytest

import counterfold as cf
import reference
from counterfold.models import as_model
from counterfold.policies.given import as_target
from problems import dose_log, log_of


def test_models_by_name():
    data = reference.random_data(20)
    log = log_of(data)
    usual = as_model("default", log)
    assert (type(usual), usual.model, usual.folds) == (cf.CrossFitted, cf.PooledRidge(), 5)
    assert as_model("ridge-per-action", log) == cf.RidgePerAction()
    assert as_model("ridge-per-action:alpha=2", log) == cf.RidgePerAction(2.0)
    doses = reference.random_doses(20)
    assert as_model("default", dose_log(doses)) == cf.RidgeOnDose()
    assert as_target(doses.target, dose_log(doses)).draws == 1
    with pytest.raises(cf.ParameterError, match=r"unknown model `rigde`"):
        as_model("rigde", log)
