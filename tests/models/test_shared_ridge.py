"""Ridge regressions drawn towards a common one: against naive loops, and how its penalties are chosen."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

import counterfold as cf
import reference
from counterfold.models._moments import Scaling
from counterfold.models._streamed import ModelStream
from problems import near, rows_of


@pytest.mark.parametrize("aim", [0.7, 0.0])
@pytest.mark.parametrize("penalties", [(0.5, 1.0), (10.0, 30.0), (10000.0, 1.0), None], ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_shared_ridge_against_naive_loops(seed, penalties, aim):
    data = reference.random_data(seed, binary=seed == 1)
    model = cf.SharedRidge(*(penalties or (None, None)), aim=aim)
    near(rows_of(data, model).q, reference.shared_ridge(data, penalties, aim=aim))
    near(rows_of(data, cf.CrossFitted(model)).q, reference.shared_ridge(data, penalties, 5, aim=aim))
    near(rows_of(data, cf.CrossFitted(model, 3)).q, reference.shared_ridge(data, penalties, 3, aim=aim))


@pytest.mark.parametrize("penalties", [(10.0, 1.0), None], ids=str)
def test_shared_ridge_keeps_groups_together_against_naive_loops(penalties):
    data = reference.random_data(5)
    group = np.arange(60) // 3
    expected = reference.shared_ridge(data, penalties, 5, group.tolist())
    model = cf.CrossFitted(cf.SharedRidge(*(penalties or (None, None))))
    near(rows_of(data, model, group=group).q, expected)


def test_shared_ridge_on_badly_scaled_and_constant_columns_against_naive_loops():
    data = reference.random_data(6)
    data.x = np.column_stack([data.x * [1.0, 1e4, 1e-4] + [0.0, 1e6, 0.0], np.zeros(60), np.full(60, 0.25)])
    q, expected = rows_of(data, cf.SharedRidge()).q, reference.shared_ridge(data, None)
    np.testing.assert_allclose(q, expected, rtol=1e-8, atol=1e-8)


def test_shared_ridge_is_chosen_by_how_it_predicts():
    """Actions that do not differ are drawn together, those that do are not."""
    data = reference.random_data(7, rows=400)
    examples = rows_of(data).examples
    found = cf.SharedRidge().tune(examples)
    assert (found.alpha, found.common) == reference.shared_penalties(data, range(400))
    data.r = data.x[:, 0] + np.random.default_rng(0).normal(size=400)
    together = cf.SharedRidge().tune(rows_of(data).examples).alpha
    data.r = data.x[:, 0] * (data.a - 1.5) * 10 + np.random.default_rng(0).normal(size=400)
    apart = cf.SharedRidge().tune(rows_of(data).examples).alpha
    assert apart == 1.0
    assert together >= 100.0


@pytest.mark.parametrize("folds", [1, 2, 3, 5, 7])
def test_shared_ridge_is_tuned_on_the_same_folds_whether_rows_are_there_or_gone(folds):
    seen = []

    class Watched(cf.SharedRidge):
        def tune_on_folds(self, folds):
            seen.append(folds)
            return super().tune_on_folds(folds)

    examples = rows_of(reference.random_data(8, rows=200)).examples
    stream = ModelStream(Watched(), folds, Scaling.of(examples.context), 4)
    stream.solve(stream.sums(examples))
    Watched().tune(examples)
    near(*seen)


def test_shared_ridge_predicts_what_was_never_logged_as_all_actions_are():
    data = reference.random_data(8, actions=3)
    data.a = np.where(data.a == 2, 1, data.a)
    common = Ridge(alpha=1.0).fit(StandardScaler().fit_transform(data.x), data.r)
    near(rows_of(data, cf.SharedRidge(10.0, 1.0, 0.0)).q[:, 2], common.predict(StandardScaler().fit_transform(data.x)))


def test_shared_ridge_follows_a_shift_of_the_rewards():
    data = reference.random_data(9)
    before = rows_of(data, cf.SharedRidge()).q
    data.r = data.r + 1000.0
    np.testing.assert_allclose(rows_of(data, cf.SharedRidge()).q - 1000.0, before, atol=1e-9)


@pytest.mark.parametrize("level", [1e7, 1e9, -1e12])
def test_shared_ridge_has_the_same_penalties_where_rewards_vary_little_around_a_large_number(level):
    data = reference.random_data(9, rows=400)
    before = cf.SharedRidge().tune(rows_of(data).examples)
    data.r = data.r + level
    examples = rows_of(data).examples
    assert cf.SharedRidge().tune(examples) == before
    stream = ModelStream(cf.SharedRidge(), 1, Scaling.of(examples.context), 4)
    gone = stream.solve(stream.sums(examples)).predictions(examples)
    np.testing.assert_allclose(gone, before.predictions(examples), rtol=0, atol=1e-12 * abs(level))


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.inf, np.nan, "much"])
def test_shared_ridge_refuses_a_bad_penalty(alpha):
    with pytest.raises(cf.ParameterError, match=r"`alpha` must be .*, got "):
        cf.SharedRidge(alpha)
