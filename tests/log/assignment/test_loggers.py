"""Rows of several loggers: weighed by all of them together, the same on every engine, unless they ran in turn."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy.stats import binomtest

import counterfold as cf
from counterfold.diagnostics.several_loggers import SeveralLoggers
from counterfold.log.assignment import balance_log
from counterfold.simulation import draw_actions, softmax

ROWS = 900
NAMES = np.array(["old", "new", "test"])


def draw(seed=0, rows=ROWS, turn=None):
    """Return contexts, who decided, all loggers' policies (3 x n x 4), actions, rewards and a target (n x 4)."""
    rng = np.random.default_rng(seed)
    x, slopes = rng.normal(size=(rows, 2)), rng.normal(size=(3, 2, 4))
    policies = np.stack([softmax(2 * x @ one) for one in slopes])
    logger = rng.choice(3, p=[0.5, 0.3, 0.2], size=rows)
    logger = logger if turn is None else turn(logger, x)
    action = draw_actions(policies[logger, np.arange(rows)], rng.random(rows))
    reward = x[:, 0] * (action == 1) + action / 2 + rng.normal(size=rows)
    return x, logger, policies, action, reward, softmax(2 * x @ slopes[0])


def make_log(problem, **more):
    x, logger, policies, action, reward, _ = problem
    given = {"context": x, "action": action, "reward": reward, "logger": NAMES[logger]}
    return cf.Log(**given | {"logger_probs": dict(zip(NAMES, policies, strict=True))} | more)


def test_against_a_naive_loop():
    problem = draw()
    log, (_, logger, policies, action, reward, target) = make_log(problem), problem
    shares = [sum(1 for one in logger if one == code) / ROWS for code in range(3)]
    expected = 0.0
    for row in range(ROWS):
        likely = sum(share * policies[code][row][action[row]] for code, share in enumerate(shares))
        assert log.propensity[row] == pytest.approx(likely)
        expected += target[row][action[row]] / likely * reward[row] / ROWS
    assert cf.estimate(log, target, "ips").value == pytest.approx(expected)
    own = make_log(problem, logger_weights="own")
    np.testing.assert_allclose(own.propensity, policies[logger, np.arange(ROWS), action])
    np.testing.assert_array_equal(own.logging_probs, own.drawn_probs)
    np.testing.assert_array_equal(log.drawn_probs, own.drawn_probs)


def test_one_logger_is_like_none():
    x, _, policies, action, reward, target = draw()
    plain = cf.Log(context=x, action=action, reward=reward, logging_probs=policies[0])
    both = cf.Log(context=x, action=action, reward=reward, logger=["a"] * ROWS, logger_probs={"a": policies[0]})
    assert cf.evaluate(both, target).value == cf.evaluate(plain, target).value


def test_the_own_probability_may_be_given_besides():
    problem = draw()
    _, logger, policies, action, *_ = problem
    own = policies[logger, np.arange(ROWS), action]
    np.testing.assert_array_equal(make_log(problem, propensity=own).propensity, make_log(problem).propensity)
    with pytest.raises(cf.DataError, match="`propensity` must be the logged action's entry of `logger_probs`"):
        make_log(problem, propensity=np.clip(own + 0.01, 0, 1))


@pytest.mark.parametrize("weights", ["balanced", "own"])
def test_every_engine_weighs_alike(weights, tmp_path):
    x, logger, policies, action, reward, target = draw()
    columns = {"x0": x[:, 0], "x1": x[:, 1], "action": action, "reward": reward, "logger": NAMES[logger]}
    columns |= {f"logger_probs.{name}": one.tolist() for name, one in zip(NAMES, policies, strict=True)}
    columns["target"] = target.tolist()
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=100)
    asked = {"logger_weights": weights, "candidates": "plain", "reward_model": "ridge-per-action", "progress": False}
    memory, local = (cf.evaluate(tmp_path / "log.parquet", engine=one, **asked) for one in ("memory", "local"))
    assert [one.value for one in memory.table] == pytest.approx([one.value for one in local.table], rel=1e-9)
    expected = cf.evaluate(make_log(draw(), logger_weights=weights), target, candidates=["ips"], reward_model=None)
    assert local.table[0].value == pytest.approx(expected.value)
    assert local.diagnostics.loggers_p == (
        pytest.approx(memory.diagnostics.loggers_p) if weights == "balanced" else None
    )


TURNS = {
    "one after the other": (lambda logger, _: np.sort(logger), "they decided at different times"),
    "other contexts": (lambda logger, x: np.where(x[:, 0] > 0.4, 2, logger), "column `0` differs"),
}


@pytest.mark.parametrize(("turn", "what"), TURNS.values(), ids=TURNS)
def test_loggers_that_did_not_decide_side_by_side(turn, what):
    problem = draw(turn=turn)
    found = cf.check(make_log(problem), problem[-1])
    [finding] = [one for one in found.findings if one.name == "several-loggers"]
    assert what in finding.problem
    assert "--logger-weights own" in finding.remedy
    assert found.verdict == "caution"
    assert not [one for one in found.findings if one.name in {"propensities", "outcome-context"}]
    own = cf.check(make_log(problem, logger_weights="own"), problem[-1])
    assert "several-loggers" not in {one.name for one in own.findings}


@pytest.mark.statistical
def test_loggers_side_by_side_are_alarmed_in_less_than_a_hundredth_of_cases():
    alarms = sum(balance_log(make_log(draw(seed, 400))).loggers.p < SeveralLoggers().alarm for seed in range(150))
    assert binomtest(int(alarms), 150, 0.01, alternative="greater").pvalue > 0.001


@pytest.mark.statistical
def test_balanced_weights_have_less_error_and_cover():
    held, errors = [], []
    for seed in range(60):
        problem = draw(seed)
        x, *_, target = problem
        truth = float((target[:, 1] * x[:, 0] + (target * np.arange(4) / 2).sum(axis=1)).mean())  # of these contexts
        balanced, own = (
            cf.estimate(make_log(problem, logger_weights=one), target, "dr") for one in ("balanced", "own")
        )
        low, high = balanced.interval(0.95)
        held.append(low <= truth <= high)
        errors.append([(balanced.value - truth) ** 2, (own.value - truth) ** 2])
    assert binomtest(sum(held), 60, 0.95, alternative="less").pvalue > 0.001
    assert np.divide(*np.mean(errors, axis=0)) < 0.6


def test_unknown_weights():
    with pytest.raises(cf.ParameterError, match=r"`logger_weights` must be `balanced` or `own`, got 'balance'."):
        make_log(draw(), logger_weights="balance")
