"""Sums over parts of the rows: every estimator's, all parameters of a grid at once, and what is made of them."""

import numpy as np
import pytest

import counterfold as cf
import reference
from counterfold.base import registry
from counterfold.base.threads import Pool
from counterfold.estimators._caps import caps_below, excess_sums
from counterfold.estimators.sums import Layout, Sums, sum_buckets, sum_by_bucket, values
from counterfold.evaluation.noise import include_choosing
from counterfold.log.partition import ByNumber, Consecutive
from counterfold.selectors.base import Mixture
from problems import dose_rows, rows_of

NAMES = registry.names("estimators")


@pytest.fixture(params=NAMES)
def family(request):
    kind = registry.find("estimators", request.param)
    rows = rows_of(reference.random_data(3, rows=97))
    if "labels" not in kind.kinds:
        rows = dose_rows(reference.random_doses(3, rows=97))
    return rows, [kind(), *kind.candidates(rows)]


def naive(estimator, rows, part):
    """Return the sums of the terms, one row at a time."""
    terms = estimator.terms(rows)
    found = np.zeros((len(terms), part.max() + 1))
    for row, place in enumerate(part.tolist()):
        found[:, place] += terms[:, row]
    return found


def test_sums_over_parts_are_those_of_the_terms(family):
    rows, estimators = family
    part = np.sort(np.arange(97) % 5)
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    for parts in (Consecutive(starts, 97), ByNumber(part, 5)):
        found = type(estimators[0]).sums(estimators, rows, parts)
        for one, mine in zip(estimators, found, strict=True):
            np.testing.assert_allclose(mine, naive(one, rows, part), rtol=1e-10, atol=1e-10)


def test_the_value_follows_from_means_of_terms_and_so_do_contributions(family):
    rows, estimators = family
    for one in estimators:
        terms = one.terms(rows)
        assert one.combine_means(terms.mean(axis=1, keepdims=True))[0] == pytest.approx(
            one.value(rows), rel=1e-10, abs=1e-12
        )
        constant, factors = one.linearise(terms.mean(axis=1))
        np.testing.assert_allclose(constant + factors @ terms, one.contributions(rows), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(values(estimators, rows), [one.value(rows) for one in estimators], rtol=1e-9, atol=1e-11)


def test_terms_of_a_row_depend_on_nothing_else_unless_said_otherwise(family):
    rows, estimators = family
    if not estimators[0].rowwise:
        assert type(estimators[0]) in {cf.GroupIPS, cf.LearnedMIPS}
        return
    some = np.random.default_rng(0).permutation(97)[:20]
    alone = rows.take(some, lambda: rows.q[some])
    for one in estimators:
        np.testing.assert_allclose(one.terms(alone), one.terms(rows)[:, some], rtol=1e-12, atol=1e-12)


def test_scattered_parts_may_be_empty_and_rows_in_any_order():
    parts = ByNumber(np.array([2, 0, 2]), 4)
    np.testing.assert_array_equal(parts.sizes, [1, 0, 2, 0])
    np.testing.assert_array_equal(parts.sums(np.array([[1.0, 2.0, 4.0]])), [[2, 0, 5, 0]])


@pytest.mark.parametrize("number", [3, 40])
def test_rows_may_come_in_any_order_and_any_pieces(number):
    rows = rows_of(reference.random_data(5, rows=300))
    estimators = [cf.SNIPS(), cf.DR(), *cf.CAB.candidates(rows), *cf.IPSLambda.candidates(rows)][:number]
    bucket = np.random.default_rng(0).integers(7, size=300)
    whole = sum_by_bucket(rows, estimators, bucket, 7)
    order = np.random.default_rng(1).permutation(300)
    mixed = sum_by_bucket(rows.take(order, lambda: rows.q[order]), estimators, bucket[order], 7)
    np.testing.assert_allclose(mixed.terms, whole.terms, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(mixed.sizes, np.bincount(bucket, minlength=7))
    two = [
        sum_by_bucket(rows.take(part, lambda part=part: rows.q[part]), estimators, bucket[part], 7)
        for part in (slice(0, 120), slice(120, 300))
    ]
    np.testing.assert_allclose((two[0] + two[1]).terms, whole.terms, rtol=1e-10, atol=1e-12)


def test_a_bucket_may_lie_across_several_looks_at_the_rows(monkeypatch):
    rows = rows_of(reference.random_data(5, rows=300))
    estimators = [cf.SNIPS(), *cf.CAB.candidates(rows)]
    bucket = np.random.default_rng(0).integers(7, size=300)
    whole = sum_by_bucket(rows, estimators, bucket, 7)
    monkeypatch.setattr("counterfold.estimators.sums.ROWS_IN_CACHE", 20)
    np.testing.assert_allclose(sum_by_bucket(rows, estimators, bucket, 7).terms, whole.terms, rtol=1e-10, atol=1e-12)


def test_units_without_rows_are_left_out():
    rows = rows_of(reference.random_data(5, rows=50))
    sums = sum_by_bucket(rows, [cf.IPS()], np.arange(50) % 3 * 2, 8).without_empty
    assert len(sums) == 3
    assert sums.estimate("IPS", cf.IPS()).value == pytest.approx(cf.IPS().value(rows))


def test_an_estimate_from_units_has_the_error_of_groups():
    data = reference.random_data(8, rows=200)
    group = np.arange(200) % 23
    rows = rows_of(data, group=group)
    sums = sum_buckets(rows, [cf.SNIPS(), cf.DR()], Pool(1))
    for one in (cf.SNIPS(), cf.DR()):
        exact = cf.Estimate("exact", one.contributions(rows), rows.groups)
        found = sums.estimate("found", one)
        assert (found.value, found.stderr) == pytest.approx((exact.value, exact.stderr), rel=1e-10)
    gap = sums.estimate("a", cf.DR()) - sums.estimate("b", cf.SNIPS())
    exact = cf.Estimate("gap", cf.DR().contributions(rows) - cf.SNIPS().contributions(rows), rows.groups)
    assert (gap.value, gap.stderr) == pytest.approx((exact.value, exact.stderr), rel=1e-9)


def test_errors_are_those_of_estimates():
    rows = rows_of(reference.random_data(6, rows=97), group=np.arange(97) // 4)
    estimators = [cf.IPS(), cf.SNIPS(), cf.DM(), Mixture((cf.SNIPS(), cf.SNDR()), (0.3, 0.7)), cf.SNDR()]
    sums = sum_buckets(rows, [one for one in estimators if not isinstance(one, Mixture)], Pool(1))
    expected = [sums.estimate(one.name, one).stderr for one in estimators]
    np.testing.assert_allclose(sums.errors(estimators), expected, rtol=1e-12)


def test_the_sum_of_a_mixture_is_that_of_its_parts():
    rows = rows_of(reference.random_data(9, rows=80))
    parts = cf.IPS(), cf.DM(), cf.SNIPS()
    sums = sum_buckets(rows, parts, Pool(1))
    found = sums.estimate("mixture", Mixture(parts, (0.25, 0.75, 0.0)))
    assert found.value == pytest.approx(0.25 * cf.IPS().value(rows) + 0.75 * cf.DM().value(rows))


def test_many_rows_fall_into_buckets_at_random():
    rows = rows_of(reference.random_data(5, rows=5000))
    sums = sum_buckets(rows, [cf.IPS()], Pool(2))
    assert len(sums) > 1000
    assert sums.sizes.sum() == 5000
    assert sums.estimate("IPS", cf.IPS()).value == pytest.approx(cf.IPS().value(rows))


# all caps at once

CAPS = {
    "a grid": np.geomspace(0.1, 10, 30),
    "one": np.array([1.0]),
    "no order, repeated": np.array([2.0, 0.5, 2.0, 1.0]),
    "nothing and everything": np.array([0.0, np.inf]),
    "with both ends": np.array([np.inf, 0.3, 0.0, 4.0]),
    "all within a cell": 1 + np.arange(6) * 1e-7,
    "far apart": np.array([1e-12, 1e12]),
}


@pytest.mark.parametrize("caps", CAPS.values(), ids=CAPS)
def test_the_excess_over_all_caps_against_one_at_a_time(caps):
    rng = np.random.default_rng(0)
    target, logging = rng.dirichlet(np.full(4, 0.3), size=60), rng.dirichlet(np.full(4, 0.3), size=60)
    target[:5], logging[2:9, 1] = np.eye(4)[np.arange(5) % 4], 0.0
    q = rng.normal(size=(60, 4))
    part = np.sort(rng.integers(3, size=60))
    found = excess_sums(target, logging, q, caps, ByNumber(part, 3))
    for cap, line in zip(caps, found, strict=True):
        expected = np.zeros(3)
        for row in range(60):
            for action in range(4):
                bound = cap * logging[row, action] if logging[row, action] else 0.0
                if cap < np.inf:  # without a cap nothing exceeds it, not even where the logging policy never goes
                    expected[part[row]] += max(target[row, action] - bound, 0.0) * q[row, action]
        np.testing.assert_allclose(line, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("caps", CAPS.values(), ids=CAPS)
def test_caps_below_a_weight_against_counting(caps):
    caps = np.sort(caps)
    rng = np.random.default_rng(1)
    weights = np.concatenate([rng.lognormal(sigma=3, size=500), [0.0, np.inf], caps, caps * (1 + 1e-15)])
    expected = [sum(cap < weight for cap in caps) for weight in weights]
    known = caps[(caps > 0) & (caps < np.inf)]
    if len(known) == 0:  # then a weight of 0 lies above no cap, whatever else is said of it
        expected = [int(weight > 0) for weight in weights]
    elif caps[0] == 0:  # 0 counts as a weight below all others, which has nothing to give
        expected = [max(number, 1) for number in expected]
    np.testing.assert_array_equal(caps_below(weights[:, None], caps)[:, 0], expected)


# selectors


def data_of_buckets(seed, rows=400):
    data = reference.random_data(seed, rows=rows)
    return data, rows_of(data, group=np.arange(rows) % 40)


CANDIDATES = [cf.IPS(), cf.SNIPS(), cf.DM(), cf.DR(), cf.SNDR(), cf.TruncatedIPS(2.0), cf.CAB(1.5)]


@pytest.mark.parametrize("validator", [cf.DR(), cf.IPS(), cf.SNIPS()])
def test_ocv_without_refits_against_a_naive_loop(validator):
    _, rows = data_of_buckets(1)
    ocv = cf.OCV(validator, splits=12, refit=False)
    losses = ocv.losses(rows, CANDIDATES, np.random.default_rng(5), Pool(2))
    ranks = np.random.default_rng(5).permuted(np.tile(np.arange(40), (12, 1)), axis=1)
    errors = {
        one: cf.Estimate("", one.contributions(rows), rows.groups).stderr ** 2 for one in {*CANDIDATES, validator}
    }
    for place, candidate in enumerate(CANDIDATES):
        odds = errors[candidate] / errors[validator]
        odds = np.exp(0.5 * np.round(np.log(odds) / 0.5))
        cut = int(np.clip(np.ceil(odds / (1 + odds) * 40 - 0.5), 1, 39))
        for split, rank in enumerate(ranks):
            inside = (rank < cut)[rows.groups]
            mine, rest = (np.flatnonzero(side) for side in (inside, ~inside))
            guess = candidate.value(rows.take(mine, lambda mine=mine: rows.q[mine]))
            truth = validator.value(rows.take(rest, lambda rest=rest: rows.q[rest]))
            assert losses[place, split] == pytest.approx((guess - truth) ** 2, rel=1e-8, abs=1e-14)


def test_folds_of_units_against_a_naive_loop():
    _, rows = data_of_buckets(2)
    sums = sum_buckets(rows, CANDIDATES, Pool(1))
    scores = cf.KFoldCV(cf.DR(), folds=7).score_sums(sums, CANDIDATES, np.random.default_rng(3))
    fold = np.random.default_rng(3).permutation(np.arange(40) * 7 // 40)[rows.groups]
    for candidate, score in zip(CANDIDATES, scores, strict=True):
        losses = []
        for number in range(7):
            mine, rest = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            guess = candidate.value(rows.take(mine, lambda mine=mine: rows.q[mine]))
            losses.append((guess - cf.DR().value(rows.take(rest, lambda rest=rest: rows.q[rest]))) ** 2)
        assert score == pytest.approx(np.mean(losses), rel=1e-8)
    with pytest.raises(cf.ParameterError, match=r"`folds` must be at most the number of rows or groups \(40\), got 41"):
        cf.KFoldCV(folds=41).score_sums(sums, CANDIDATES, np.random.default_rng(3))


def test_slope_needs_nothing_but_values_and_errors():
    _, rows = data_of_buckets(3)
    sums = sum_buckets(rows, CANDIDATES, Pool(1))
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(
        cf.SLOPE().score_sums(sums, CANDIDATES, rng), cf.SLOPE().scores(rows, CANDIDATES, rng, Pool(1))
    )


@pytest.mark.parametrize("centre", ["validator", "own"])
def test_opera_on_units_against_a_naive_loop(centre):
    _, rows = data_of_buckets(4)
    opera = cf.OPERA(None if centre == "own" else cf.DR(), replicates=9, centre=centre)
    sums = sum_buckets(rows, CANDIDATES, Pool(1))
    selection = opera.select_from_sums(sums, CANDIDATES, np.random.default_rng(2))
    drawn = np.random.default_rng(2).multinomial(40, np.full(40, 1 / 40), size=9)
    for place, candidate in enumerate(CANDIDATES):
        middle = (candidate if centre == "own" else cf.DR()).value(rows)
        errors = []
        for counts in drawn:
            sample = np.repeat(np.arange(400), counts[rows.groups])
            errors.append(candidate.value(rows.take(sample, lambda sample=sample: rows.q[sample])) - middle)
        assert selection.scores[place] == pytest.approx(np.mean(np.square(errors)), rel=1e-8)
    assert selection.shares.sum() == pytest.approx(1)


def test_other_selectors_say_that_they_need_rows():
    needing = {name for name in registry.names("selectors") if "all_rows" in registry.find("selectors", name).needs}
    assert needing == {"pasif", "pseudo-target", "theory"}
    with pytest.raises(NotImplementedError, match="Theory needs rows"):
        cf.Theory().score_sums(None, [], None)


def test_refit_must_be_true_or_false():
    with pytest.raises(cf.ParameterError, match="`refit` must be True or False, got 1"):
        cf.OCV(refit=1)


def test_estimators_are_looked_up_once_whoever_asks(monkeypatch):
    rows, found = rows_of(reference.random_data(5, rows=60)), []
    layout = Sums.of(rows, [cf.IPS(), cf.SNIPS(), cf.DM()], Consecutive.all(60)).layout
    first = layout.pick([cf.SNIPS(), cf.DM()])
    for number in range(9):
        assert layout.pick([cf.IPS()] * number).first.tolist() == [0] * number
    assert layout.pick((cf.SNIPS(), cf.DM())) is first
    find = Layout.find
    monkeypatch.setattr(Layout, "find", lambda *asked: found.append(asked) or find(*asked))
    sums, candidates = sum_buckets(rows, [cf.IPS(), cf.DM()], Pool()), [cf.IPS(), cf.DM()]
    answer, selector = sums.estimate("IPS", cf.IPS()), cf.OCV(validator=cf.IPS(), refit=False)
    include_choosing(answer, selector, sums, candidates, np.random.default_rng(0))
    assert len(found) == 2  # the candidates and the validator, in 40 choices


def test_sums_show_no_thousands_of_numbers():
    rows = rows_of(reference.random_data(5, rows=50))
    assert len(repr(Sums.of(rows, [cf.IPS()], Consecutive.all(50)))) < 200
    assert (cf.IPS.has_grid(), cf.TruncatedIPS.has_grid()) == (False, True)


@pytest.mark.parametrize("units", [5, 19, 20, 21, 64])
def test_larger_units_have_the_same_sums(units):
    rows = rows_of(reference.random_data(11, rows=64))
    sums = Sums.of(rows, [cf.IPS(), cf.SNIPS()], ByNumber(np.arange(64) % units, units))
    fewer = sums.coarsen(10)
    assert len(fewer) == (10 if units >= 20 else units)
    np.testing.assert_allclose(fewer.overall([cf.IPS(), cf.SNIPS()]), sums.overall([cf.IPS(), cf.SNIPS()]))
    for one, other in ((sums.sizes, fewer.sizes), (sums.weights, fewer.weights), (sums.terms.T, fewer.terms.T)):
        expected = [np.sum(one[place::10], axis=0) for place in range(10)] if units >= 20 else one
        np.testing.assert_allclose(other, expected)
