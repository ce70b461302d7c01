"""Theory: each estimator's own rule, against naive loops."""

import math

import numpy as np
import pytest

import counterfold as cf
import reference
from counterfold.base import registry
from counterfold.estimators._subgaussian import solve_equation
from problems import evaluate_as_paper, log_of, rows_of

POOL = cf.Pool(threads=1)
WITH_RULE = {"truncated-ips", "switch-dr", "dros", "drps", "ips-lambda"}


def scores(rows, candidates, **settings):
    return cf.Theory(**settings).scores(rows, candidates, np.random.default_rng(0), POOL)


def tune(data, name, **settings):
    return evaluate_as_paper(log_of(data), data.target, name, cf.Theory(**settings)).estimator


def variance(contributions):
    mean = sum(contributions) / len(contributions)
    return sum((c - mean) ** 2 for c in contributions) / (len(contributions) - 1) / len(contributions)


def test_truncated_ips_takes_the_root_of_the_number_of_rows():
    for rows in (60, 143):
        assert tune(reference.random_data(0, rows=rows), "truncated-ips").max_weight == math.sqrt(rows)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["switch-dr", "dros", "drps"])
def test_bounds_against_naive_loops(name, seed):
    data = reference.random_data(seed, rows=150, binary=seed % 2 == 0)
    data.r = data.r + (5 if seed == 4 else 0)
    rows, q = rows_of(data), reference.ridge(data, 1e-3)
    formula, _ = reference.FORMULAS[name]
    grid = registry.find("estimators", name).candidates(rows)
    expected = []
    for candidate in grid:
        parameter = getattr(candidate, {"switch-dr": "threshold", "dros": "shrinkage", "drps": "max_weight"}[name])
        bias = 0.0
        for i in range(150):
            w = data.target[i] / data.logging[i]
            if name == "switch-dr":
                bias += sum(data.target[i, a] for a in range(4) if w[a] > parameter) * (
                    max(*data.r, 0) - min(*data.r, 0)
                )
            else:
                mine = w[data.a[i]]
                shrunk = min(mine, parameter) if name == "drps" else parameter * mine / (mine * mine + parameter)
                bias += (shrunk - mine) * (data.r[i] - q[i, data.a[i]])
        contributions = formula(data, q, parameter)
        expected.append(variance(contributions) + (bias / 150) ** 2)
    np.testing.assert_allclose(scores(rows, grid), expected, rtol=1e-9)
    assert tune(data, name) == grid[int(np.argmin(expected))]


@pytest.mark.parametrize("delta", [0.95, 0.05])
@pytest.mark.parametrize("seed", range(5))
def test_ips_lambda_solves_its_authors_equation(seed, delta):
    """By bisection: the left side grows with the parameter."""
    data = reference.random_data(seed, rows=150)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        left = 0.0
        for w in data.weights():
            left += (w / (1 - middle + middle * w)) ** 2 / 150
        if middle**2 * left < 2 * math.log(1 / delta) / (3 * math.sqrt(150)):
            low = middle
        else:
            high = middle
    assert tune(data, "ips-lambda", delta=delta).mix == pytest.approx(low / 150**0.25, rel=1e-9)


@pytest.mark.parametrize("delta", [0.95, 0.05])
@pytest.mark.parametrize("seed", range(5))
def test_ips_lambda_solves_the_equation_that_the_paper_quotes(seed, delta):
    data = reference.random_data(seed, rows=150)
    mix = tune(data, "ips-lambda", delta=delta, rules="paper").mix
    left = 0.0
    for w in data.weights():
        left += ((1 - mix) * w ** (150**0.25) + mix) ** (2 / 150**0.25)
    assert mix**2 * left / 150 == pytest.approx(2 * math.log(1 / delta) / (3 * 150), rel=1e-9)
    grid = {candidate.mix for candidate in cf.IPSLambda.candidates(rows_of(data))}
    assert mix not in grid


def test_ips_lambda_survives_weights_of_zero_and_weights_whose_powers_overflow():
    data = reference.random_data(1, rows=100)
    data.target[:50] = np.eye(4)[(data.a[:50] + 1) % 4]
    for rules in ("authors", "paper"):
        assert 0 < tune(data, "ips-lambda", rules=rules).mix < 1
    right = 2 * math.log(1 / 0.95) / 300
    assert solve_equation(np.full(100, 1e30), 0.95, "paper") ** 2 * 1e60 == pytest.approx(right, rel=1e-9)
    nothing = solve_equation(np.zeros(100), 0.95, "paper")
    assert nothing ** (2 + 2 / 100**0.25) == pytest.approx(right, rel=1e-9)
    most = math.sqrt(10 * right)
    for weight in (1e300, 1e-300):  # x w / (1 - x + x w) is the root of the right side
        solved = most / (weight - most * (weight - 1))
        assert solve_equation(np.full(100, weight), 0.95, "authors") == pytest.approx(solved / 100**0.25, rel=1e-9)
    assert solve_equation(np.zeros(100), 0.95, "authors") == 100**-0.25


@pytest.mark.parametrize("name", sorted(set(registry.names("estimators")) - WITH_RULE - set(reference.OF_DOSES)))
def test_an_estimator_without_a_rule_says_so(name):
    data = reference.random_data(0)
    kind = registry.find("estimators", name).__name__
    with pytest.raises(cf.ParameterError, match=rf"^{kind} has no tuning rule of its own; use another selector.$"):
        cf.evaluate(log_of(data), data.target, name, "theory")


def test_one_estimator_at_a_time():
    data = reference.random_data(0)
    message = "^Theory tunes one estimator at a time, got 2: DRos, SwitchDR.$"
    with pytest.raises(cf.ParameterError, match=message):
        cf.evaluate(log_of(data), data.target, ["switch-dr", "dros"], "theory")


def test_the_rule_of_switch_dr_needs_all_probabilities():
    data = reference.random_data(0)
    propensity = data.logging[np.arange(60), data.a]
    log = cf.Log(context=data.x, action=data.a, reward=data.r, propensity=propensity, actions=range(4))
    message = "the tuning rule of SwitchDR needs the logging policy's probabilities of all actions, but only"
    with pytest.raises(cf.ParameterError, match=message):
        cf.evaluate(log, data.target, "switch-dr", "theory")
    assert cf.evaluate(log, data.target, "dros", "theory").estimator.shrinkage > 0


def test_extreme_candidates_have_finite_scores():
    rows = rows_of(reference.random_data(0))
    for kind in (cf.TruncatedIPS, cf.SwitchDR, cf.DRos, cf.DRps):
        assert np.isfinite(scores(rows, [kind(0.0), kind(1.0), kind(math.inf)])).all()
    assert np.isfinite(scores(rows, [cf.IPSLambda(0.0), cf.IPSLambda(1.0)])).all()


def test_where_the_equation_has_no_solution_the_parameter_is_one():
    weights = np.array([1.0, 2.0, 0.5])
    for rules, most in (("paper", 1.0), ("authors", 3**-0.25)):
        assert solve_equation(weights, 0.01, rules) == most
        assert solve_equation(weights, 0.95, rules) < most


def test_bad_parameters_are_refused():
    with pytest.raises(cf.ParameterError, match=r"`delta` must be in \(0, 1\), got 1.0."):
        cf.Theory(delta=1.0)
    with pytest.raises(cf.ParameterError, match=r"`rules` must be `authors` or `paper`, got 'ours'."):
        cf.Theory(rules="ours")
