"""PseudoTarget learns from several loggers: against a naive loop, and on a case one can solve."""

import numpy as np
import pytest

import counterfold as cf
import reference
from problems import log_of, rows_of, several_loggers

POOL = cf.Pool(threads=1)


def rng():
    return np.random.default_rng(3)


def test_pseudo_target_against_naive_loop():
    data = reference.random_data(4, rows=120)
    loggers = several_loggers(data)
    rows = rows_of(data, **loggers)
    candidates = [cf.IPS(), cf.DM(), cf.DR()]
    pairs = [reference.FORMULAS[name] for name in ("ips", "dm", "dr")]
    draw = rng()
    expected = np.zeros(3)
    for label in "abc":
        own, others = (np.flatnonzero(mask) for mask in (loggers["logger"] == label, loggers["logger"] != label))
        truth = sum(data.r[own]) / len(own)
        data.target = loggers["logger_probs"][label]
        for _ in range(4):
            sample = data.take(others[draw.integers(len(others), size=len(others))])
            expected += [(reference.value(sample, *pair, 1e-3) - truth) ** 2 / 12 for pair in pairs]
    found = cf.PseudoTarget(replicates=4).scores(rows, candidates, rng(), POOL)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_pseudo_target_finds_the_estimator_that_is_right_for_every_logger():
    data = reference.random_data(5, rows=600)
    loggers = several_loggers(data)
    data.r = data.a + np.random.default_rng(0).normal(size=600)
    wrong = np.full((600, 4), 5.0)
    rows = rows_of(data, wrong, **loggers)
    selection = cf.PseudoTarget().select(rows, [cf.DM(), cf.SNIPS(), cf.TruncatedIPS(0.1)], rng(), POOL)
    assert selection.chosen == 1


def test_pseudo_target_needs_loggers():
    data = reference.random_data(6)
    message = "^the selector PseudoTarget needs a log of several policies, but this one has no `logger`"
    with pytest.raises(cf.ParameterError, match=message):
        cf.evaluate(log_of(data), data.target, selector="pseudo-target")
    with pytest.raises(cf.ParameterError, match=r"^PseudoTarget needs rows of several loggers.$"):
        cf.PseudoTarget().scores(rows_of(data), [cf.IPS()], rng(), POOL)
