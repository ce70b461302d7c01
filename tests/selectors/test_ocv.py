"""OCV and k folds: Algorithm 1 loss by loss, their options, and the degenerate cases that the docs decide."""

from functools import cache

import numpy as np
import pytest

import counterfold as cf
import reference
from counterfold.base import registry
from problems import rows_of

POOL = cf.Pool(threads=1)
CANDIDATES = [(name, parameters) for name, (_, parameters) in reference.OF_LABELS.items()]


def estimators():
    return [registry.find("estimators", name)(**parameters) for name, parameters in CANDIDATES]


def formulas():
    return list(reference.OF_LABELS.values())


def rng():
    return np.random.default_rng(42)


# against the naive algorithm


@cache
def losses_by_algorithm_1(validator):
    """Return a log, and the naive algorithm's losses on it, which no rule changes."""
    data, draw = reference.random_data(0, rows=90), rng()
    orders = [draw.permutation(90) for _ in range(6)]
    return data, reference.algorithm_1(data, formulas(), reference.FORMULAS[validator], orders, 1e-3)


@pytest.mark.parametrize("validator", ["ips", "dr", "snips", "dm", "switch-dr"])
@pytest.mark.parametrize("rule", ["standard_error", "standard_deviation", "mean"])
def test_ocv_against_naive_algorithm_1(validator, rule):
    data, expected = losses_by_algorithm_1(validator)
    trusted = registry.find("estimators", validator)(**reference.FORMULAS[validator][1])
    ocv = cf.OCV(validator=trusted, splits=6, rule=rule, ratio_step=0.0)
    rows = rows_of(data)
    np.testing.assert_allclose(ocv.losses(rows, estimators(), rng(), POOL), expected, rtol=1e-9, atol=1e-12)
    selection = ocv.select(rows, estimators(), rng(), POOL)
    np.testing.assert_allclose(selection.scores, reference.scores(expected, rule), rtol=1e-9)
    assert selection.chosen == int(np.argmin(reference.scores(expected, rule)))


def test_ocv_with_rounded_ratios_against_naive_loop():
    data = reference.random_data(0, rows=90)
    draw = rng()
    orders = [draw.permutation(90) for _ in range(6)]
    expected = reference.algorithm_1(data, formulas(), reference.FORMULAS["dr"], orders, 1e-3, step=0.5)
    losses = cf.OCV(splits=6, ratio_step=0.5).losses(rows_of(data), estimators(), rng(), POOL)
    np.testing.assert_allclose(losses, expected, rtol=1e-9, atol=1e-12)


def test_ocv_with_a_fixed_ratio_against_naive_loop():
    data = reference.random_data(1, rows=50)
    draw = rng()
    orders = [draw.permutation(50) for _ in range(5)]
    expected = [
        [
            (reference.value(data.take(order[:40]), *pair, 1e-3) - reference.value(data.take(order[40:]), *dr, 1e-3))
            ** 2
            for order in orders
        ]
        for dr in [reference.FORMULAS["dr"]]
        for pair in formulas()
    ]
    losses = cf.OCV(splits=5, split_ratio=0.8).losses(rows_of(data), estimators(), rng(), POOL)
    np.testing.assert_allclose(losses, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("folds", [2, 5, 7, 30])
def test_kfold_against_naive_loop(folds):
    data = reference.random_data(2, rows=30)
    order = rng().permutation(30)
    sizes = np.diff([int(30 * k / folds) for k in range(folds + 1)])
    expected, start = [], 0
    for size in sizes:
        held, kept = order[start : start + size], np.concatenate([order[:start], order[start + size :]])
        truth = reference.value(data.take(held), *reference.FORMULAS["dr"], 1e-3)
        expected.append([(reference.value(data.take(kept), *pair, 1e-3) - truth) ** 2 for pair in formulas()])
        start += size
    losses = cf.KFoldCV(folds=folds).losses(rows_of(data), estimators(), rng(), POOL)
    np.testing.assert_allclose(losses, np.transpose(expected), rtol=1e-9, atol=1e-12)


# the ratio


def test_ratio_follows_the_variances_and_rounding_keeps_close():
    data = reference.random_data(3, rows=300)
    rows = rows_of(data)
    exact = cf.OCV(validator=cf.IPS(), ratio_step=0.0).ratios(rows, estimators())
    noise = reference.variance(data, *reference.FORMULAS["ips"], 1e-3)
    mine = [reference.variance(data, *pair, 1e-3) for pair in formulas()]
    np.testing.assert_allclose(exact, [m / (m + noise) for m in mine], rtol=1e-9)
    rounded = cf.OCV(validator=cf.IPS()).ratios(rows, estimators())
    moved = np.log(rounded / (1 - rounded)) - np.log(exact / (1 - exact))
    assert np.abs(moved).max() <= 0.25 + 1e-12
    assert len(set(rounded)) < len(set(exact))


def test_ratio_counts_groups_as_one_observation():
    data = reference.random_data(3, rows=300)
    group = np.arange(300) // 10
    data.r = data.r + 5 * np.random.default_rng(0).normal(size=30)[group]
    rows = rows_of(data, group=group)
    noise, mine = (
        sum(np.sum((c - c.mean())[group == g]) ** 2 for g in range(30))
        for c in (np.array(reference.FORMULAS[name][0](data, None)) for name in ("ips", "snips"))
    )
    found = cf.OCV(validator=cf.IPS(), ratio_step=0.0).ratios(rows, [cf.SNIPS()])
    np.testing.assert_allclose(found, mine / (mine + noise), rtol=1e-9)


def test_half_of_an_odd_number_of_rows_is_rounded_down():
    rows = rows_of(reference.random_data(3)).take(np.arange(31))
    seen = cf.OCV(split_ratio=0.5, splits=2).losses(rows, [cf.IPS()], rng(), POOL)[0]
    order = rng().permutation(31)
    part, rest = (rows.take(index) for index in (order[:15], order[15:]))
    assert seen[0] == pytest.approx((cf.IPS().value(part) - cf.DR().value(rest)) ** 2)


def test_rounding_makes_similar_candidates_share_their_split():
    rows = rows_of(reference.random_data(4, rows=300))
    grid = cf.SwitchDR.candidates(rows)
    assert len(set(cf.OCV().ratios(rows, grid))) <= 5 < len(set(cf.OCV(ratio_step=0.0).ratios(rows, grid)))


# degenerate cases


def constant_rows(constant):
    data = reference.random_data(5)
    return rows_of(data, cf.Given(np.full_like(data.target, constant)))


def test_neither_varies_then_half_and_half():
    rows = constant_rows(0.5)
    assert cf.OCV(validator=cf.DM()).ratios(rows, [cf.DM(), cf.IPS()]).tolist() == [0.5, 1.0]


def test_a_candidate_without_variance_still_gets_a_row_and_so_does_its_validator():
    rows = constant_rows(0.5)
    losses = cf.OCV(validator=cf.IPS(), splits=20, ratio_step=0.0).losses(rows, [cf.DM()], rng(), POOL)
    draw = rng()
    held = [draw.permutation(60)[1:] for _ in range(20)]
    expected = [(0.5 - (rows.weights * rows.rewards)[index].mean()) ** 2 for index in held]
    np.testing.assert_allclose(losses[0], expected, rtol=1e-9)
    assert np.isfinite(cf.OCV(validator=cf.DM(), splits=3).losses(rows, [cf.IPS()], rng(), POOL)).all()


def test_an_action_missing_from_a_split_predicts_zero():
    data = reference.random_data(6)
    data.a[:] = np.where(data.a == 3, 0, data.a)
    data.a[11] = 3
    rows = rows_of(data)
    part = rows.take(np.delete(np.arange(60), 11))
    assert not part.q[:, 3].any()
    assert rows.q[:, 3].any()
    assert np.isfinite(cf.OCV().losses(rows, estimators(), rng(), POOL)).all()


def test_the_first_among_equals_is_chosen():
    data = reference.random_data(7)
    data.r = data.r + 5
    rows = rows_of(data)
    useless = cf.TruncatedIPS(0.0)
    selection = cf.OCV(splits=50).select(rows, [useless, cf.DR(), cf.SwitchDR(np.inf), cf.DR()], rng(), POOL)
    np.testing.assert_allclose(selection.scores[1:], selection.scores[1], rtol=1e-12)
    assert selection.scores[1] < selection.scores[0]
    assert selection.chosen == 1


def test_two_rows_are_enough():
    rows = rows_of(reference.random_data(8)).take(np.array([0, 1]))
    assert np.isfinite(cf.OCV(splits=3).losses(rows, estimators(), rng(), POOL)).all()
    assert np.isfinite(cf.KFoldCV(folds=2).losses(rows, estimators(), rng(), POOL)).all()


# groups


def test_splits_keep_groups_together(monkeypatch):
    data = reference.random_data(9, rows=100)
    group = rng().integers(9, size=100)
    rows = rows_of(data, group=group)
    seen = []
    predict_first = cf.Rows.predict_first

    def watched(self, order, ends):
        seen.extend((set(group[order[:end]]), set(group[order[end:]]), len(order)) for end in ends)
        return predict_first(self, order, ends)

    monkeypatch.setattr(cf.Rows, "predict_first", watched)
    cf.OCV(splits=5).losses(rows, estimators(), rng(), POOL)
    cf.KFoldCV(folds=9).losses(rows, estimators(), rng(), POOL)
    assert len(seen) > 10
    for before, after, rows_in_all in seen:
        assert before
        assert after
        assert not before & after
        assert rows_in_all == 100


def test_groups_of_one_row_are_no_groups():
    data = reference.random_data(10)
    alone = rows_of(data, group=np.arange(60))
    np.testing.assert_allclose(
        cf.OCV().losses(alone, estimators(), rng(), POOL),
        cf.OCV().losses(rows_of(data), estimators(), rng(), POOL),
        rtol=1e-9,
    )
