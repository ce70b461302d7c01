"""The limits that each estimator states, and the identities that tie them together."""

from dataclasses import fields
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import counterfold as cf
import reference
from counterfold.base import registry
from counterfold.estimators._similar import clusters
from problems import close, dose_rows, rows_for, rows_of

NAMES = registry.names("estimators")
seeds = st.integers(0, 10_000)
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
