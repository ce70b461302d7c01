"""Ridge regressions drawn towards a common one: against naive loops, and how its penalties are chosen."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import counterfold as cf
import reference
from counterfold.models import ModelStream, solve_stream
from problems import near, rows_of


@pytest.mark.parametrize("aim", [0.5, 0.0])
@pytest.mark.parametrize("penalties", [(0.5, 1.0), (10.0, 30.0), (10000.0, 1.0), None], ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_shared_ridge_against_naive_loops(seed, penalties, aim):
    data = reference.random_data(seed, binary=seed == 1)
    model = cf.SharedRidge(*(penalties or (None, None)), aim=aim)
    units = rows_of(data).examples.units.tolist()
    near(rows_of(data, model).q, reference.shared_ridge(data, penalties, units=units, aim=aim))
    near(rows_of(data, cf.CrossFitted(model)).q, reference.shared_ridge(data, penalties, 5, units, aim=aim))
    near(rows_of(data, cf.CrossFitted(model, 3)).q, reference.shared_ridge(data, penalties, 3, units, aim=aim))


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
    rows = rows_of(data, cf.SharedRidge())
    q = rows.q
    expected = reference.shared_ridge(data, None, units=rows.examples.units.tolist())
    np.testing.assert_allclose(q, expected, rtol=1e-8, atol=1e-8)


def test_shared_ridge_is_chosen_by_how_it_predicts():
    """Actions that do not differ are drawn together, those that do are not."""
    data = reference.random_data(7, rows=400)
    examples = rows_of(data).examples
    found = cf.SharedRidge().tune(examples)
    assert (found.alpha, found.common) == reference.shared_penalties(data, examples.units.tolist(), range(400))
    data.r = data.x[:, 0] + np.random.default_rng(0).normal(size=400)
    together = cf.SharedRidge().tune(rows_of(data).examples).alpha
    data.r = data.x[:, 0] * (data.a - 1.5) * 10 + np.random.default_rng(0).normal(size=400)
    apart = cf.SharedRidge().tune(rows_of(data).examples).alpha
    assert apart == 1.0
    assert together >= 100.0


@pytest.mark.parametrize("folds", [2, 3, 5, 7])
def test_shared_ridge_is_tuned_on_the_same_folds_whether_rows_are_there_or_gone(folds):
    seen = []

    class Watched(cf.SharedRidge):
        def tune_on_folds(self, folds):
            seen.append(folds)
            return super().tune_on_folds(folds)

    examples = rows_of(reference.random_data(8, rows=200)).examples
    for cells in (0, 100):
        stream = ModelStream.of(Watched(), folds, examples, cells)
        stream.cross_fit(stream.sums(examples), folds)
    assert len(seen) == 2 * folds
    for there, gone in zip(seen[:folds], seen[folds:], strict=True):
        near(there, gone)


def test_shared_ridge_predicts_what_was_never_logged_as_all_actions_are():
    data = reference.random_data(8, actions=3)
    data.a = np.where(data.a == 2, 1, data.a)
    common = make_pipeline(StandardScaler(), Ridge(alpha=1.0)).fit(see(data, data.a), data.r)
    expected = common.predict(see(data, np.full(60, 2)))
    near(rows_of(data, cf.SharedRidge(10.0, 1.0, 0.0)).q[:, 2], expected.clip(data.r.min(), data.r.max()))


def see(data, actions):
    """Return what models see of an action in each row."""
    thought = [np.log(probs[np.arange(60), actions] + 0.1 / 3) for probs in (data.target, data.logging)]
    return np.column_stack([data.x, *thought])


def test_shared_ridge_sees_only_the_policies_that_are_known_of_all_actions():
    data = reference.random_data(8, rows=200)
    whole = rows_of(data).examples
    nothing = np.empty((200, 0))
    for known in ([], ["target_probs"], ["target_probs", "logging_probs"]):
        lacking = {name: nothing for name in ("target_probs", "logging_probs") if name not in known}
        examples = replace(whole, **lacking)
        assert cf.SharedRidge().widen(examples).context.shape[1] == 3 + len(known)
        assert cf.CrossFitted().predictions(examples).shape == (200, 4)


def test_shared_ridge_learns_from_the_policies_what_the_context_does_not_tell():
    """Rewards follow scores that only the policies' owners know; the context is noise."""
    rng = np.random.default_rng(0)
    data = reference.random_data(8, rows=4000)
    scores = rng.normal(size=(4000, 4))
    data.logging, data.target = (softmax(bold * scores, axis=1) for bold in (0.5, 2.0))
    data.a = (data.logging.cumsum(axis=1) > rng.random((4000, 1))).argmax(axis=1)
    data.r = scores[np.arange(4000), data.a] + rng.normal(size=4000)
    truth = (data.target * scores).sum(axis=1).mean()
    rows, nothing = rows_of(data, cf.CrossFitted()), np.empty((4000, 0))
    blind = replace(rows, examples=replace(rows.examples, target_probs=nothing, logging_probs=nothing))
    seeing, unseeing = ((data.target * one.q).sum(axis=1).mean() - truth for one in (rows, blind))
    assert abs(seeing) < 0.05
    assert abs(unseeing) > 0.15


def test_shared_ridge_predicts_nothing_that_was_never_earned():
    data = reference.random_data(8, rows=100, binary=True)
    data.x = data.x * 100
    for model in (cf.SharedRidge(1.0, 1.0), cf.CrossFitted(cf.SharedRidge(1.0, 1.0))):
        q = rows_of(data, model).q
        assert (q.min(), q.max()) == (0.0, 1.0)


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
    stream = ModelStream.of(cf.SharedRidge(), 1, examples, 100)
    gone = solve_stream(stream, stream.sums(examples)).predictions(examples)
    np.testing.assert_allclose(gone, before.predictions(examples), rtol=0, atol=1e-12 * abs(level))


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.inf, np.nan, "much"])
def test_shared_ridge_refuses_a_bad_penalty(alpha):
    with pytest.raises(cf.ParameterError, match=r"`alpha` must be .*, got "):
        cf.SharedRidge(alpha)
