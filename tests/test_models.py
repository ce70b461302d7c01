"""Reward models: ridge against scikit-learn's, shared sums against plain refits, and what users may pass as a model."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import counterfold as cf
import reference
from counterfold import registry
from counterfold.models import as_model
from counterfold.models._moments import Scaling
from counterfold.models._streamed import ModelStream
from counterfold.models.base import TrainedModel
from problems import dose_rows, estimate_as_paper, log_of, rows_of

NAMES = registry.names("models")


def close(left, right):
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)


@pytest.fixture(params=NAMES)
def kind(request):
    return registry.find("models", request.param)


# ridge per action


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("binary", [False, True])
def test_ridge_against_sklearn(alpha, binary):
    for seed in range(10):
        data = reference.random_data(seed, binary=binary)
        close(rows_of(data, cf.RidgePerAction(alpha)).q, reference.ridge(data, alpha))


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
    close(rows_of(data).q, reference.ridge(data, 1e-3))


def test_ridge_on_a_large_column_twice_is_that_column_once():
    data = reference.random_data(4, rows=400)
    large = data.x[:, :1] * 1e20
    data.x = large
    once = rows_of(data).q
    data.x = np.hstack([large, large])
    close(rows_of(data).q, once)


def test_ridge_survives_columns_that_repeat_each_other():
    data = reference.random_data(4, rows=400)
    data.x = np.column_stack([data.x, np.arange(400) * 1e9 + 1.7e18, np.arange(400) * 2e9 + 1.7e18])
    assert np.isfinite(rows_of(data).q).all()


def test_ridge_with_constant_columns_against_sklearn():
    data = reference.random_data(1)
    data.x = np.column_stack([data.x, np.zeros(60), np.full(60, 0.1)])
    close(rows_of(data).q, reference.ridge(data, 1e-3))


def test_ridge_with_fewer_rows_than_columns_against_sklearn():
    data = reference.random_data(2, rows=30, columns=20)
    close(rows_of(data).q, reference.ridge(data, 1e-3))


def test_ridge_without_context_is_the_mean_reward_of_each_action():
    data = reference.random_data(3)
    log = cf.Log(action=data.a, reward=data.r, logging_probs=data.logging)
    expected = np.mean(data.target @ [data.r[data.a == action].mean() for action in range(4)])
    close(estimate_as_paper(log, data.target, cf.DM()).value, expected)


def test_ridge_on_constant_and_missing_actions():
    data = reference.random_data(4, actions=3)
    data.a = np.where(data.a == 2, 1, data.a)
    data.r = np.where(data.a == 1, 0.3, data.r)
    close(rows_of(data).q[:, 1:], np.tile([0.3, 0.0], (60, 1)))


# shared ridge


@pytest.mark.parametrize("aim", [0.7, 0.0])
@pytest.mark.parametrize("penalties", [(0.5, 1.0), (10.0, 30.0), (10000.0, 1.0), None], ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_shared_ridge_against_naive_loops(seed, penalties, aim):
    data = reference.random_data(seed, binary=seed == 1)
    model = cf.SharedRidge(*(penalties or (None, None)), aim=aim)
    close(rows_of(data, model).q, reference.shared_ridge(data, penalties, aim=aim))
    close(rows_of(data, cf.CrossFitted(model)).q, reference.shared_ridge(data, penalties, 5, aim=aim))
    close(rows_of(data, cf.CrossFitted(model, 3)).q, reference.shared_ridge(data, penalties, 3, aim=aim))


@pytest.mark.parametrize("penalties", [(10.0, 1.0), None], ids=str)
def test_shared_ridge_keeps_groups_together_against_naive_loops(penalties):
    data = reference.random_data(5)
    group = np.arange(60) // 3
    expected = reference.shared_ridge(data, penalties, 5, group.tolist())
    model = cf.CrossFitted(cf.SharedRidge(*(penalties or (None, None))))
    close(rows_of(data, model, group=group).q, expected)


def test_shared_ridge_on_badly_scaled_and_constant_columns_against_naive_loops():
    data = reference.random_data(6)
    data.x = np.column_stack([data.x * [1.0, 1e4, 1e-4] + [0.0, 1e6, 0.0], np.zeros(60), np.full(60, 0.25)])
    q, expected = rows_of(data, cf.SharedRidge()).q, reference.shared_ridge(data, None)
    np.testing.assert_allclose(q, expected, rtol=1e-8, atol=1e-8)


def test_shared_ridge_is_chosen_by_how_it_predicts():
    """Actions that do not differ are drawn together, those that do are not."""
    data = reference.random_data(7, rows=400)
    examples = rows_of(data).examples
    found = cf.SharedRidge().tuned(examples)
    assert (found.alpha, found.common) == reference.shared_penalties(data, range(400))
    data.r = data.x[:, 0] + np.random.default_rng(0).normal(size=400)
    together = cf.SharedRidge().tuned(rows_of(data).examples).alpha
    data.r = data.x[:, 0] * (data.a - 1.5) * 10 + np.random.default_rng(0).normal(size=400)
    apart = cf.SharedRidge().tuned(rows_of(data).examples).alpha
    assert apart == 1.0
    assert together >= 100.0


@pytest.mark.parametrize("folds", [1, 2, 3, 5, 7])
def test_shared_ridge_is_tuned_on_the_same_folds_whether_rows_are_there_or_gone(folds):
    seen = []

    class Watched(cf.SharedRidge):
        def tuned_on(self, folds):
            seen.append(folds)
            return super().tuned_on(folds)

    examples = rows_of(reference.random_data(8, rows=200)).examples
    stream = ModelStream(Watched(), folds, Scaling.of(examples.context), 4)
    stream.fitted(stream.sums(examples))
    Watched().tuned(examples)
    close(*seen)


def test_shared_ridge_predicts_what_was_never_logged_as_all_actions_are():
    data = reference.random_data(8, actions=3)
    data.a = np.where(data.a == 2, 1, data.a)
    common = Ridge(alpha=1.0).fit(StandardScaler().fit_transform(data.x), data.r)
    close(rows_of(data, cf.SharedRidge(10.0, 1.0, 0.0)).q[:, 2], common.predict(StandardScaler().fit_transform(data.x)))


def test_shared_ridge_follows_a_shift_of_the_rewards():
    data = reference.random_data(9)
    before = rows_of(data, cf.SharedRidge()).q
    data.r = data.r + 1000.0
    np.testing.assert_allclose(rows_of(data, cf.SharedRidge()).q - 1000.0, before, atol=1e-9)


@pytest.mark.parametrize("level", [1e7, 1e9, -1e12])
def test_shared_ridge_has_the_same_penalties_where_rewards_vary_little_around_a_large_number(level):
    data = reference.random_data(9, rows=400)
    before = cf.SharedRidge().tuned(rows_of(data).examples)
    data.r = data.r + level
    examples = rows_of(data).examples
    assert cf.SharedRidge().tuned(examples) == before
    stream = ModelStream(cf.SharedRidge(), 1, Scaling.of(examples.context), 4)
    gone = stream.fitted(stream.sums(examples)).predictions(examples)
    np.testing.assert_allclose(gone, before.predictions(examples), rtol=0, atol=1e-12 * abs(level))


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.inf, np.nan, "much"])
def test_shared_ridge_refuses_a_bad_penalty(alpha):
    with pytest.raises(cf.ParameterError, match=r"`alpha` must be .*, got "):
        cf.SharedRidge(alpha)


# shared sums


@pytest.mark.parametrize(
    "model", [cf.RidgePerAction(), cf.SharedRidge(), cf.CrossFitted(folds=3), cf.PerAction(Ridge())], ids=str
)
def test_halves_are_what_refitting_each_half_gives(model):
    rows = rows_of(reference.random_data(5, rows=80, binary=True), model)
    cuts = [1, 2, 15, 40, 41, 70, 79]
    for cut, (before, after) in zip(cuts, rows.halves(cuts), strict=True):
        close(before.q, rows.take(np.arange(cut)).q)
        close(after.q, rows.take(np.arange(cut, 80)).q)


def test_halves_may_be_used_one_sided_and_in_any_order():
    rows = rows_of(reference.random_data(6, rows=80))
    cuts = [10, 30, 60]
    pairs = rows.halves(cuts)
    close(next(pairs)[1].q, rows.take(slice(10, None)).q)
    before, after = next(pairs)
    close(after.q, rows.take(slice(30, None)).q)
    close(before.q, rows.take(slice(30)).q)
    close(next(pairs)[0].q, rows.take(slice(60)).q)


# every model


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
    close(q[:, 0], 3 * model.predict_proba(data.x)[:, 1] - 1)


def test_action_encoded_shares_the_slope_and_nothing_else():
    data = reference.random_data(12, rows=300)
    data.r = data.x[:, 0] + np.array([0.0, 5.0, -3.0, 1.0])[data.a]
    q = rows_of(data, cf.ActionEncoded(LinearRegression())).q
    close(q, data.x[:, :1] + [0.0, 5.0, -3.0, 1.0])


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
    data.x[:] = 0.0
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


# what a user may pass


def test_predictions_are_taken_and_follow_the_rows():
    data = reference.random_data(15)
    q = reference.ridge(data, 1.0)
    rows = rows_of(data, q)
    close(rows.take(np.array([5, 3])).q, q[[5, 3]])
    assert not isinstance(rows.model, TrainedModel)


def test_sklearn_estimators_are_taken_per_action():
    data = reference.random_data(16)
    close(rows_of(data, Ridge(alpha=2.0)).q, reference.ridge(data, 2.0))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("ridge", "unknown model `ridge`. Known: action-encoded, "),
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
        cf.ModelError, match=r"^the reward model KNeighborsRegressor\(\) could not be used on 10 rows: .*\.$"
    ):
        _ = rows.q


def test_a_model_that_cannot_be_fitted_says_so():
    rows = rows_of(reference.random_data(18), cf.PerAction(LogisticRegression()))
    with pytest.raises(cf.ModelError, match=r"the reward model LogisticRegression\(\) could not be fitted on \d+ rows"):
        _ = rows.q


@pytest.mark.parametrize(
    "make", [lambda: cf.RidgePerAction(0.0), lambda: cf.CrossFitted(folds=1)], ids=["alpha", "folds"]
)
def test_bad_parameters_are_refused(make):
    with pytest.raises(cf.ParameterError, match=r"`(alpha|folds)` must be .*, got "):
        make()
