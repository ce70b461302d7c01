"""Ridge regressions mixed with one for all actions: against scikit-learn, and when it is which."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression, Ridge

import counterfold as cf
import reference
from counterfold.base.hashing import assign_folds, sample_least
from counterfold.models._logistic import fit_logistic
from problems import near, rows_of

ALONE = cf.SharedRidge(10.0, 1.0)


def pooled(data, linear, rows, *, counts, penalty, share):
    """Return what a pooled regression, taught by some rows, makes of the predictions of a linear model (n x A)."""
    binary = len(set(data.r[rows])) == 2
    low, high = min(data.r[rows]), max(data.r[rows])

    def see(row, action):
        q = linear[row, action]
        chance = min(max((q - low) / (high - low), 0.02), 0.98)
        return [np.log(chance / (1 - chance)) if binary else q, *reference.see(data, row, action)]

    logged = np.array([see(row, data.a[row]) for row in rows])
    centre, scale = logged.mean(axis=0), logged.std(axis=0)
    for column in (0, *range(len(scale) - 2, len(scale))):  # what depends on the action
        each = [data.target[row] @ [(see(row, a)[column] - centre[column]) ** 2 for a in range(4)] for row in rows]
        scale[column] *= max(1.0, np.sqrt(np.average(each, weights=counts)) / scale[column]) ** 0.5
    model = LogisticRegression(C=4 / penalty, tol=1e-10, max_iter=1000) if binary else Ridge(penalty)
    model.fit((logged - centre) / scale, data.r[rows], counts * counts.sum() / (counts**2).sum())
    found = np.empty_like(linear)
    for row in range(len(linear)):
        for action in range(linear.shape[1]):
            score = (see(row, action) - centre) / scale @ np.ravel(model.coef_) + np.ravel(model.intercept_)[0]
            other = low + (high - low) * expit(score) if binary else min(max(score, low), high)
            found[row, action] = (1 - share) * linear[row, action] + share * other
    return found


def effective(weights):
    return weights.sum() ** 2 / (weights**2).sum()


def weights_of(data):
    return (data.target / data.logging)[np.arange(len(data.r)), data.a]


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("binary", [False, True])
def test_pooled_ridge_against_scikit_learn(binary, kept):
    data = reference.random_data(10, rows=200, binary=binary)
    data.r = 3 * data.r - 1
    counts = 1.0 + np.arange(200) % 3 if kept else np.ones(200)
    known = {"kept": 1 / counts} if kept else {}
    share = 50 / (50 + effective(weights_of(data) * counts))
    expected = pooled(data, rows_of(data, ALONE, **known).q, range(200), counts=counts, penalty=8.0, share=share)
    found = rows_of(data, cf.PooledRidge(ALONE, even=50.0), **known).q
    np.testing.assert_allclose(found, expected, atol=1e-4 if binary else 1e-9)


@pytest.mark.parametrize("binary", [False, True])
def test_folds_are_predicted_by_what_other_rows_teach(binary):
    data = reference.random_data(11, rows=150, binary=binary)
    rows = rows_of(data, cf.CrossFitted(cf.PooledRidge(ALONE), folds=3))
    models = rows.fitted.predictors
    fold = assign_folds(rows.examples.units, 3)
    for number, one in enumerate(models):
        outside = np.flatnonzero(fold != number)
        assert one.linear.effective == pytest.approx(effective(weights_of(data)[outside]))
        share = 100 / (100 + effective(weights_of(data)[outside]))
        linear = one.linear(rows.examples)
        ones = np.ones(len(outside))
        expected = pooled(data, linear, outside, counts=ones, penalty=8.0, share=share)[fold == number]
        np.testing.assert_allclose(rows.q[fold == number], expected, atol=1e-4 if binary else 1e-9)


def test_groups_draw_slopes_to_0_as_fewer_rows_do():
    data = reference.random_data(12, rows=120)
    linear = rows_of(data, ALONE, group=np.arange(120) // 4).q
    share = 100 / (100 + effective(weights_of(data)))
    expected = pooled(data, linear, range(120), counts=np.ones(120), penalty=32.0, share=share)
    near(rows_of(data, cf.PooledRidge(ALONE), group=np.arange(120) // 4).q, expected)


@pytest.mark.parametrize("model", [cf.PooledRidge(even=0.0), cf.CrossFitted(cf.PooledRidge(even=0.0))])
def test_without_a_share_it_is_shared_ridge(model):
    data = reference.random_data(13)
    alone = cf.CrossFitted(cf.SharedRidge()) if isinstance(model, cf.CrossFitted) else cf.SharedRidge()
    np.testing.assert_array_equal(rows_of(data, model).q, rows_of(data, alone).q)


def test_where_many_rows_tell_of_the_target_it_is_shared_ridge():
    data = reference.random_data(14, rows=12_000)
    data.target = data.logging
    np.testing.assert_array_equal(rows_of(data, cf.PooledRidge()).q, rows_of(data, cf.SharedRidge()).q)
    data.target = np.eye(4)[np.zeros(12_000, dtype=int)]
    assert (rows_of(data, cf.PooledRidge()).q != rows_of(data, cf.SharedRidge()).q).all()


def test_what_all_rows_earned_is_all_there_is_to_know():
    data = reference.random_data(15)
    data.r = np.full(60, 2.0)
    data.r[0] = 2.5
    examples = rows_of(data).examples.take(np.arange(1, 60))
    near(cf.PooledRidge().fit(examples)(examples), np.full((59, 4), 2.0))


def test_it_follows_a_shift_of_the_rewards():
    data = reference.random_data(16)
    before = rows_of(data, cf.PooledRidge()).q
    for level in (1000.0, 1e9, -1e12):
        data.r = reference.random_data(16).r + level
        np.testing.assert_allclose(rows_of(data, cf.PooledRidge()).q - level, before, atol=1e-9 + 1e-12 * abs(level))


@pytest.mark.parametrize("binary", [False, True])
def test_a_long_log_is_pooled_by_a_sample(binary, monkeypatch, tmp_path):
    """The same one in memory as where rows are read a few at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = reference.random_data(17, rows=900, binary=binary)
    columns = {f"x{place}": column for place, column in enumerate(data.x.T)}
    columns |= {"action": data.a, "reward": data.r, "logging_probs": data.logging.tolist()}
    pq.write_table(pa.table(columns | {"target": data.target.tolist()}), tmp_path / "log.parquet")
    whole = cf.evaluate(tmp_path / "log.parquet", "target", ["dm"], progress=False, engine="memory")
    monkeypatch.setattr(cf.PooledRidge, "sees_rows", 300)
    memory, local = (
        cf.evaluate(tmp_path / "log.parquet", "target", ["dm"], progress=False, engine=engine)
        for engine in ("memory", "local")
    )
    assert memory.value == pytest.approx(local.value, rel=1e-9)
    assert memory.value != pytest.approx(whole.value, rel=1e-6)


def test_no_row_has_a_say_in_its_own_prediction():
    data = reference.random_data(18, binary=True)
    before = rows_of(data, cf.CrossFitted(cf.PooledRidge())).q
    data.r[7] = 1 - data.r[7]
    near(rows_of(data, cf.CrossFitted(cf.PooledRidge())).q[7], before[7])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cf.PooledRidge(3), r"^`ridge` must be a `SharedRidge`, got 3\.$"),
        (lambda: cf.PooledRidge(even=-1.0), r"^`even` must be .*, got -1\.0\.$"),
        (lambda: cf.PooledRidge(even=np.nan), r"^`even` must be .*, got nan\.$"),
    ],
)
def test_what_is_no_setting_is_refused(make, message):
    with pytest.raises(cf.ParameterError, match=message):
        make()


# logistic regression


@pytest.mark.parametrize("penalty", [1e-3, 1.0, 100.0])
def test_logistic_regression_against_scikit_learn(penalty):
    rng = np.random.default_rng(0)
    columns, counts = rng.normal(size=(80, 3)), rng.random(80) + 0.1
    won = (rng.random(80) < expit(2 * columns[:, 0] - 1)).astype(float)
    model = LogisticRegression(C=1 / penalty, tol=1e-12, max_iter=10_000).fit(columns, won, counts)
    np.testing.assert_allclose(
        fit_logistic(columns, won, counts, penalty), [*model.intercept_, *model.coef_[0]], atol=1e-5
    )


@pytest.mark.parametrize("won", [[1, 0, 0, 0], [0, 0, 1, 1]], ids=["rare", "separable"])
def test_logistic_regression_has_no_slope_for_a_gradient(won):
    """No coefficient would be better if it moved: also where columns tell rewards exactly, or say nothing."""
    columns, won = np.array([[-9.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [900.0, 0.0]]), np.array(won, dtype=float)
    found = fit_logistic(columns, won, np.ones(4), 0.01)
    table = np.column_stack([np.ones(4), columns])
    gradient = table.T @ (expit(table @ found) - won) + 0.01 * found * [0, 1, 1]
    np.testing.assert_allclose(gradient, 0.0, atol=1e-8)


def test_a_third_reward_makes_it_linear_and_its_ends_are_those_of_all_rows(monkeypatch):
    """Also where the sample that teaches it has two values alone, which are not the ends of all rewards."""
    data = reference.random_data(19, rows=300, binary=True)
    monkeypatch.setattr(cf.PooledRidge, "sees_rows", 100)
    assert cf.PooledRidge().fit(rows_of(data).examples).link.is_logistic
    unseen = np.setdiff1d(np.arange(300), sample_least(np.arange(300), 100))
    data.r[unseen[0]] = 7.0
    link = cf.PooledRidge().fit(rows_of(data).examples).link
    assert (link.low, link.high, link.is_logistic) == (0.0, 7.0, False)
