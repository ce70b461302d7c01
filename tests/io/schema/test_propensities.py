"""Propensities that are computed, on other scales, rounded up, or in columns of other names."""

import re
import sys

import numpy as np
import pandas as pd
import pytest

import counterfold as cf

pytest.importorskip("duckdb", reason="duckdb is not installed (extra `sql`)")
ROWS = 600
ENGINES = ("memory", "local")
rng = np.random.default_rng(0)
P = rng.uniform(0.2, 0.8, ROWS)
TAKEN = rng.random(ROWS) < P
CHANCE = np.where(TAKEN, P, 1 - P)
REWARD = rng.integers(2, size=ROWS) * (1.0 + TAKEN)
LOG = pd.DataFrame({"x": rng.normal(size=ROWS), "action": np.where(TAKEN, "a", "b"), "reward": REWARD})
LOG["target"] = "a"


def ask(log, engine="memory", **named):
    return cf.evaluate(log, candidates=["ips", "dr"], selector="slope", engine=engine, progress=False, **named)


COMPUTED = {
    "exp(told)": np.log(CHANCE),
    "told / 100": 100 * CHANCE,
    "1 / told": 1 / CHANCE,
    "1 / (1 + exp(-told))": np.log(CHANCE / (1 - CHANCE)),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", COMPUTED)
def test_an_expression_is_a_column(text, engine):
    found = ask(LOG.assign(told=COMPUTED[text]), engine, propensity=text)
    expected = ask(LOG.assign(propensity=CHANCE), engine)
    assert [line.value for line in found.table] == pytest.approx([line.value for line in expected.table], rel=1e-12)
    assert found.contents.context == ("x",)
    assert found.contents.left_out["told"].startswith("the propensity is computed from it; name it in `context` if")


@pytest.mark.parametrize("engine", ENGINES)
def test_several_rewards_some_of_which_are_missing(engine):
    log = LOG.assign(told=100 * CHANCE, other=LOG.reward.where(LOG.x > 0))
    rewards = ["reward", "other", "reward + other"]
    asked = {"reward": rewards, "missing_reward": "drop", "context": ["x"]}
    found = ask(log, engine, propensity="told / 100", **asked)
    expected = ask(log.assign(propensity=CHANCE), engine, **asked)
    for reward in rewards:
        assert found[reward].value == pytest.approx(expected[reward].value, rel=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("given", [0.5, np.float32(0.5), "0.5", "1 / 2"], ids=repr)
def test_a_coin_has_one_number(given, engine):
    assert ask(LOG, engine, propensity=given).value == ask(LOG.assign(propensity=0.5), engine).value


def test_a_number_needs_no_duckdb(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert ask(LOG, propensity=0.5).value > 0
    rule = r"must be a column, or an expression in SQL of columns; an expression needs duckdb: pip install"
    with pytest.raises(cf.ParameterError, match=rf"^the propensity `told / 90` {rule} 'counterfold\[sql\]'\."):
        ask(LOG.assign(told=45), propensity="told / 90")
    with pytest.raises(cf.ParameterError, match=r"an expression needs duckdb: .*\. Did you mean `Total revenue`\?$"):
        ask(LOG.assign(**{"Total revenue": REWARD}), propensity=0.5, reward="Total Revenue")


def test_a_column_of_that_very_name_wins():
    assert cf.read_log(LOG.assign(**{"0.5": CHANCE}), propensity="0.5").propensity == pytest.approx(CHANCE)


def test_functions_that_skip_gaps_are_noted():
    found = ask(LOG.assign(told=CHANCE), propensity="greatest(told, 0.01)")
    [problem] = [one.problem for one in found.diagnostics.findings if "greatest" in one.problem]
    assert problem.endswith("such rows have a propensity, too")


REFUSED = {
    "exp(tol)": "column `tol` must be there, for the propensity `exp(tol)`. Did you mean `told`?",
    "told /": "the propensity `told /` must be a column, or an expression in SQL of columns: syntax error",
    "action || 'x'": "the propensity `action || 'x'` must be numbers, got string.",
    "told * random()": "the propensity `told * random()` must be computed from each row alone",
    "tolf": "column `tolf` must be there. Did you mean `told`?",
    "1.5": "`propensity` (column `1.5`) must be in (0, 1], got 1.5 in 600 of 600 rows",
}


@pytest.mark.parametrize("text", REFUSED)
def test_mistakes(text):
    with pytest.raises(cf.CounterfoldError, match=re.escape(REFUSED[text])):
        ask(LOG.assign(told=CHANCE), propensity=text)


# scales

SCALES = {
    "exp(told)": 'logarithms; in files and frames, give the expression "exp(COLUMN)" as `propensity`',
    "1 / (1 + exp(-told))": "logits; in files and frames, give the expression",
    "told / 100": "percent, or like 1 / probability; in files and frames, give",
    "1 / told": "percent, or like 1 / probability; in files and frames, give",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", COMPUTED)
def test_other_scales_are_named(text, engine):
    with pytest.raises(cf.DataError, match=re.escape(f". They look like {SCALES[text]}")):
        ask(LOG.assign(propensity=COMPUTED[text]), engine)


@pytest.mark.parametrize("odd", [-0.1, 1.5, 80.0])
def test_one_bad_row_is_no_scale(odd):
    with pytest.raises(cf.DataError, match=rf"must be in \(0, 1\], got {odd} in 1 of 600 rows, first at row 7\.$"):
        ask(LOG.assign(propensity=np.where(np.arange(ROWS) == 7, odd, CHANCE)))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_single_precision_makes_of_1_is_1(engine):
    row = np.arange(ROWS) == TAKEN.argmax()
    given, exact = np.where(row, 1 + 9e-7, CHANCE), np.where(row, 1.0, CHANCE)
    assert ask(LOG.assign(propensity=given), engine).value == ask(LOG.assign(propensity=exact), engine).value
    assert cf.read_log(LOG.assign(propensity=given)).propensity.max() == 1.0
    with pytest.raises(cf.DataError, match=r"must be in \(0, 1\], got 1\.00001 in 1 of 600 rows"):
        ask(LOG.assign(propensity=np.where(row, 1.00001, CHANCE)), engine)


# names

NAMES = ["p_action", "P_logged", "prob_logged", "chosen_prob", "action_probability", "actionProb", "p1", "Chosen Prob"]


@pytest.mark.parametrize("name", NAMES)
def test_columns_that_are_called_like_propensities_are_suggested(name):
    with pytest.raises(
        cf.DataError, match=rf"got neither\. Did you mean `{name}`\? Then name it: `propensity='{name}'`"
    ):
        ask(LOG.assign(**{name: CHANCE}))


@pytest.mark.parametrize("name", ["p_reward", "kept_prob", "pctr", "price"])
def test_other_columns_are_not(name):
    with pytest.raises(cf.DataError, match=r"got neither\. If none were logged, `propensity=\"fit\"`"):
        ask(LOG.assign(**{name: CHANCE}))


def test_neither_are_targets_and_numbers_that_are_no_probabilities():
    for log in (LOG.assign(target_prob=CHANCE), LOG.assign(p_action=100 * CHANCE)):
        with pytest.raises(cf.DataError, match="If none were logged"):
            ask(log, target=cf.Probabilities("target_prob") if "target_prob" in log else "a")
