"""Wrong propensities are found without rewards, clean logs are hardly ever alarmed, and sums need no order."""

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from scipy.stats import binomtest

import counterfold as cf
from counterfold.base.validation import Checker
from counterfold.diagnostics.outcome_context import OutcomeContext
from counterfold.diagnostics.propensities import Propensities
from counterfold.log.assignment import BalanceStream, balance_log
from counterfold.simulation import draw_actions, softmax
from counterfold_lab.selection.bandits import FAMILIES, draw_bandit
from wrong_propensities import CASES, draw_log

MODES = ("all probabilities", "propensities alone")


def make_log(seed=0, rows=600, mode="all probabilities", **more):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    logging = softmax(x @ rng.normal(size=(3, 4)))
    action = draw_actions(logging, rng.random(rows))
    known = {"logging_probs": logging}
    if mode != "all probabilities":
        known = {"propensity": logging[np.arange(rows), action]}
    given = {"context": x, "action": action, "reward": rng.normal(size=rows), "actions": range(4)}
    return given | known | more


@pytest.mark.parametrize("mode", MODES)
def test_batches_do_not_matter(mode):
    given = make_log(mode=mode)
    log = cf.Log(**given)
    stream = BalanceStream.of(log, len(log))
    several = []
    for start in range(0, 600, 130):
        place = slice(start, start + 130)
        some = {name: value if name == "actions" else value[place] for name, value in given.items()}
        several.append(stream.sums(cf.Log(**some, check=Checker(np.arange(600)[place]))))
    whole, cut = balance_log(log), stream.solve(reduce(add, several))
    assert cut.general.p == pytest.approx(whole.general.p)
    assert cut.columns == pytest.approx(whole.columns)


@pytest.mark.parametrize("mode", MODES)
def test_units_and_origins_of_columns_do_not_matter(mode):
    given = make_log(mode=mode)
    other = balance_log(cf.Log(**given | {"context": 1e6 + 1e-3 * given["context"]}))
    assert other.columns == pytest.approx(balance_log(cf.Log(**given)).columns, rel=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_actions_may_be_called_anything(mode):
    given = make_log(mode=mode)
    names = np.array(["pear", "fig", "kiwi", "plum"])
    named = cf.Log(**given | {"action": names[given["action"]], "actions": names})
    assert balance_log(named).general.p == pytest.approx(balance_log(cf.Log(**given)).general.p)


@pytest.mark.parametrize("mode", MODES)
def test_rows_of_a_group_may_have_been_decided_together(mode):
    given = make_log(mode=mode, rows=100)
    repeated = {name: one if name == "actions" else np.repeat(one, 20, axis=0) for name, one in given.items()}
    grouped = balance_log(cf.Log(**repeated, group=np.repeat(np.arange(100), 20)))
    assert grouped.general.p > 0.01
    assert mode == "propensities alone" or balance_log(cf.Log(**repeated)).general.p < 0.01
    assert grouped.columns == pytest.approx(balance_log(cf.Log(**given)).columns)


def test_doses_are_not_tested():
    doses = cf.Log(dose=np.arange(20.0) % 7, reward=np.arange(20.0) % 3, propensity=np.full(20, 0.1))
    assert balance_log(doses).general is None


def test_a_long_log_is_sampled(monkeypatch):
    monkeypatch.setattr("counterfold.log.assignment.ENOUGH", 64 * 300)
    monkeypatch.setattr("counterfold.log.assignment.LEAST", 100)
    log = cf.Log(**make_log(rows=3000))
    stream = BalanceStream.of(log, len(log))
    assert stream.sums(log).columns.rows == pytest.approx(300, abs=60)
    first = cf.Log(**make_log(rows=2), check=Checker(np.arange(2)))
    assert stream.sums(first) is None
    assert stream.solve(None).reasons == {}


def test_an_action_that_is_not_always_available_is_no_mistake():
    rng = np.random.default_rng(1)
    there = np.column_stack([np.ones((4000, 2), dtype=bool), np.arange(4000) > 2000])
    logging = there / there.sum(axis=1, keepdims=True)
    action = draw_actions(logging, rng.random(4000))
    given = {"action": action, "reward": rng.normal(size=4000), "propensity": logging[np.arange(4000), action]}
    assert balance_log(cf.Log(**given)).general.p > 0.05
    assert balance_log(cf.Log(**given, available=there)).general.p > 0.05
    wrong = np.where(action == 2, given["propensity"] / 1.5, given["propensity"])
    assert balance_log(cf.Log(**given | {"propensity": wrong}, available=there)).general.p < 0.001


def test_rounded_probabilities_of_a_very_long_log_are_no_mistake():
    rng = np.random.default_rng(2)
    logging = softmax(rng.normal(size=(200_000, 3)))
    log = cf.Log(
        action=draw_actions(logging, rng.random(200_000)),
        reward=rng.normal(size=200_000),
        logging_probs=np.round(logging, 4) * (1 + 5e-4 * np.array([1.0, -1.0, 0.0])),
        actions=range(3),
    )
    assert balance_log(log).general.p > 0.01


def test_a_probability_that_is_next_to_nothing_is_a_mistake():
    given = make_log(rows=300)
    probs = given["logging_probs"].copy()
    probs[7, given["action"][7]] = 1e-9
    found = balance_log(cf.Log(**given | {"logging_probs": probs / probs.sum(axis=1, keepdims=True)}))
    assert found.general.p < 1.0  # a single row proves little, and must not fail


@pytest.mark.statistical
@pytest.mark.parametrize("mode", MODES)
def test_clean_logs_are_alarmed_in_less_than_half_a_percent_of_cases(mode):
    alarms, trials = {"propensities": 0, "outcome-context": 0}, 0
    for family in FAMILIES:
        for number in range(0, 90, 3):  # development problems
            bandit = draw_bandit(family, number)
            clean = replace(bandit, propensity_noise=0.0, rows=min(bandit.rows, 3000), actions=min(bandit.actions, 100))
            rng = np.random.default_rng([17, number])
            x = rng.standard_normal((clean.rows, 5))
            scores = clean.draw_scores(rng)(x)
            logging = softmax(clean.logging_beta * scores[1]) * (1 - clean.exploration)
            logging += clean.exploration / clean.actions
            action = draw_actions(logging, rng.random(clean.rows))
            known = {"logging_probs": logging}
            if mode == "propensities alone":
                known = {"propensity": logging[np.arange(clean.rows), action]}
            reward = rng.normal(size=clean.rows)
            found = balance_log(cf.Log(context=x, action=action, reward=reward, actions=range(clean.actions), **known))
            alarms["propensities"] += found.general.p < Propensities().alarm
            alarms["outcome-context"] += found.columns_p < OutcomeContext().alarm
            trials += 1
    for count in alarms.values():
        assert binomtest(int(count), trials, 0.005, alternative="greater").pvalue > 0.001


@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES)
def test_wrong_propensities_are_found(case):
    found = 0
    for seed in range(40):
        balance = balance_log(draw_log(case, seed)[0])
        found += min(balance.general.p, balance.columns_p) < Propensities().alarm
    assert binomtest(found, 40, CASES[case], alternative="less").pvalue > 0.001


@pytest.mark.parametrize("by", ["action", "reward", "-reward"])
def test_a_log_that_is_sorted_by_what_came_of_it_has_no_course(by):
    rng = np.random.default_rng(0)
    action, reward = rng.integers(3, size=900), rng.normal(size=900)
    order = np.argsort({"action": action, "reward": reward - action, "-reward": action - reward}[by], kind="stable")
    probs = np.full((900, 3), 1 / 3)
    columns = {"action": action[order], "reward": (reward - action)[order], "actions": range(3)}
    assert balance_log(cf.Log(**columns, logging_probs=probs)).general.p > 0.01
    assert balance_log(cf.Log(**columns, propensity=np.full(900, 1 / 3))).general.p > 0.01


@pytest.mark.parametrize("full", [True, False])
def test_a_policy_that_changed_on_the_way_is_seen(full):
    rng = np.random.default_rng(0)
    action = (rng.random(2000) < np.where(np.arange(2000) < 1000, 0.3, 0.7)).astype(int)
    known = {"logging_probs": np.full((2000, 2), 0.5)} if full else {"propensity": np.full(2000, 0.5)}
    found = balance_log(cf.Log(action=action, reward=rng.normal(size=2000), actions=[0, 1], **known)).general
    assert found.p < 1e-6
    assert found.what.startswith("they changed in the course of the log")
