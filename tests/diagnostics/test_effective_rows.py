"""Expected effective rows: logs that lack the rows with large weights are doubted, and others are not."""

import numpy as np
import pytest

import counterfold as cf
from reference.diagnostics import expected_rows

ROWS = 800


def cold_start(seed, *, has_all):
    """Return a log that took two new actions in 0.5 % of its decisions, and a target that wants them in a sixth."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, 3))
    known = np.exp(x @ rng.normal(size=(3, 4)))
    known /= known.sum(axis=1, keepdims=True)
    logging = np.hstack([0.995 * known, np.full((ROWS, 2), 0.0025)])
    target = np.hstack([known, np.zeros((ROWS, 2))])
    wants_new = x[:, 0] > 0.967
    target[wants_new] = 0.0
    target[wants_new, 4 + (x[wants_new, 1] > 0)] = 1.0
    action = (logging.cumsum(axis=1) > rng.random((ROWS, 1))).argmax(axis=1)
    reward = x[:, 1] + rng.normal(size=ROWS)
    more = {"logging_probs": logging} if has_all else {"propensity": logging[np.arange(ROWS), action]}
    log = cf.Log(context=x, action=action, reward=reward, actions=list(range(6)), **more)
    return log, target, logging


def find(log, target):
    found = cf.check(log, target)
    return found, [one for one in found.findings if one.name == "effective-rows"]


@pytest.mark.filterwarnings("ignore::counterfold.SupportWarning")
@pytest.mark.parametrize("has_all", [True, False])
def test_cold_starts_are_found(has_all):
    doubted = 0
    for seed in range(20):
        log, target, _ = cold_start(seed, has_all=has_all)
        found, findings = find(log, target)
        assert found.verdict != "good"
        doubted += bool(findings)
    assert doubted >= (20 if has_all else 18)


def test_against_naive_loop():
    log, target, logging = cold_start(3, has_all=True)
    assert find(log, target)[0].expected_rows == pytest.approx(expected_rows(logging, target), rel=1e-9)


def test_the_sentence_has_both_numbers():
    for seed in range(20):
        log, target, _ = cold_start(seed, has_all=True)
        found, [finding] = find(log, target)
        if found.effective_rows >= 100:
            assert finding.severity == "caution"
            assert f"worth {found.expected_rows:.3g} rows" in finding.problem
            assert f"not the {found.effective_rows:,.0f}" in finding.problem
            return
    pytest.fail("no log looks good")


def make_greedy(*, has_all):
    """Return a log that nearly always took its favourite, and a target with another favourite in a sixth of the rows.

    Each action was often logged, but not where the target wants it.
    """
    rng = np.random.default_rng(5)
    best = rng.integers(5, size=ROWS)
    wanted = np.where(np.arange(ROWS) % 6 == 0, (best + 1) % 5, best)
    logging = np.full((ROWS, 5), 0.001)
    logging[np.arange(ROWS), best] = 0.996
    more = {"logging_probs": logging} if has_all else {"propensity": np.full(ROWS, 0.996)}
    log = cf.Log(action=best, reward=rng.normal(size=ROWS), actions=list(range(5)), **more)
    return log, np.eye(5)[wanted], logging


@pytest.mark.parametrize("form", ["all probabilities", "propensities", "logged actions only"])
def test_a_greedy_log_is_found_whatever_is_known(form):
    log, target, logging = make_greedy(has_all=form == "all probabilities")
    exact = expected_rows(logging, target)
    own = target[np.arange(ROWS), log.action]
    given = cf.Probabilities(own) if form == "logged actions only" else target
    found, [finding] = find(log, given)
    assert found.effective_rows > 600
    assert found.expected_rows < 50
    assert found.expected_rows >= exact * (1 - 1e-9)  # without all probabilities it is a bound above it
    assert ("at most about" in finding.problem) == (form != "all probabilities")


def test_tiny_probabilities_that_hardly_matter_do_not_alarm():
    rng = np.random.default_rng(6)
    logging = np.tile([1 - 1e-12, 1e-12], (2000, 1))
    target = np.tile([1 - 1e-4, 1e-4], (2000, 1))
    log = cf.Log(action=np.zeros(2000, dtype=int), reward=rng.normal(size=2000), logging_probs=logging)
    found, findings = find(log, target)
    assert not findings
    assert found.expected_rows > 1900


def test_dose_logs_have_no_expected_number():
    rng = np.random.default_rng(7)
    dose = rng.uniform(size=500)
    log = cf.Log(dose=dose, reward=dose + rng.normal(size=500), propensity=np.ones(500))
    assert cf.check(log, rng.uniform(size=500)).expected_rows is None
