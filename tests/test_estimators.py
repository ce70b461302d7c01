"""Every estimator: the contract, the formula as a naive loop, and the identities that tie them together."""

import pickle
from dataclasses import fields
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import counterfold as cf
import reference
from counterfold import registry
from counterfold.candidates import SETS
from counterfold.estimators._similar import clusters
from problems import dose_log, dose_rows, estimate_as_paper, log_of, rows_of

NAMES = registry.names("estimators")
seeds = st.integers(0, 10_000)


def close(left, right):
    np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-10)


@pytest.fixture(params=NAMES)
def kind(request):
    return registry.find("estimators", request.param)


def rows_for(kind, seed, **size):
    """Return random rows of a log whose actions are what the estimator takes."""
    if "labels" in kind.kinds:
        return rows_of(reference.random_data(seed, **size))
    return dose_rows(reference.random_doses(seed, **size))


# (1) the contract of every class that the folder holds


def test_every_estimator_has_a_reference():
    assert set(NAMES) == set(reference.FORMULAS)


def test_one_finite_contribution_per_row(kind):
    rows = rows_for(kind, 0)
    for candidate in [kind(), *kind.candidates(rows)]:
        result = candidate.contributions(rows)
        assert result.shape == (len(rows),)
        assert np.isfinite(result).all()


def test_order_of_rows_does_not_matter(kind):
    rows = rows_for(kind, 1)
    order = np.random.default_rng(0).permutation(len(rows))
    close(kind().contributions(rows.take(order)), kind().contributions(rows)[order])


def test_pickles_compares_and_hashes_by_value(kind):
    assert pickle.loads(pickle.dumps(kind())) == kind()  # noqa: S301 (our own bytes)
    assert hash(kind()) == hash(kind())


def test_bad_parameters_are_refused_by_name(kind):
    for field in fields(kind):
        for bad in (-1.0, float("nan"), "many", None, True):
            with pytest.raises(cf.ParameterError, match=rf"`{field.name}` must be .*, got "):
                kind(**{field.name: bad})


def test_rows_are_left_as_they_were(kind):
    rows = rows_for(kind, 2)
    before = [part.copy() for part in (rows.weights, rows.rewards, rows.q, rows.q_logged, rows.q_policy)]
    kind().contributions(rows)
    after = rows.weights, rows.rewards, rows.q, rows.q_logged, rows.q_policy
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)


def test_without_any_weight_nothing_breaks(kind):
    data, doses = reference.random_data(3), reference.random_doses(3)
    data.target = np.zeros_like(data.target)
    data.target[np.arange(60), (data.a + 1) % 4] = 1.0
    doses.target = doses.target + 1000.0
    rows = rows_of(data) if "labels" in kind.kinds else dose_rows(doses)
    assert not rows.weights.any()
    for candidate in [kind(), *kind.candidates(rows)]:
        assert np.isfinite(candidate.contributions(rows)).all()


# (2) the formulas, against naive loops


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


# (3) the limits that each class states, and the identities that tie them together


LIMITS = [(name, value, text) for name in NAMES for value, text in registry.find("estimators", name).limits.items()]

IN_WORDS = {
    "0": lambda rows: np.zeros(len(rows)),
    "the mean reward": lambda rows: rows.rewards,
    "rewards times the target's probability": lambda rows: rows.weights * rows.propensity * rows.rewards,
    "DM plus the mean residual": lambda rows: rows.q_policy + rows.rewards - rows.q_logged,
}


@pytest.mark.parametrize(("name", "value", "text"), LIMITS)
@given(seed=seeds)
@settings(max_examples=20)
def test_limit(name, value, text, seed):
    kind = registry.find("estimators", name)
    rows = rows_for(kind, seed)
    same = IN_WORDS.get(text) or registry.build("estimators", text).contributions
    close(kind(value).contributions(rows), same(rows))


def test_every_parameter_that_trades_bias_for_variance_states_a_limit():
    tuned = {name for name in NAMES if fields(registry.find("estimators", name))}
    assert tuned == {name for name, _, _ in LIMITS}


def test_features_that_set_every_action_apart_leave_ips():
    rows = rows_of(reference.random_data(0))
    close(cf.MIPS().contributions(rows), cf.IPS().contributions(rows))
    close(cf.PolicyConvolution(0.0).contributions(rows), cf.IPS().contributions(rows))
    close(cf.PolicyConvolution(1e-3).contributions(rows), cf.IPS().contributions(rows))


def test_features_that_set_no_action_apart_leave_the_mean_reward():
    data = reference.random_data(0)
    data.features = np.ones((4, 2))
    rows = rows_of(data)
    for kind in (cf.MIPS, cf.PolicyConvolution):
        for candidate in kind.candidates(rows):
            close(candidate.contributions(rows), rows.rewards)
    close(cf.OffCEM(4).contributions(rows), cf.DR().contributions(rows))


def test_nested_clusters_and_more_of_them_than_actions():
    points = np.random.default_rng(0).normal(size=(20, 3))
    codes = [clusters(points, number) for number in range(1, 25)]
    assert [len(set(found)) for found in codes] == [*range(1, 21), 20, 20, 20, 20]
    for coarse, fine in pairwise(codes):
        assert len(set(zip(coarse, fine, strict=True))) == len(set(fine))


@given(seed=seeds)
@settings(max_examples=20)
def test_a_model_of_zeros_turns_kernel_dr_into_kernel_ips(seed):
    data = reference.random_doses(seed)
    rows = dose_rows(data, np.zeros((60, 2)))
    close(cf.KernelDR(0.7).contributions(rows), cf.KernelIPS(0.7).contributions(rows))


@given(seed=seeds)
@settings(max_examples=20)
def test_a_model_of_zeros_turns_doubly_robust_into_weighting(seed):
    data = reference.random_data(seed)
    rows = rows_of(data, cf.Given(np.zeros_like(data.target)))
    for with_model, without in [(cf.DR(), cf.IPS()), (cf.SNDR(), cf.SNIPS()), (cf.DRps(1.3), cf.TruncatedIPS(1.3))]:
        close(with_model.contributions(rows), without.contributions(rows))


@given(seed=seeds)
@settings(max_examples=20)
def test_the_logging_policy_is_worth_its_mean_reward(seed):
    data = reference.random_data(seed)
    data.target = data.logging
    rows = rows_of(data)
    plain = [cf.IPS(), cf.SNIPS(), cf.TruncatedIPS(1.0), cf.IPSLambda(0.7), cf.GroupIPS(5), cf.ExponentialIPS(1.0)]
    pooled = [cf.MIPS(1), cf.LearnedMIPS(2), cf.PolicyConvolution(0.5), cf.ControlVariateIPS()]
    for estimator in plain + pooled:
        close(estimator.value(rows), data.r.mean())


@given(seed=seeds, shift=st.floats(-100, 100))
@settings(max_examples=20)
def test_self_normalised_estimators_move_with_the_rewards(seed, shift):
    data = reference.random_data(seed)
    q = reference.ridge(data, 0.001)
    before = rows_of(data, cf.Given(q))
    data.r = data.r + shift
    after = rows_of(data, cf.Given(q + shift))
    for estimator in (cf.SNIPS(), cf.SNDR(), cf.DR(), cf.DM()):
        np.testing.assert_allclose(estimator.value(after), estimator.value(before) + shift, rtol=0, atol=1e-9)


def with_impossible_actions():
    """Return a problem where the last action is never possible and some logged actions have no weight."""
    data = reference.random_data(9)
    data.a = np.minimum(data.a, 2)
    data.logging, data.target = (probs * [1, 1, 1, 0] for probs in (data.logging, data.target))
    data.logging, data.target = (probs / probs.sum(axis=1, keepdims=True) for probs in (data.logging, data.target))
    data.target[:20] = np.eye(4)[(data.a[:20] + 1) % 3]
    return data


def test_limits_where_actions_are_impossible_and_weights_are_zero():
    data = with_impossible_actions()
    rows = rows_of(data)
    assert not rows.weights[:20].any()
    close(cf.CAB(np.inf).contributions(rows), cf.IPS().contributions(rows))
    close(cf.CAB(0.0).contributions(rows), cf.DM().contributions(rows))
    close(cf.IPSLambda(1.0).contributions(rows), rows.rewards)


def test_groups_are_bins_of_possible_predictions_alone():
    data = with_impossible_actions()
    q = reference.ridge(data, 1e-3)
    far = q.copy()
    far[:, 3] = 1e6
    possible = [cf.GroupIPS(4).contributions(rows_of(data, cf.Given(predictions))) for predictions in (q, far)]
    inner = reference.Data(data.x, data.a, data.r, data.logging[:, :3], data.target[:, :3])
    for found in possible:
        close(found, reference.group_ips(inner, q[:, :3], 4))


def test_a_weight_at_the_threshold_is_kept():
    data = reference.random_data(10)
    data.target = data.logging
    rows = rows_of(data)
    close(cf.SwitchDR(1.0).contributions(rows), cf.DR().contributions(rows))


# (4) grids


def test_the_paper_s_candidates_are_those_of_the_paper():
    rows = rows_of(reference.random_data(6, rows=500))
    count = {name: len(registry.find("estimators", name).candidates(rows)) for name in SETS["paper"]}
    single = dict.fromkeys(["ips", "snips", "dm", "dr", "sndr"], 1)
    tuned = dict.fromkeys(["switch-dr", "cab", "dros", "drps", "ips-lambda"], 30)
    assert count == single | tuned | {"truncated-ips": 31, "group-ips": 5}


def test_grids_span_the_quantiles_of_the_positive_weights():
    data = reference.random_data(7, rows=500)
    data.target[:100] = np.eye(4)[(data.a[:100] + 1) % 4]
    rows = rows_of(data)
    low, high = np.quantile([w for w in data.weights() if w > 0], [0.05, 0.95])
    caps = [candidate.max_weight for candidate in cf.TruncatedIPS.candidates(rows)]
    close([caps[0], caps[29], caps[30]], [low, high, np.sqrt(500)])
    close(np.diff(np.log(caps[:30])), np.log(high / low) / 29)
    shrinkages = [candidate.shrinkage for candidate in cf.DRos.candidates(rows)]
    close([shrinkages[0], shrinkages[-1]], [0.01 * low**2, 100 * high**2])
    mixes = [candidate.mix for candidate in cf.IPSLambda.candidates(rows)]
    close([mixes[0], mixes[-1]], [1 / (1 + np.exp(10)), 1 / (1 + np.exp(-10))])


def test_grids_of_the_estimators_that_the_paper_does_not_tune():
    data = reference.random_data(7, rows=500)
    data.features = np.arange(8.0).reshape(4, 2)
    rows, doses = rows_of(data), dose_rows(reference.random_doses(7, rows=500))
    thumb = 2.34 * doses.dose.std() * 500**-0.2
    apart = np.sqrt(8)
    for kind, where, first, last, size in [
        (cf.ExponentialIPS, rows, 1.0, 0.0, 30),
        (cf.ControlVariateIPS, rows, 1.0, 0.25, 4),
        (cf.MIPS, rows, 2, 1, 2),
        (cf.LearnedMIPS, rows, 2, 2, 1),
        (cf.OffCEM, rows, 2, 2, 1),
        (cf.PolicyConvolution, rows, apart / 3, 3 * apart, 20),
        (cf.KernelIPS, doses, thumb / 4, thumb * 2, 13),
        (cf.KernelDR, doses, thumb / 4, thumb * 2, 13),
    ]:
        grid = [getattr(candidate, fields(kind)[0].name) for candidate in kind.candidates(where)]
        assert (grid[0], grid[-1], len(grid)) == (pytest.approx(first), pytest.approx(last), size), kind.__name__


def test_numbers_of_clusters_are_powers_of_two_below_the_number_of_actions():
    for actions, expected in [(2, [1]), (3, [2]), (16, [8, 4, 2]), (17, [16, 8, 4, 2])]:
        rows = rows_of(reference.random_data(0, actions=actions))
        assert [candidate.clusters for candidate in cf.OffCEM.candidates(rows)] == expected


def test_tables_of_distances_are_features_like_any_other():
    data = reference.random_data(0, actions=5)
    data.features = 1 - np.eye(5)
    rows = rows_of(data)
    close(cf.OffCEM(5).contributions(rows), cf.DR().contributions(rows))
    assert np.isfinite(cf.OffCEM(2).contributions(rows)).all()


def test_dimensions_are_whole():
    for bad in (1.5, -1):
        with pytest.raises(
            cf.ParameterError, match="`dimensions` must be a whole number of at least 0, or infinity, got"
        ):
            cf.MIPS(bad)


def test_equal_weights_leave_one_value_in_a_grid():
    data = reference.random_data(8)
    data.target = data.logging
    close([candidate.threshold for candidate in cf.SwitchDR.candidates(rows_of(data))], [1.0])
