"""One ridge regression per action: against scikit-learn's and singular values, and shared sums against refits."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import counterfold as cf
import reference
from problems import estimate_as_paper, near, rows_of


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("binary", [False, True])
def test_ridge_against_sklearn(alpha, binary):
    for seed in range(10):
        data = reference.random_data(seed, binary=binary)
        near(rows_of(data, cf.RidgePerAction(alpha)).q, reference.ridge(data, alpha))


def by_singular_values(data, alpha):
    """Return ridge predictions by the most accurate way there is."""
    q = np.zeros((len(data.r), data.target.shape[1]))
    for action in range(q.shape[1]):
        x, r = data.x[data.a == action], data.r[data.a == action]
        u, s, v = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
        q[:, action] = r.mean() + (data.x - x.mean(axis=0)) @ v.T @ (s / (s**2 + alpha) * (u.T @ (r - r.mean())))
    return q


@pytest.mark.parametrize("rows", [60, 400], ids=["fewer rows than columns", "more rows than columns"])
@pytest.mark.parametrize(("scale", "offset"), [(1e3, 0.0), (1e5, 0.0), (1e4, 1e6)])
def test_ridge_on_badly_scaled_columns_against_singular_values(rows, scale, offset):
    data = reference.random_data(0, rows=rows, columns=30)
    data.x = data.x * np.where(np.arange(30) % 2, scale, 1.0) + offset * (np.arange(30) % 2)
    expected = by_singular_values(data, 1e-3)
    np.testing.assert_allclose(rows_of(data).q, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_ridge_where_a_large_column_varies_in_some_actions_only():
    data = reference.random_data(3, rows=400)
    data.x = np.column_stack([data.x, np.where(data.a == 2, data.x[:, 0], 0.5) * 1e5])
    near(rows_of(data).q, reference.ridge(data, 1e-3))


def test_ridge_on_a_large_column_twice_is_that_column_once():
    data = reference.random_data(4, rows=400)
    large = data.x[:, :1] * 1e20
    data.x = large
    once = rows_of(data).q
    data.x = np.hstack([large, large])
    near(rows_of(data).q, once)


def test_ridge_survives_columns_that_repeat_each_other():
    data = reference.random_data(4, rows=400)
    data.x = np.column_stack([data.x, np.arange(400) * 1e9 + 1.7e18, np.arange(400) * 2e9 + 1.7e18])
    assert np.isfinite(rows_of(data).q).all()


def test_ridge_with_constant_columns_against_sklearn():
    data = reference.random_data(1)
    data.x = np.column_stack([data.x, np.zeros(60), np.full(60, 0.1)])
    near(rows_of(data).q, reference.ridge(data, 1e-3))


def test_ridge_with_fewer_rows_than_columns_against_sklearn():
    data = reference.random_data(2, rows=30, columns=20)
    near(rows_of(data).q, reference.ridge(data, 1e-3))


def test_ridge_without_context_is_the_mean_reward_of_each_action():
    data = reference.random_data(3)
    log = cf.Log(action=data.a, reward=data.r, logging_probs=data.logging)
    expected = np.mean(data.target @ [data.r[data.a == action].mean() for action in range(4)])
    near(estimate_as_paper(log, data.target, cf.DM()).value, expected)


def test_ridge_on_constant_and_missing_actions():
    data = reference.random_data(4, actions=3)
    data.a = np.where(data.a == 2, 1, data.a)
    data.r = np.where(data.a == 1, 0.3, data.r)
    near(rows_of(data).q[:, 1:], np.tile([0.3, 0.0], (60, 1)))


# shared sums


@pytest.mark.parametrize(
    "model", [cf.RidgePerAction(), cf.SharedRidge(), cf.CrossFitted(folds=3), cf.PerAction(Ridge())], ids=str
)
def test_first_rows_are_predicted_as_if_there_were_no_others(model):
    rows = rows_of(reference.random_data(5, rows=80, binary=True), model)
    order, ends = np.random.default_rng(0).permutation(80), [1, 2, 15, 40, 40, 41, 70, 79, 80]
    factors = np.random.default_rng(1).normal(size=(2, *rows.target_probs.shape))
    sums = rows.add_up_first(order, ends, factors)
    for place, (end, q) in enumerate(zip(ends, rows.predict_first(order, ends), strict=True)):
        near(q, rows.take(order[:end]).q)
        near(sums[:, place], (factors[:, order[:end]] * q).sum(axis=(1, 2)))


@pytest.mark.parametrize("scale", [1.0, 1e5], ids=["usual penalty", "weak penalty"])
def test_few_first_rows_that_count_differently_are_predicted_as_if_there_were_no_others(scale):
    data = reference.random_data(6, rows=80, columns=12)
    data.x = data.x * scale
    rows = rows_of(data)
    counts = np.random.default_rng(2).integers(1, 4, size=80).astype(float)
    rows = replace(rows, counts=counts, examples=replace(rows.examples, counts=counts))
    order, ends = np.random.default_rng(0).permutation(80), [20, 40, 80]
    several = list(rows.predict_first(order, ends))
    assert all(np.isfinite(q).all() for q in several)
    near(several[-1], rows.take(order).q)


def test_rows_count_as_the_effective_number_of_those_that_are_fitted():
    """Not of all rows, so that a penalty is as strong on a part as if there were no others."""
    rows = rows_of(reference.random_data(6, rows=80), cf.RidgePerAction(alpha=10.0))
    counts = np.random.default_rng(2).integers(1, 9, size=80).astype(float)
    rows = replace(rows, counts=counts, examples=replace(rows.examples, counts=counts))
    order, ends = np.random.default_rng(0).permutation(80), [20, 40, 40, 80]
    for end, q in zip(ends, rows.predict_first(order, ends), strict=True):
        near(q, rows.take(order[:end]).q)


def test_an_action_of_few_rows_that_hardly_count_is_predicted_by_their_level():
    data = reference.random_data(6, rows=90)
    data.a[:] = np.arange(90) % 2
    data.a[:3], data.r[:3] = 2, [50.0, 51.0, 52.0]
    counts = np.where(np.arange(90) < 3, 1.0, 20.0)
    q = rows_of(data, cf.RidgePerAction(alpha=100.0), kept=1 / counts).q
    np.testing.assert_allclose(q[:, 2], 51.0, atol=0.5)


def test_without_a_model_nothing_can_be_fitted_anew():
    rows = replace(rows_of(reference.random_data(7)), model=None)
    with pytest.raises(AttributeError, match="no reward model"):
        _ = rows.refits


def test_folds_are_predicted_as_if_they_had_never_been_logged():
    rows = rows_of(reference.random_data(8, rows=80, binary=True))
    fold = np.random.default_rng(0).integers(4, size=80)
    model, examples = cf.RidgePerAction(), rows.examples
    for number, predict in enumerate(model.fit_outside(examples, fold, 4)):
        near(predict(examples), model.fit(examples.take(np.flatnonzero(fold != number)))(examples))
    assert not model.fit_outside(examples, np.zeros(80, dtype=int), 2)[0](examples).any()
