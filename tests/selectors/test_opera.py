"""OPERA mixes candidates: against naive loops, and on cases one can solve."""

import numpy as np
import pytest

import counterfold as cf
import reference
from counterfold.selectors.base import Mixture, resample_rows
from counterfold.selectors.opera import minimise_error
from problems import log_of, rows_of

POOL = cf.Pool(threads=1)


def rng():
    return np.random.default_rng(3)


# OPERA


@pytest.mark.parametrize("validator", [None, "dr"])
def test_opera_s_errors_against_naive_loop(validator):
    data = reference.random_data(0, rows=80)
    names = ["ips", "snips", "dm", "dr", "switch-dr"]
    pairs = [reference.FORMULAS[name] for name in names]
    candidates = [cf.IPS(), cf.SNIPS(), cf.DM(), cf.DR(), cf.SwitchDR(1.1)]
    draw = rng()
    samples = [draw.integers(80, size=80) for _ in range(7)]
    centre = [reference.value(data, *pair, 1e-3) for pair in pairs]
    if validator:
        centre = [reference.value(data, *reference.FORMULAS[validator], 1e-3)] * len(pairs)
    expected = [
        [reference.value(data.take(sample), *pair, 1e-3) - c for pair, c in zip(pairs, centre, strict=True)]
        for sample in samples
    ]
    opera = cf.OPERA(replicates=7, centre="validator" if validator else "own")
    rows = rows_of(data)
    np.testing.assert_allclose(opera.errors(rows, candidates, rng(), POOL), expected, rtol=1e-9, atol=1e-12)
    selection = opera.select(rows, candidates, rng(), POOL)
    np.testing.assert_allclose(selection.scores, np.square(expected).mean(axis=0), rtol=1e-9)
    assert selection.chosen == selection.shares.argmax()


def mixed_error(errors, shares):
    return np.square(errors @ shares).mean()


@pytest.mark.parametrize("seed", range(10))
def test_no_other_shares_have_less_error(seed):
    draw = np.random.default_rng(seed)
    errors = draw.normal(size=(50, 4)) @ draw.normal(size=(4, 4)) * 10.0 ** draw.integers(-8, 8)
    shares = minimise_error(errors)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1.0)
    least = mixed_error(errors, shares)
    for other in [*np.eye(4), *draw.dirichlet(np.full(4, 0.5), size=2000)]:
        assert mixed_error(errors, other) >= least * (1 - 1e-6)


def test_independent_errors_give_shares_by_inverse_variance():
    errors = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) * [1.0, 2.0]
    np.testing.assert_allclose(minimise_error(errors), [0.8, 0.2])


def test_a_repeated_candidate_changes_nothing():
    errors = np.random.default_rng(0).normal(size=(40, 3))
    repeated = np.column_stack([errors, errors[:, 1]])
    alone, both = minimise_error(errors), minimise_error(repeated)
    np.testing.assert_allclose([both[0], both[1] + both[3], both[2]], alone, atol=1e-9)


def test_errors_of_zero_take_everything():
    assert minimise_error(np.zeros((5, 2))).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(minimise_error(np.column_stack([np.zeros(5), np.ones(5)])), [1.0, 0.0])


def test_the_answer_is_the_mixture_of_the_table():
    data = reference.random_data(1, rows=300)
    result = cf.evaluate(log_of(data), data.target, "default", "opera", seed=1)
    assert result.selector.validator == cf.DR()
    assert sum(line.share for line in result.table) == pytest.approx(1.0)
    assert sum(line.share > 0 for line in result.table) > 1
    assert result.value == pytest.approx(sum(line.share * line.value for line in result.table))
    assert result.stderr > 0
    assert " + " in result.selected
    assert [line.chosen for line in result.table].count(True) == 1
    assert '"share"' in result.to_json()


def test_by_its_own_value_a_constant_wins_and_by_a_validator_it_does_not():
    data = reference.random_data(2, rows=300)
    data.r = data.r + 5
    candidates = [cf.TruncatedIPS(0.0), cf.SNIPS()]
    blind, seeing = (
        cf.evaluate(log_of(data), data.target, candidates, opera)
        for opera in (cf.OPERA(centre="own"), cf.OPERA(validator=cf.IPS()))
    )
    assert blind.value == 0.0
    assert blind.selected == "TruncatedIPS(max_weight=0)"
    assert seeing.value == pytest.approx(cf.SNIPS().value(rows_of(data)), rel=0.1)
    assert seeing.table[0].share < 0.1


def mixed_problem(seed, level, slope):
    """Return a log, a target worth `level`, and predictions that help only if there is a slope to predict."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(200, 4))
    action = (draw.random(200) > 0.8).astype(int)
    reward = level + slope * x[:, 0] * action + draw.normal(size=200)
    log = cf.Log(context=x, action=action, reward=reward, logging_probs=np.tile([0.8, 0.2], (200, 1)))
    model = np.column_stack([x[:, 1], slope * x[:, 0] + level]) if slope else np.tile(2 * x[:, :1], (1, 2))
    return log, np.tile([0.1, 0.9], (200, 1)), model


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("level", "slope", "best"), [pytest.param(1.0, 0.0, "SNIPS", marks=pytest.mark.slow), (1.0, 3.0, "DR")]
)
def test_the_mixture_is_near_the_best_of_its_unbiased_parts_whichever_that_is(level, slope, best):
    """Mean squared errors over 60 logs, seeds fixed. The best is better than the worst by a half, the mixture within
    a fifth of the best: paired over the same logs, so that its noise is a few per cent."""
    errors = []
    for seed in range(60):
        log, target, model = mixed_problem(seed, level, slope)
        candidates = ["ips", "snips", "dr"]
        result = cf.evaluate(
            log, target, candidates, cf.OPERA(replicates=40, centre="own"), model, seed=seed, progress=False
        )
        errors.append([result.value - level, *(line.value - level for line in result.table)])
    mixed, *alone = np.square(errors).mean(axis=0)
    assert ["IPS", "SNIPS", "DR"][int(np.argmin(alone))] == best
    assert max(alone) > 1.5 * min(alone)
    assert mixed < 1.2 * min(alone)


@pytest.mark.statistical
@pytest.mark.parametrize(("level", "slope"), [(1.0, 0.0), pytest.param(1.0, 3.0, marks=pytest.mark.slow)])
def test_by_default_the_mixture_is_no_worse_than_its_validator(level, slope):
    """Mean squared errors over the same 60 logs, seeds fixed; paired, so that 5 % are more than their noise."""
    errors = []
    for seed in range(60):
        log, target, model = mixed_problem(seed, level, slope)
        result = cf.evaluate(log, target, ["ips", "snips", "dr"], cf.OPERA(replicates=40), model, seed=seed)
        errors.append([result.value - level, result.table[2].value - level])
    mixed, validator = np.square(errors).mean(axis=0)
    assert mixed < 1.05 * validator


def test_a_mixture_uses_what_its_parts_with_a_share_use():
    both, one = (Mixture((cf.IPS(), cf.DM()), shares) for shares in ((0.5, 0.5), (1.0, 0.0)))
    assert both.uses("model")
    assert not one.uses("model")
    parts = (cf.IPS(), cf.SNIPS(), cf.DM(), cf.DR())
    assert Mixture(parts, (0.1, 0.2, 0.7, 0.0)).name == "0.7 DM + 0.2 SNIPS + 0.1 IPS"
    assert Mixture(parts, (0.1, 0.2, 0.4, 0.3)).name == "0.4 DM + 0.3 DR + 0.2 SNIPS + ..."


def test_a_validator_that_would_not_be_used_is_refused():
    with pytest.raises(cf.ParameterError, match=r"^`validator` must be left out with centre='own', got DR.$"):
        cf.OPERA(validator=cf.DR(), centre="own")


# bootstrap samples


def test_samples_keep_groups_whole():
    data = reference.random_data(3, rows=100)
    group = np.random.default_rng(0).integers(12, size=100)
    rows = rows_of(data, group=group)
    sample = resample_rows(rows, rng())
    counts = np.bincount(sample, minlength=100)
    for number in range(12):
        assert len(set(counts[group == number])) == 1
    assert len(set(resample_rows(rows_of(data), rng()))) < 100


@pytest.mark.parametrize("make", [lambda: cf.PseudoTarget(replicates=0), lambda: cf.OPERA(replicates=1)])
def test_bad_parameters_are_refused(make):
    with pytest.raises(cf.ParameterError, match=r"`replicates` must be a whole number of at least \d, got \d."):
        make()
