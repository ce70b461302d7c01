"""Every estimator, and every value of its grid, against its formula as a naive loop."""

from dataclasses import fields

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import counterfold as cf
import reference
from counterfold.base import registry
from problems import close, dose_log, dose_rows, estimate_as_paper, log_of, rows_of

NAMES = registry.names("estimators")
seeds = st.integers(0, 10_000)


@pytest.mark.parametrize("name", NAMES)
@given(seed=seeds)
@settings(max_examples=20)
def test_against_naive_loop(name, seed):
    formula, parameters = reference.FORMULAS[name]
    estimator = registry.find("estimators", name)(**parameters)
    if name in reference.OF_DOSES:
        data = reference.random_doses(seed, draws=1 + seed % 3)
        expected = formula(data, reference.ridge_on_dose(data, 0.001), **parameters)
        close(estimator.contributions(dose_rows(data)), expected)
        close(cf.estimate(dose_log(data), data.target, estimator).value, sum(expected) / len(expected))
        return
    data = reference.random_data(seed)
    expected = formula(data, reference.ridge(data, 0.001), **parameters)
    close(estimator.contributions(rows_of(data)), expected)
    close(estimate_as_paper(log_of(data), data.target, estimator).value, sum(expected) / len(expected))


@pytest.mark.parametrize("name", NAMES)
def test_the_grid_against_naive_loop(name):
    formula, _ = reference.FORMULAS[name]
    kind = registry.find("estimators", name)
    if name in reference.OF_DOSES:
        data = reference.random_doses(4, rows=200)
        rows, q = dose_rows(data), reference.ridge_on_dose(data, 0.001)
    else:
        data = reference.random_data(4, rows=200)
        rows, q = rows_of(data), reference.ridge(data, 0.001)
    for candidate in kind.candidates(rows):
        parameters = {field.name: getattr(candidate, field.name) for field in fields(candidate)}
        close(candidate.contributions(rows), formula(data, q, **parameters))


@pytest.mark.parametrize("ratio", [cf.SNIPS(), cf.SNDR()], ids=str)
def test_ratio_estimators_error_against_jackknife(ratio):
    data = reference.random_data(5, rows=400)
    rows = rows_of(data, cf.Given(reference.ridge(data, 0.001)))
    every = np.arange(len(rows))
    left_out = np.array([ratio.value(rows.take(every[every != i])) for i in every])
    jackknife = np.sqrt((len(rows) - 1) / len(rows) * np.square(left_out - left_out.mean()).sum())
    assert cf.Estimate("", ratio.contributions(rows)).stderr == pytest.approx(jackknife, rel=0.03)
