"""Few, outlying and usual rewards: what is said of them, where, and how rarely of clean logs."""

from functools import reduce
from operator import add

import numpy as np
import pytest

import counterfold as cf
from counterfold.diagnostics.few_rewards import FewRewards
from counterfold.diagnostics.outlying_rewards import KEPT, Ends, Least, OutlyingRewards
from counterfold.policies.given import as_target
from problems import diagnose
from reference.diagnostics import count_off_scale


def diagnose_rewards(rewards, target=0.5):
    """Return what is found of rewards whose rows all had two equally likely actions."""
    rows = len(rewards)
    log = cf.Log(action=np.arange(rows) % 2, reward=rewards, propensity=np.full(rows, 0.5))
    return diagnose(log, cf.Probabilities(np.broadcast_to(np.asarray(target, dtype=float), rows)))


def names(found):
    return [one.name for one in found.findings]


def clicks(*places, rows=1000):
    rewards = np.zeros(rows)
    rewards[list(places)] = 1.0
    return rewards


@pytest.mark.parametrize(("count", "said"), [(3, True), (7, True), (8, False), (40, False)])
def test_few_clicks_are_called_out(count, said):
    found = diagnose_rewards(clicks(*range(count)))
    assert found.effective_rewards == pytest.approx(count)
    assert found.top_row_share == pytest.approx(1 / count)
    assert found.top_five_share == pytest.approx(min(1, 5 / count))
    assert ("few-rewards" in names(found)) == said


def test_a_manager_understands_what_one_row_does():
    found = diagnose_rewards(clicks(*range(38)), np.where(np.arange(1000) == 4, 1.0, 0.04))
    [finding] = [one for one in found.findings if one.name == "few-rewards"]
    assert "one row supplies 40% of the answer, and without that row it changes by 39% (SNIPS)" in finding.problem
    assert found.value_without_top_row == pytest.approx(37 / 999)


def test_no_reward_at_all_on_what_the_target_does():
    odd = np.arange(1000) % 2
    found = diagnose_rewards(clicks(*range(0, 1000, 20)), odd)
    [problem] = found.reasons
    assert problem == "none of the 50 rewards other than 0 fell on what the target does"
    assert (found.effective_rewards, found.verdict) == (0.0, "caution")
    rare = diagnose_rewards(1 - clicks(*range(0, 1000, 20)), odd)
    assert rare.reasons == ("none of the 50 rewards other than 1 fell on what the target does",)


def test_a_target_that_never_acts_as_logged_has_no_rewards_either_and_that_is_said_once():
    found = diagnose_rewards(clicks(1, 2), 0.0)
    assert names(found) == ["effective-rows"]
    assert (found.effective_rewards, found.top_row_share) == (0.0, None)


def test_the_usual_reward_is_not_what_counts():
    rare = diagnose_rewards(5.0 - 3 * clicks(*range(40)))
    assert rare.effective_rewards == pytest.approx(40)
    assert "of what the answer differs from 5," in rare.texts["enough rewards"]
    even = diagnose_rewards(np.arange(1000.0) % 3)
    assert even.effective_rewards == pytest.approx(1000 * 1.0**2 / (5 / 3), rel=0.01)


@pytest.mark.parametrize("counts", [None, np.ones(1000)], ids=["all rows", "rows that are counted"])
@pytest.mark.parametrize(("place", "rows", "expected"), [(0, 800, 5.0), (200, 800, 5.0), (100, 799, 0.0)])
def test_the_usual_reward_is_that_of_four_fifths_of_the_rows(place, rows, expected, counts):
    """Whether it is the largest, the least or one between them."""
    rewards = np.linspace(-1.0, 10.0, 1000)
    rewards[place : place + rows] = 5.0
    log = cf.Log(action=np.arange(1000) % 2, reward=rewards, propensity=np.full(1000, 0.5), kept=counts)
    target = as_target(np.full(1000, 0.5), log)
    assert cf.Rows.of(log, target, None).usual_reward == expected


def test_a_single_weight_that_is_all_there_is():
    found = diagnose_rewards(clicks(0, 2), np.arange(1000) == 0)
    assert found.value_without_top_row is None
    assert "one row supplies 100% of the answer" in " ".join(found.reasons)


def with_values(*values, spread=4.0, rows=1000):
    rewards = spread * np.random.default_rng(0).random(rows)
    rewards[: len(values)] = values
    return rewards


def spoil(rewards, code, every=20):
    """Return rewards with a code in place of some of them."""
    return np.where(np.arange(len(rewards)) % every == every // 2, float(code), rewards)


STARS, PERCENTS = np.arange(1000) % 5 + 1.0, np.arange(1000) % 101

OUTLYING = {
    "one of 1e12": (with_values(1e12), 1),
    "two large ones": (with_values(1e9, 3e9), 2),
    "far below": (with_values(-1e6), 1),
    "-999 in some rows": (with_values(*[-999.0] * 10), 10),
    "-99 for ratings": (np.where(np.arange(1000) % 50 == 0, -99.0, np.arange(1000) % 5 + 1.0), 20),
    "-9 for clicks": (np.where(np.arange(1000) % 50 == 0, -9.0, clicks(*range(0, 999, 3))), 20),
    "-1 for clicks": (np.where(np.arange(1000) % 50 == 0, -1.0, np.arange(1000) % 3 == 0), 20),
    "codes at both ends": (with_values(-999.0, 9999.0), 2),
    "999999": (with_values(999999.0), 1),
    "largest whole number": (with_values(2147483647.0), 1),
    "repeated, no code": (with_values(*[100.0] * 3), 3),
    "8 for clicks": (spoil(clicks(*range(0, 999, 3)), 8), 50),
    "9 for clicks": (spoil(clicks(*range(0, 999, 3)), 9), 50),
    "99 for clicks": (spoil(clicks(*range(0, 999, 3)), 99), 50),
    "999 for clicks": (spoil(clicks(*range(0, 999, 3)), 999), 50),
    "5000 for clicks": (spoil(clicks(*range(0, 999, 3)), 5000), 50),
    "98 and 99 for clicks": (spoil(spoil(clicks(*range(0, 999, 3)), 98), 99, every=40), 75),
    "8 for stars": (spoil(STARS, 8), 50),
    "9 for stars": (spoil(STARS, 9), 50),
    "8 and 9 for stars": (spoil(spoil(STARS, 8), 9, every=40), 75),
    "-1 for stars": (spoil(STARS, -1), 50),
    "-1 and 9 for stars": (spoil(spoil(STARS, -1), 9, every=40), 75),
    "100 for stars": (spoil(STARS, 100), 50),
    "999 in one row of stars": (spoil(STARS, 999, every=1000), 1),
    "99 for halves of stars": (spoil(STARS / 2, 99), 50),
    "99 for 0 to 10": (spoil(np.arange(1000) % 11, 99), 50),
    "999 for percents, of which some are never there": (spoil(PERCENTS - (PERCENTS % 10 == 7), 999), 50),
}
"""Rewards that no reward can be, and in how many rows they are."""


@pytest.mark.parametrize("what", OUTLYING)
def test_outlying_rewards_are_called_out(what):
    rewards, rows = OUTLYING[what]
    found = diagnose_rewards(rewards)
    assert found.outlying_rewards == rows
    assert "outlying-rewards" in names(found)
    assert f"{rows} row" in next(one.problem for one in found.findings if one.name == "outlying-rewards")


HONEST = {
    "0 and 1": clicks(*range(0, 999, 3)),
    "-1 and 1": 2 * clicks(*range(0, 999, 3)) - 1,
    "1 to 5": np.arange(1000) % 5 + 1.0,
    "prices": np.resize([0, 0, 0, 9.0, 19, 49, 99, 199, 999], 1000),
    "refunds": np.where(np.arange(1000) % 50 == 0, -with_values(), with_values()),
    "-99 among others": with_values(*[-99.0] * 3, spread=99.0),
    "twice as large": with_values(40.0, 60.0),
    "two rewards": clicks(3) * 1e6,
    "clicks and purchases": spoil(clicks(*range(0, 999, 3)), 10),
    "clicks and large purchases": spoil(clicks(*range(0, 999, 3)), 100),
    "clicks, carts and purchases": spoil(spoil(clicks(*range(0, 999, 3)), 2), 50, every=40),
    "a few prices": np.resize([0, 0, 0, 0, 9.99, 19, 99], 1000),
    "two prices": np.resize([0, 0, 0, 0, 49, 99], 1000),
    "0 to 10": np.arange(1000) % 11,
    "counts": np.resize([0] * 60 + [1] * 25 + [2] * 10 + [3, 3, 3, 4, 4, 5], 1000) + 3.0 * (np.arange(1000) == 105),
    "story points": np.resize([1, 2, 3, 5, 8], 1000),
    "weights of events": np.resize([0, 0, 0, 1, 3, 9], 1000),
    "like, love and dislike": np.resize([-1, 1, 2], 1000),
    "likes of both signs": np.resize([-2, -1, 1, 2], 1000),
    "2 for clicks, next to 1": spoil(clicks(*range(0, 999, 3)), 2),
}


@pytest.mark.parametrize("what", HONEST)
def test_honest_rewards_are_not_called_outlying(what):
    found = diagnose_rewards(HONEST[what])
    assert (found.outlying_rewards, "outlying-rewards" in names(found)) == (0, False)


TAILS = {
    "student": lambda rng, rows: rng.standard_t(2.5, rows),
    "log-normal": lambda rng, rows: np.exp(2 * rng.standard_normal(rows)),
    "rare log-normal": lambda rng, rows: (rng.random(rows) < 0.05) * np.exp(1.2 * rng.standard_normal(rows)),
    "rare, in cents": lambda rng, rows: (rng.random(rows) < 0.05) * np.round(np.exp(2 * rng.standard_normal(rows)), 2),
    "whole": lambda rng, rows: np.round(rng.standard_t(2.5, rows)),
}


@pytest.mark.statistical
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize(("rows", "logs"), [(100, 500), (1000, 500), (10_000, 100), (100_000, 20)])
def test_heavy_tails_are_hardly_ever_called_outlying(tail, rows, logs):
    """Less than 1 % of such logs are; the largest share that we measured, of 4,000 logs, is 0.23 %."""
    rng, check = np.random.default_rng(rows), OutlyingRewards()
    several = [TAILS[tail](rng, rows) for _ in range(logs)]
    ends = [Ends(Least.of(rewards, KEPT), Least.of(-rewards, KEPT)) for rewards in several]
    assert sum(any(map(check.is_outlying, one.cut())) for one in ends) <= 0.01 * logs


COUNTS = {
    "poisson": lambda rng, rows: rng.poisson(rng.choice([0.05, 0.3, 1, 3, 20]), rows),
    "negative binomial": lambda rng, rows: rng.negative_binomial(rng.choice([0.1, 0.3, 1, 3]), 0.2, rows),
    "geometric": lambda rng, rows: rng.geometric(rng.choice([0.1, 0.3, 0.6]), rows) - 1,
    "whole dollars": lambda rng, rows: (rng.random(rows) < 0.05) * np.round(np.exp(2 + rng.standard_normal(rows))),
    "minutes": lambda rng, rows: np.round(rng.exponential(rng.choice([1, 5, 30]), rows)),
    "ratings": lambda rng, rows: rng.choice(11, rows, p=rng.dirichlet(np.full(11, 2.0))),
}


@pytest.mark.statistical
@pytest.mark.parametrize("kind", COUNTS)
@pytest.mark.parametrize(("rows", "logs"), [(100, 500), (1000, 300), (10_000, 50)])
def test_counts_are_hardly_ever_called_codes(kind, rows, logs):
    """Less than 1 % of such logs are; of 3,220 logs of each kind that we drew, 1 of log-normal ones was."""
    rng, check = np.random.default_rng(rows), OutlyingRewards()
    several = [np.asarray(COUNTS[kind](rng, rows), dtype=float) for _ in range(logs)]
    ends = [Ends(Least.of(rewards, KEPT), Least.of(-rewards, KEPT)) for rewards in several]
    assert sum(any(map(check.is_outlying, one.cut())) for one in ends) <= 0.01 * logs


@pytest.mark.parametrize("seed", range(200))
def test_codes_on_scales_against_naive_loop(seed):
    rng = np.random.default_rng(seed)
    scale = [[0, 1], [1, 2, 3, 4, 5], [1, 2, 3], [0, 0.5, 1], [0, 2], [0, 1, 3], list(range(12))][rng.integers(7)]
    rewards = rng.choice(scale, 400).astype(float)
    for code in rng.choice([-1, 7, 8, 9, 10, 77, 99, 500, 999, 5000], rng.integers(3), replace=False):
        rewards[rng.choice(400, rng.choice([1, 3, 40]), replace=False)] = code
    assert diagnose_rewards(rewards).outlying_rewards == count_off_scale(rewards.tolist())


@pytest.mark.statistical
@pytest.mark.parametrize("rows", [300, 1000, 10_000])
def test_rewards_of_many_rows_are_hardly_ever_few(rows):
    rng = np.random.default_rng(rows)
    draws = [lambda: rng.normal(size=rows), lambda: rng.standard_t(2.5, rows), lambda: rng.random(rows) < 0.1]
    found = [diagnose_rewards(draw()) for draw in draws for _ in range(70)]
    assert sum("few-rewards" in names(one) for one in found) <= 0.01 * len(found)


def test_which_rows_are_kept_does_not_depend_on_how_the_log_is_cut():
    weights, rewards = np.resize([1.0, 2.0, 4.0], 600), np.resize([4.0, 2.0, 1.0], 600)
    log = cf.Log(action=np.arange(600) % 2, reward=rewards, propensity=np.full(600, 0.125))
    rows, one = cf.Rows.of(log, as_target(weights / 8, log), None), FewRewards()
    parts = [one.observe(rows.take(slice(start, start + 7))) for start in range(0, 600, 7)]
    assert reduce(add, parts).top == one.observe(rows).top == ((4.0, 4.0, 1.0),) * 5
