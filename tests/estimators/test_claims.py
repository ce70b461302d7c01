"""What the docstrings claim of bias and variance, exactly: on logs that hold every outcome as often as it is likely."""

import math

import numpy as np
import pytest

import counterfold as cf
from counterfold.models import as_model
from counterfold.policies.given import as_target

PARTS = 40
"""Logging probabilities are multiples of 1 / PARTS, so that a log of whole rows can hold them exactly."""


class Population:
    """Every action in every context, in as many rows as the logging policy makes it likely; rewards are their means."""

    def __init__(self, seed, contexts=8, actions=6, *, unsupported=False):
        rng = np.random.default_rng(seed)
        lowest = 0 if unsupported else 1
        shares = rng.dirichlet(np.full(actions, 0.6), size=contexts)
        counts = lowest + np.floor(shares * (PARTS - lowest * actions)).astype(int)
        counts[np.arange(contexts), counts.argmax(axis=1)] += PARTS - counts.sum(axis=1)
        self.context, self.action = (part.repeat(counts.ravel()) for part in np.indices(counts.shape).reshape(2, -1))
        self.logging, self.target = counts / PARTS, rng.dirichlet(np.full(actions, 0.5), size=contexts)
        self.features = np.column_stack([np.arange(actions) % 3])
        self.rng = rng

    def rows(self, means, predictions=None, features=None):
        log = cf.Log(
            context=self.context[:, None],
            action=self.action,
            reward=means[self.context, self.action],
            logging_probs=self.logging[self.context],
            actions=range(means.shape[1]),
            action_features=self.features if features is None else features,
        )
        model = None if predictions is None else predictions[self.context]
        return cf.Rows.of(log, as_target(self.target[self.context], log), as_model(model, log))

    def truth(self, means):
        return float((self.target * means).sum(axis=1).mean())


def spread(estimator, rows):
    return estimator.contributions(rows).var()


@pytest.mark.parametrize("seed", range(5))
def test_ips_and_dr_are_unbiased_whatever_the_model(seed):
    population = Population(seed)
    means, wrong = (population.rng.normal(size=(8, 6)) for _ in range(2))
    rows = population.rows(means, wrong)
    for estimator in (cf.IPS(), cf.DR(), cf.ControlVariateIPS(), cf.ControlVariateIPS(0.3)):
        assert estimator.value(rows) == pytest.approx(population.truth(means), abs=1e-12)
    assert cf.DM().value(rows) != pytest.approx(population.truth(means), abs=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_mips_is_unbiased_and_steadier_when_only_features_matter(seed):
    population = Population(seed)
    means = population.rng.normal(size=(8, 3))[:, population.features[:, 0]]
    rows = population.rows(means)
    assert cf.MIPS().value(rows) == pytest.approx(population.truth(means), abs=1e-12)
    assert spread(cf.MIPS(), rows) < spread(cf.IPS(), rows)


def test_mips_needs_support_for_features_alone():
    population = Population(0, unsupported=True)
    means = population.rng.normal(size=(8, 3))[:, population.features[:, 0]]
    known = np.stack([population.logging[:, population.features[:, 0] == k].sum(axis=1) for k in range(3)], axis=1)
    population.target[known[:, population.features[:, 0]] == 0] = 0.0
    population.target /= population.target.sum(axis=1, keepdims=True)
    rows = population.rows(means)
    assert (population.target[population.logging == 0] > 0).any()
    assert cf.MIPS().value(rows) == pytest.approx(population.truth(means), abs=1e-12)
    assert cf.IPS().value(rows) != pytest.approx(population.truth(means), abs=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_off_cem_is_unbiased_when_the_model_is_right_within_clusters(seed):
    population = Population(seed)
    cluster = population.features[:, 0]
    common, own = population.rng.normal(size=(8, 3))[:, cluster], population.rng.normal(size=(8, 6))
    rows = population.rows(common + own, own + population.rng.normal(size=(8, 3))[:, cluster])
    truth = population.truth(common + own)
    assert cf.OffCEM(3).value(rows) == pytest.approx(truth, abs=1e-12)
    assert cf.OffCEM(1).value(rows) != pytest.approx(truth, abs=1e-3)
    assert spread(cf.OffCEM(3), rows) < spread(cf.DR(), rows)


@pytest.mark.parametrize("seed", range(5))
def test_learned_mips_is_unbiased_and_steadier_when_actions_come_in_kinds_that_the_model_sees(seed):
    population = Population(seed)
    means = population.rng.normal(size=(8, 3))[:, population.features[:, 0]]
    rows = population.rows(means, 2 * means + 1)
    assert cf.LearnedMIPS(3).value(rows) == pytest.approx(population.truth(means), abs=1e-9)
    assert spread(cf.LearnedMIPS(3), rows) < spread(cf.IPS(), rows)


@pytest.mark.parametrize("seed", range(5))
def test_smoothing_both_policies_trades_variance_for_bias_where_rewards_are_smooth(seed):
    population = Population(seed, actions=20)
    features = np.linspace(0, 1, 20)[:, None]
    means = 1 + 0.1 * features.ravel() + np.zeros((8, 1))
    rows = population.rows(means, features=features)
    biases, spreads = [], []
    for bandwidth in (0.001, 0.1, 10.0):
        smooth = cf.PolicyConvolution(bandwidth)
        biases.append(smooth.value(rows) - population.truth(means))
        spreads.append(spread(smooth, rows))
    assert abs(biases[0]) < 1e-9 < abs(biases[1])
    assert spreads[0] > spreads[1] > spreads[2]
    assert biases[1] ** 2 + spreads[1] / 100 < spread(cf.IPS(), rows) / 100, "100 rows: smoothing beats IPS"


@pytest.mark.parametrize("seed", range(5))
def test_the_control_variate_leaves_less_variance_and_full_strength_the_least(seed):
    population = Population(seed)
    rows = population.rows(2 + population.rng.normal(size=(8, 6)))
    spreads = [spread(cf.ControlVariateIPS(strength), rows) for strength in (0.0, 0.5, 0.9, 1.0)]
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[0] > spreads[-1]
    assert spreads[0] == pytest.approx(spread(cf.IPS(), rows))


@pytest.mark.parametrize("seed", range(5))
def test_smoothed_propensities_lower_the_estimate_and_its_variance(seed):
    population = Population(seed)
    rows = population.rows(1 + population.rng.random(size=(8, 6)))
    found = [cf.ExponentialIPS(power) for power in (1.0, 0.8, 0.5, 0.0)]
    for part in (lambda one: one.value(rows), lambda one: spread(one, rows)):
        assert [part(one) for one in found] == sorted(map(part, found), reverse=True)
    assert found[0].value(rows) == pytest.approx(cf.IPS().value(rows))


@pytest.mark.parametrize("seed", range(5))
def test_logarithms_lower_the_estimate_and_its_variance_and_mirror_rewards_of_the_other_sign(seed):
    population = Population(seed)
    means = 1 + population.rng.random(size=(8, 6))
    rows, mirrored = population.rows(means), population.rows(-means)
    found = [cf.LogSmoothing(smoothing) for smoothing in (0.0, 0.01, 0.3, 5.0, 1e300)]
    for part in (lambda one: one.value(rows), lambda one: spread(one, rows)):
        assert [part(one) for one in found] == sorted(map(part, found), reverse=True)
    for one in found:
        np.testing.assert_array_equal(one.contributions(mirrored), -one.contributions(rows))
    assert found[0].value(rows) == pytest.approx(population.truth(means))
    assert found[1].value(rows) == pytest.approx(population.truth(means), rel=0.1)


@pytest.mark.parametrize("smoothing", [1e-320, 1e-9, 1e9, 1e308, math.inf])
def test_logarithms_of_tiny_and_huge_contributions_are_finite(smoothing):
    rows = Population(0).rows(np.geomspace(1e-290, 1e60, 48).reshape(8, 6))
    found, exact = cf.LogSmoothing(smoothing).contributions(rows), cf.IPS().contributions(rows)
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= exact)).all()


# doses: a fine, even grid of them in place of a random sample


def even_doses(reward, wanted, model=None, rows=20_001):
    dose = 4 * (np.arange(rows) + 0.5) / rows - 2
    log = cf.Log(dose=dose, reward=reward(dose), propensity=np.full(rows, 0.25))
    target = as_target(np.full(rows, wanted), log)
    predictions = None if model is None else np.column_stack([model(dose), model(target.doses[:, 0])])
    return cf.Rows.of(log, target, as_model(predictions, log))


def test_the_bias_of_the_kernel_is_of_the_square_of_its_bandwidth():
    rows = even_doses(lambda d: 1 - d**2 + d**3, 0.3)
    truth = 1 - 0.3**2 + 0.3**3
    biases = [cf.KernelIPS(bandwidth).value(rows) - truth for bandwidth in (0.8, 0.4, 0.2)]
    np.testing.assert_allclose(np.divide(biases[:-1], biases[1:]), 4, rtol=0.02)
    curvature = -2 + 6 * 0.3
    assert biases[0] == pytest.approx(0.5 * curvature * 0.8**2 / 5, rel=0.02)


def test_kernel_dr_with_the_right_model_is_unbiased_at_any_bandwidth_and_steadier():
    def reward(dose):
        return 1 - dose**2 + dose**3

    rows = even_doses(reward, 0.3, reward)
    for bandwidth in (0.1, 0.5, 1.5):
        assert cf.KernelDR(bandwidth).value(rows) == pytest.approx(reward(0.3), abs=1e-9)
        assert spread(cf.KernelDR(bandwidth), rows) < spread(cf.KernelIPS(bandwidth), rows)
    wrong = even_doses(reward, 0.3, np.zeros_like)
    assert cf.KernelDR(0.1).value(wrong) == pytest.approx(reward(0.3), abs=0.01)


def test_near_the_end_of_the_doses_the_kernel_loses_weight():
    inside, at_the_end = (even_doses(lambda d: 1 + 0 * d + 1e-9 * d, wanted) for wanted in (0.0, 2.0))
    assert cf.KernelIPS(0.5).value(inside) == pytest.approx(1.0, abs=1e-3)
    assert cf.KernelIPS(0.5).value(at_the_end) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.statistical
def test_kernel_intervals_cover_the_value_of_a_policy_that_draws_its_doses():
    """200 logs; coverage of a 95 % interval below 90 % or above 99 % has a chance under 0.5 % if it holds."""
    inside = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x, dose = rng.normal(size=400), rng.uniform(-3, 3, size=400)
        reward = np.cos(dose - 0.3 * x) + rng.normal(size=400)
        log = cf.Log(context=x[:, None], dose=dose, reward=reward, propensity=np.full(400, 1 / 6))
        draws = 0.3 * x[:, None] + rng.uniform(-1, 1, size=(400, 8))
        low, high = cf.estimate(log, draws, cf.KernelDR(0.3)).interval()
        inside += low <= np.sin(1.0) <= high
    assert 0.90 <= inside / 200 <= 0.99
