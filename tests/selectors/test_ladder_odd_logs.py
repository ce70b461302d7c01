"""Ladder on odd logs, and whether it errs less than its rungs."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

import counterfold as cf
import reference
from problems import log_of


def shares_of(result):
    return np.array([line.share for line in result.table])


# odd logs


def odd(name):
    """Return a log's data and what `evaluate` is told about it."""
    data = reference.random_data(12)
    if name == "no weight":
        data.target = np.eye(4)[(data.a + 1) % 4]
    if name == "one row with weight":
        data.target = np.eye(4)[np.where(np.arange(60) == 7, data.a, (data.a + 1) % 4)]
    if name == "equal weights":
        data.target = data.logging
    if name == "perfect predictions":
        data.r = data.x[:, 0].copy()
        return data, {"reward_model": np.tile(data.x[:, :1], 4)}
    if name == "perfect predictions of huge rewards":
        data.r = data.x[:, 0] + 1e9
        return data, {"reward_model": np.tile(data.x[:, :1] + 1e9, 4)}
    if name == "two rows":
        return data.take(np.arange(2)), {}
    if name == "one action logged":
        data.a[:] = 1
    if name == "no context":
        data.x = data.x[:, :0]
    return data, {"reward_model": None} if name == "no model" else {}


@pytest.mark.parametrize(
    "name",
    [
        *("no weight", "one row with weight", "equal weights", "perfect predictions", "two rows", "one action logged"),
        *("perfect predictions of huge rewards", "no context", "no model"),
    ],
)
@pytest.mark.filterwarnings("ignore::counterfold.SupportWarning")
def test_odd_logs_get_a_finite_answer_within_what_the_rungs_say(name):
    data, settings = odd(name)
    result = cf.evaluate(log_of(data), data.target, **settings)
    used = [line.value for line in result.table if line.share]
    assert math.isfinite(result.value)
    assert math.isfinite(result.stderr)
    assert min(used) - 1e-9 <= result.value <= max(used) + 1e-9
    assert shares_of(result).min() >= 0
    assert shares_of(result).sum() == pytest.approx(1, abs=1e-12)


def test_without_any_weight_the_model_answers():
    data, _ = odd("no weight")
    result = cf.evaluate(log_of(data), data.target)
    assert result.value == pytest.approx(cf.estimate(log_of(data), data.target, cf.DM()).value)
    assert result.diagnostics.verdict == "not answerable"


def test_logged_actions_alone_climb_one_ladder():
    data = reference.random_data(13, rows=100)
    logged = data.target[np.arange(100), data.a]
    result = cf.evaluate(log_of(data), logged)
    assert {line.name.partition("(")[0] for line in result.table} == {"IPS", "SNIPS", "TruncatedSNIPS"}
    assert result.table == cf.evaluate(log_of(data), data.target, reward_model=None).table


# honest errors, judged statistically


def heavy(rng, rows=100):
    """Return a log whose target prefers what was rarely logged, the target, and its value in these contexts."""
    x = rng.normal(size=(rows, 2))
    scores = x @ [[1.0, -1.0, 0.0, 0.5], [0.0, 1.0, -1.0, 0.5]]
    logging, target = (np.exp(b * scores) for b in (1.5, -1.5))
    logging, target = (probs / probs.sum(axis=1, keepdims=True) for probs in (logging, target))
    a = (logging.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    means = np.tanh(np.column_stack([x[:, 0], x[:, 1], x[:, 0] * x[:, 1], np.ones(rows)]))
    log = cf.Log(context=x, action=a, reward=means[np.arange(rows), a] + rng.normal(size=rows), logging_probs=logging)
    return log, target, float((target * means).sum(axis=1).mean())


@pytest.mark.statistical
@pytest.mark.filterwarnings("ignore::counterfold.SupportWarning")
def test_the_default_errs_less_than_snips_and_sndr_where_weights_are_heavy():
    """One-sided t-tests of paired squared errors on 300 logs; without a gain, one in 1,000 seeds would pass each."""
    draw, losses = np.random.default_rng(14), []
    for _ in range(300):
        log, target, truth = heavy(draw)
        result = cf.evaluate(log, target, progress=False)
        said = {line.name: line.value for line in result.table}
        losses.append([(value - truth) ** 2 for value in (result.value, said["SNIPS"], said["SNDR"])])
    mine, *others = np.transpose(losses)
    for other in others:
        assert ttest_1samp(mine - other, 0.0, alternative="less").pvalue < 0.001
