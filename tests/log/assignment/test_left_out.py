"""Useful columns of clean logs stay in the context; what came of the decision is left out, with a caution."""

import numpy as np
import pytest
from scipy.stats import binomtest

import counterfold as cf
from counterfold.log.assignment import DEPENDS, Balance, balance_log

MODES = ("all probabilities", "propensities alone")


def make_log(seed, *, mode="all probabilities", effect=0.0, columns=6, rows=600, taste=1.0):
    """Return a log whose policy looks at the first column; the last one rises by an effect after action 1."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns))
    likely = 0.1 + 0.8 / (1 + np.exp(-taste * x[:, 0]))
    action = (rng.random(rows) < likely).astype(int)
    x[:, -1] += effect * action
    reward = x[:, 0] * (1 + action) + 3 * rng.normal(size=rows)
    known = {"logging_probs": np.column_stack([1 - likely, likely])}
    if mode != MODES[0]:
        known = {"propensity": np.where(action == 1, likely, 1 - likely)}
    return cf.Log(context=x, action=action, reward=reward, actions=[0, 1], **known)


@pytest.mark.parametrize("mode", MODES)
def test_columns_of_clean_logs_stay(mode):
    lost = sum(bool(balance_log(make_log(seed, mode=mode)).leave_out()) for seed in range(400))
    assert binomtest(lost, 400, DEPENDS, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize("mode", MODES)
def test_outcomes_are_left_out_and_said(mode):
    for seed in range(30):
        balance = balance_log(make_log(seed, mode=mode, effect=1.0))
        assert set(balance.leave_out()) == {"5"}
        assert balance.find_dependent(0.01) == ["5"]


def test_the_number_of_columns_counts():
    several = {f"x{place}": 0.5 for place in range(9)} | {"z": 0.0008}
    assert not Balance({}, columns=several).leave_out()
    assert set(Balance({}, columns={"z": 0.0008, "x": 0.5}).leave_out()) == {"z"}


def test_what_the_policy_depended_on_stays_though_its_probabilities_are_wrong():
    log = make_log(3, taste=2.0)
    rows = len(log)
    likely = log.logging_probs[:, 1]
    wrong = 0.5 + 0.6 * (likely - 0.5)
    both = np.column_stack([1 - wrong, wrong])
    log = cf.Log(context=log.context, action=log.action, reward=log.reward, actions=[0, 1], logging_probs=both)
    balance = balance_log(log)
    assert len(log) == rows
    assert balance.columns["0"] < DEPENDS / 6
    assert "0" in balance.explained
    assert "0" not in balance.leave_out()


def test_an_outcome_is_not_explained_by_the_propensities():
    for seed in range(10):
        assert "5" not in balance_log(make_log(seed, effect=2.0, taste=2.0)).explained
