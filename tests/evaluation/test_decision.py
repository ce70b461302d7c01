"""Several policies together: intervals that hold at once, who may be the best, what to choose, on every engine."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binomtest, chi2, norm, t

import counterfold as cf
from counterfold.estimators.estimates import Exposure, Moves
from counterfold.estimators.unseen_rewards import Chance, Unseen
from counterfold.evaluation.decision import Field
from counterfold.evaluation.joint import COMMON_ERROR_FREEDOM, find_each_level
from counterfold_lab.selection.bandits import Bandit
from reference import decision as naive

ROWS = 400


def make_field(columns, baseline=None):
    """Return a field of policies by their contributions; the first column is what the log earned."""
    logged, *targets = (cf.Estimate(str(place), column) for place, column in enumerate(columns))
    return Field(logged, {one.name: one for one in targets}, baseline, 0)


def draw_columns(count, correlation, seed=0, rows=ROWS):
    """Return what the log earned, which is always 0, and contributions of policies that are correlated."""
    rng = np.random.default_rng(seed)
    own, common = rng.standard_normal((count, rows)), rng.standard_normal(rows)
    return np.vstack([np.zeros(rows), np.sqrt(1 - correlation) * own + np.sqrt(correlation) * common])


def find_theory(count):
    """Return the level of each of some independent errors with a common factor: Student's t of several variables."""

    def hold(reach):
        squares = np.linspace(0.0, 60.0, 20_001)
        inside = (2 * norm.cdf(reach * np.sqrt(squares / COMMON_ERROR_FREEDOM)) - 1) ** count
        return np.trapezoid(chi2.pdf(squares, COMMON_ERROR_FREEDOM) * inside, squares)

    reach = brentq(lambda reach: hold(reach) - 0.95, 1.0, 30.0)
    return 2 * norm.cdf(norm.ppf(0.975) * reach / t.ppf(0.975, COMMON_ERROR_FREEDOM)) - 1


@pytest.mark.parametrize("count", [2, 10, 50])
def test_the_level_of_independent_differences_against_theory(count):
    found = make_field(draw_columns(count, 0.0, rows=20_000)).each_level
    assert norm.ppf((1 + found) / 2) == pytest.approx(norm.ppf((1 + find_theory(count)) / 2), rel=0.03)


def test_all_draws_follow_from_the_seed():
    """Another seed draws the common factor anew, even if the errors are the same, and moves the level a little."""
    errors = np.abs(np.random.default_rng(0).standard_normal(20_000))
    several = [find_each_level(errors, 0.95, tails=2, seed=seed) for seed in (0, 0, 1)]
    assert several[0] == several[1] != several[2]
    assert several[0] == pytest.approx(several[2], abs=0.01)


def test_equal_policies_cost_nothing():
    columns = draw_columns(1, 0.0)
    field = make_field(np.vstack([columns, columns[1:], columns[1:]]))
    assert field.each_level == pytest.approx(0.95, abs=0.005)
    assert field.find_probabilities()[1:] == pytest.approx([field.find_probabilities()[1]] * 3, abs=0.02)


def test_level_and_probabilities_against_a_naive_bootstrap():
    columns = draw_columns(3, 0.7, rows=100) + np.array([[0.0], [0.1], [0.0], [0.15]])
    field = make_field(columns)
    reach = naive.find_reach(columns[1:].tolist(), columns[0].tolist(), (0.95, COMMON_ERROR_FREEDOM), 4000, 1)
    wider = norm.ppf((1 + field.each_level) / 2) / norm.ppf(0.975)
    assert wider == pytest.approx(reach / t.ppf(0.975, COMMON_ERROR_FREEDOM), rel=0.05)
    expected = naive.find_probabilities(columns[1:].tolist(), columns[0].tolist(), 4000, 2)
    assert field.find_probabilities() == pytest.approx(expected, abs=0.03)


def test_a_baseline_among_the_targets_is_the_log_of_the_others():
    columns = draw_columns(4, 0.3) + np.arange(5)[:, None] / 10
    field = make_field(np.vstack([columns[2:3], columns[0:1], columns[1:2], columns[3:]]), baseline="1")
    assert list(field.gaps) == ["2", "3", "4"]
    alone = make_field(np.delete(columns, 2, axis=0))  # the log that is no baseline is no comparison
    assert field.each_level == pytest.approx(alone.each_level, abs=0.003)
    assert field.home == 1
    assert sum(field.find_probabilities()) == pytest.approx(1.0)


def test_moves_and_what_is_left_of_biases_tell_what_is_common():
    columns, rng = draw_columns(2, 0.0), np.random.default_rng(3)
    weights = [np.ones(ROWS), *np.tile(rng.exponential(size=ROWS), (2, 1))]
    moves = [np.zeros(30), *np.tile(rng.standard_normal(30) / 100, (2, 1))]
    estimates = [
        replace(cf.Estimate("", column), moves=Moves("units", own), exposure=Exposure(weight, float(ROWS)))
        for column, own, weight in zip(columns, moves, weights, strict=True)
    ]
    biased = [replace(one, bias_variance=0.01 * (place > 0)) for place, one in enumerate(estimates)]
    alike = Field(biased[0], {"a": biased[1], "b": biased[2]}, None, 0)
    assert alike.each_level == pytest.approx(0.95, abs=0.005)
    other = replace(biased[2], exposure=Exposure(rng.exponential(size=ROWS), float(ROWS)))
    apart = Field(biased[0], {"a": biased[1], "b": other}, None, 0)
    assert apart.each_level == pytest.approx(find_theory(2), abs=0.003)


def test_what_was_not_seen_is_not_common_to_policies():
    """Three policies without a single reward: noise shows nothing, and what may be missed is that of each alone."""
    unseen, weights = Unseen((Chance(100.0, 0.0, 1.0),), (0.0, 1.0)), np.repeat(np.eye(3), 100, axis=1) * 3
    logged = replace(cf.Estimate("log", np.zeros(300)), exposure=Exposure(np.ones(300), 300.0))
    targets = {
        name: replace(cf.Estimate(name, np.zeros(300)), unseen=unseen, exposure=Exposure(line, 300.0))
        for name, line in zip("abc", weights, strict=True)
    }
    field = Field(logged, targets, None, 0)
    assert field.each_level == pytest.approx(find_theory(3), abs=0.002)
    for name, gap in field.widened.items():
        assert gap.interval().high > field.gaps[name].interval().high > 0.01
    assert field.find_probabilities()[1:] == pytest.approx([1 / 3] * 3, abs=0.2)
    assert all(field.may_be_best(place) for place in range(4))


@pytest.fixture(scope="module")
def log():
    """Return a log of four items by coin flips: c and d earn more than the others, nearly the same."""
    rng = np.random.default_rng(0)
    item = rng.integers(4, size=4000)
    earned = np.array([1.0, 1.2, 1.5, 1.48])[item] + rng.normal(size=4000)
    return {"item": np.array(list("abcd"))[item], "earned": earned, "propensity": np.full(4000, 0.25)}


@pytest.mark.parametrize("selector", ["default", "ocv"])
def test_the_choice_of_an_engine_is_that_of_the_others(log, tmp_path, selector):
    import pyarrow as pa
    import pyarrow.parquet

    pa.parquet.write_table(pa.table(log), tmp_path / "log.parquet")
    asked = {"action": "item", "reward": "earned", "selector": selector, "progress": False}
    asked |= {} if selector == "default" else {"candidates": ["snips", "ips"]}
    found = {
        engine: cf.compare(tmp_path / "log.parquet", list("abcd"), engine=engine, **asked).decision
        for engine in ("memory", "local")
    }
    one, other = found["memory"], found["local"]
    assert one.choice == other.choice
    assert one.choice in {"c", "d"}
    assert {*one.contenders} == {*other.contenders} == {"c", "d"}
    assert one.each_level == pytest.approx(other.each_level, abs=0.003)
    for mine, theirs in zip(one.standings, other.standings, strict=True):
        assert mine.probability_best == pytest.approx(theirs.probability_best, abs=0.03)


def test_a_comparison_says_what_is_safe(log):
    asked = {"action": "item", "reward": "earned", "progress": False}
    found = cf.compare(log, list("abcd"), **asked)
    for line in found.table:
        low, high = line.simultaneous
        assert low < line.low < line.value < line.high < high
    lows = {line.target: line.simultaneous.low for line in found.table}
    assert found.decision.choice == max(lows, key=lows.get)
    assert found.decision == cf.compare(log, list("abcd"), **asked).decision
    best = cf.compare(log, list("abcd"), baseline="c", **asked)
    assert best.decision.choice is None
    assert [one.policy for one in best.decision.standings] == ["log", *"abcd"]
    alone = cf.compare(log, ["c"], **asked)
    assert alone.table[0].simultaneous is None
    assert alone.decision.each_level == 0.95
    assert alone.decision.choice == "c"


def test_policies_that_the_log_cannot_answer_for_take_no_part(log):
    never = log | {"logging_probs": [[0.25, 0.25, 0.25, 0.25, 0.0]] * 4000}
    del never["propensity"]
    asked = {"action": "item", "reward": "earned", "actions": list("abcde"), "progress": False}
    with pytest.warns(cf.SupportWarning):
        found = cf.compare(never, {"a": "a", "b": "b", "c": "c", "never": "e"}, **asked)
    assert [one.policy for one in found.decision.standings] == ["log", "a", "b", "c"]
    assert {line.target for line in found.table if line.simultaneous is None} == {"never"}
    with pytest.warns(cf.SupportWarning):
        nothing = cf.compare(never, {"never": "e", "c": "c"}, baseline="never", **asked)
    assert nothing.decision is None
    assert nothing.to_dict()["decision"] is None


def test_a_step_allows_for_all_comparisons():
    """A gain that is just beyond chance alone is not shipped where it is one of many."""
    rng = np.random.default_rng(0)
    action, count = rng.integers(2, size=2000), 30
    reward = 1 + rng.normal(size=2000)
    log = {"action": action, "reward": reward, "propensity": np.full(2000, 0.5)}
    targets = {str(one): np.eye(2)[rng.integers(2, size=2000)] for one in range(count)}
    found = cf.compare(log, targets, progress=False)
    lucky = [name for name, gap in found.differences.items() if gap.interval().low > 0]
    assert lucky
    assert found.decision.choice is None
    assert {found.advise(name).action for name in lucky} <= {"keep", "log more", "A/B test"}
    assert {found[name].next_step.action for name in lucky} <= {"ship", "A/B test"}


@pytest.mark.statistical
@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_all_intervals_hold_and_the_best_is_a_contender_as_often_as_they_say(correlation):
    """Of 500 logs, both hold in 95 % at least, with an error rate of 1e-4; equal policies are the hardest case."""
    held = best = 0
    for seed in range(500):
        field = make_field(draw_columns(10, correlation, seed, 200))
        held += all(gap.interval().low <= 0 <= gap.interval().high for gap in field.widened.values())
        best += field.may_be_best(1)
    assert binomtest(held, 500, 0.95, alternative="less").pvalue > 1e-4
    assert binomtest(best, 500, 0.95, alternative="less").pvalue > 1e-4


def test_policies_of_a_bandit_that_is_known():
    """On a log that is large enough, the contenders hold the best policy, and the choice is better than the log."""
    bandit = Bandit(rows=3000, actions=4, reward="binary", logging_beta=0.0)
    problem = bandit.draw_problem(5)
    worst = 1 - problem.target
    targets = {"good": problem.target, "bad": worst / worst.sum(axis=1, keepdims=True)}
    found = cf.compare(problem.log, targets, progress=False)
    assert found.decision.choice == "good"
    assert found.decision.contenders == ["good"]


@pytest.mark.parametrize(("ahead", "may_be"), [(1.8, True), (2.4, False)])
def test_copies_of_a_policy_do_not_make_it_harder_to_rule_out(ahead, may_be):
    logged, good, bad = ((one - one.mean()) / one.std() for one in draw_columns(3, 0.0)[1:])
    better = good + ahead * np.sqrt(2 / ROWS)  # by so many standard errors of the difference
    for copies in (1, 40):
        assert make_field(np.vstack([logged - 1, better, *[bad] * copies])).may_be_best(2) == may_be
