"""What to do about an answer: each verdict and each place of the interval, and the size of an A/B test."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import counterfold as cf
from counterfold.diagnostics import Diagnostics, Finding
from counterfold.evaluation.design import Design
from counterfold.evaluation.next_step import LARGEST_TEST, SMALLEST_TEST, Trial, advise, round_up
from counterfold.log.contents import Contents

ROWS = 2000
REMEDIES = {
    "good": None,
    "undecided": "log more rows",
    "caution": "look at that row",
    "not answerable": "log some of what it would do",
}


def make_trial(difference, spread=1.0, rewards=None, group=None):
    """Return a trial of a difference whose contributions have this standard deviation."""
    rng = np.random.default_rng(0)
    rewards = rng.normal(size=ROWS) if rewards is None else rewards
    rewards = (rewards - rewards.mean()) / rewards.std()
    log = cf.Log(action=[0, 1] * (ROWS // 2), reward=rewards, propensity=np.full(ROWS, 0.5), group=group)
    noise = rng.normal(size=ROWS)
    gap = difference + spread * (noise - noise.mean()) / noise.std()
    return Trial(cf.Estimate("gap", gap), difference, cf.Estimate("log", rewards, log.group), Contents.of(log))


def judge(verdict):
    """Return diagnostics with this verdict."""
    remedy = REMEDIES[verdict]
    found = () if remedy is None else (Finding("some-check", verdict, "something is wrong", remedy),)
    return Diagnostics({}, {}, found)


@pytest.mark.parametrize(
    ("difference", "verdict", "action", "says"),
    [
        (
            0.5,
            "good",
            "ship",
            "Ship it: it would earn more than the log did. If a mistake would be costly, confirm it first",
        ),
        (0.055, "good", "A/B test", "before you ship it: it would earn more than the log did, but only just beyond"),
        (-0.5, "good", "do not ship", "Do not ship it: it would earn less than the log did."),
        (
            0.03,
            "good",
            "A/B test",
            "This log cannot tell: it may earn up to 0.0738 more than the log did, or 0.0138 less.",
        ),
        (0.03, "good", "A/B test", "which would find a gain of 0.03, or log about 5 times as many rows."),
        (1e-7, "good", "A/B test", "which would find a gain of 0.0438. This log cannot tell"),
        (-0.03, "good", "keep", "Keep what you have. This log cannot tell: it may earn up to 0.0138 more"),
        (-0.03, "good", "keep", "An A/B test that finds a gain of 0.0138 needs about 82,000 decisions per arm."),
        (-0.03, "undecided", "A/B test", "This log has too few rows to tell: it may earn up to 0.0138 more"),
        (0.0, "good", "keep", "Keep what you have. This log cannot tell"),
        (0.5, "caution", "check first", "Check first: look at that row. Then run an A/B test with about"),
        (-0.5, "caution", "check first", "do not ship it: it would seem to earn less"),
        (-0.03, "caution", "check first", "do not ship it: it would seem to earn less"),
        (0.0, "caution", "check first", "Check first: look at that row. Until then, do not ship it."),
        (
            0.5,
            "not answerable",
            "log more",
            "Do not ship it by this log, which cannot answer: log some of what it would do.",
        ),
    ],
)
def test_what_to_do(difference, verdict, action, says):
    step = advise(make_trial(difference), judge(verdict))
    assert step.action == action
    assert says in step.sentence
    assert step.sentence.endswith(".")


@pytest.mark.parametrize("verdict", ["caution", "not answerable"])
@pytest.mark.parametrize("difference", [-0.5, 0.0, 0.5])
def test_nothing_is_shipped_where_the_verdict_is_not_good(verdict, difference):
    step = advise(make_trial(difference), judge(verdict))
    assert step.action != "ship"
    assert not step.sentence.startswith("Ship")


def test_an_ab_test_of_that_size_has_the_power_against_theory():
    trial = make_trial(0.1)
    power = stats.norm.cdf(0.1 / np.sqrt(2 / trial.per_arm) - stats.norm.ppf(0.975))
    assert 0.8 <= power < 0.82
    power = stats.norm.cdf(0.1 / (trial.gap.stderr / np.sqrt(trial.times_rows)) - stats.norm.ppf(0.975))
    assert power == pytest.approx(0.8)


def test_clicks_vary_as_their_rate_says_against_theory():
    clicks = (np.arange(ROWS) % 20 == 0).astype(float)
    log = cf.Log(action=[0, 1] * (ROWS // 2), reward=clicks, propensity=np.full(ROWS, 0.5))
    trial = Trial(cf.Estimate("gap", np.full(ROWS, 0.03)), 0.08, cf.Estimate("log", clicks), Contents.of(log))
    needed = (0.05 * 0.95 + 0.08 * 0.92) * (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2 / 0.03**2
    assert needed <= trial.per_arm < 1.1 * needed


def test_the_size_of_a_test_against_statsmodels():
    power = pytest.importorskip("statsmodels.stats.power")
    trial = make_trial(0.1)
    normal = power.NormalIndPower().solve_power(0.1, alpha=0.05, power=0.8, ratio=1.0)
    student = power.TTestIndPower().solve_power(0.1, alpha=0.05, power=0.8, ratio=1.0)
    assert trial.per_arm == round_up(normal) == round_up(student)
    assert power.TTestIndPower().power(0.1, trial.per_arm, 0.05) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(("rate", "gain"), [(0.05, 0.03), (0.3, -0.1), (0.02, 0.004)])
def test_the_size_of_a_test_of_clicks_against_statsmodels(rate, gain):
    """The variances of two rates differ; the effect is in units of the root of their mean."""
    power = pytest.importorskip("statsmodels.stats.power")
    clicks = (np.arange(ROWS) < rate * ROWS).astype(float)
    log = cf.Log(action=[0, 1] * (ROWS // 2), reward=clicks, propensity=np.full(ROWS, 0.5))
    gap = cf.Estimate("gap", np.full(ROWS, gain))
    trial = Trial(gap, rate + gain, cf.Estimate("log", clicks), Contents.of(log))
    both = rate * (1 - rate) + (rate + gain) * (1 - rate - gain)
    needed = power.NormalIndPower().solve_power(gain / np.sqrt(both / 2), alpha=0.05, power=0.8, ratio=1.0)
    assert trial.per_arm == round_up(needed)
    sure = power.normal_power_het(abs(gain), trial.per_arm, 0.05, std_null=np.sqrt(both), alternative="two-sided")
    assert 0.8 <= sure < 0.83


def test_a_log_may_see_what_no_test_can():
    """Where two policies mostly do the same, their difference has hardly any noise on the same rows."""
    step = advise(make_trial(0.0002, spread=0.006), judge("good"))
    assert (step.action, step.per_arm > LARGEST_TEST, 1 < step.times_rows < 10) == ("log more", True, True)
    assert "log about 4 times as many rows. This log cannot tell" in step.sentence


def test_few_decisions_and_no_difference():
    assert make_trial(50.0).per_arm == SMALLEST_TEST
    assert make_trial(0.0, spread=0.0).per_arm is None
    for tiny in (1e-200, 5e-324):
        assert make_trial(tiny, spread=0.0).per_arm is None
        assert advise(make_trial(tiny), judge("good")).action == "keep"


def test_rows_of_a_group_that_are_alike_need_more_decisions():
    users = np.repeat(np.arange(ROWS // 20), 20)
    rewards = np.random.default_rng(1).normal(size=ROWS // 20)[users]
    assert make_trial(0.1, rewards=rewards, group=users).per_arm == pytest.approx(
        20 * make_trial(0.1, rewards=rewards).per_arm, rel=0.1
    )


@pytest.mark.parametrize("rows", [300, 2000, 30_000])
def test_the_same_size_of_a_test_is_proposed_whatever_the_size_of_the_log(rows):
    """A test of 50,000 decisions per arm is proposed for a small log and for a large one alike."""
    rng = np.random.default_rng(rows)
    rewards = rng.normal(size=rows)
    rewards = (rewards - rewards.mean()) / rewards.std()
    log = cf.Log(action=np.arange(rows) % 2, reward=rewards, propensity=np.full(rows, 0.5))
    gain = 0.0177
    gap = cf.Estimate("gap", gain + rewards * gain * np.sqrt(rows))
    step = advise(Trial(gap, gain, cf.Estimate("log", rewards), Contents.of(log)), judge("good"))
    assert (step.action, step.per_arm, step.effect) == ("A/B test", 51_000, pytest.approx(gain))


def test_the_effect_of_a_test_is_the_largest_gain_that_is_possible_where_the_estimate_is_none():
    trial = make_trial(-0.03)
    assert trial.effect == pytest.approx(trial.gap.interval().high)
    assert trial.per_arm == trial.count_per_arm(trial.gap.interval().high)
    assert make_trial(0.03).effect == pytest.approx(0.03)
    assert make_trial(-0.5).effect == pytest.approx(-0.5)


@pytest.mark.parametrize(
    ("verdict", "level", "action"),
    [("good", None, "keep"), ("good", 1.0, "keep"), ("good", 0.1, "A/B test"), ("undecided", None, "A/B test")],
)
def test_a_gain_that_matters_is_tested_against_the_estimate(verdict, level, action):
    """The largest gain that is possible is 0.0138, 1.4 % or 14 % of the level of the rewards."""
    found = judge(verdict)
    measured = Diagnostics({"reward_level": level}, {}, found.findings)
    assert advise(make_trial(-0.03), measured).action == action


@pytest.mark.parametrize(("difference", "action"), [(0.5, "ship"), (0.055, "A/B test"), (0.03, "A/B test")])
def test_no_test_is_advised_where_the_log_is_a_larger_trial(difference, action):
    """A test needs 100 decisions per arm for 0.5, and 5,200 for 0.055; the log is worth 1,000 of the target."""
    trial = make_trial(difference)
    inside = replace(trial, design=Design(is_trial=True, effective_rows=1000.0))
    for known in (trial, replace(trial, design=Design(is_trial=False, effective_rows=1000.0)), inside):
        step = advise(known, judge("good"))
        assert step.action == action
        assert ("A/B test" in step.sentence) or known is inside
    is_larger = inside.per_arm <= 1000
    assert ("confirm it first" in step.sentence) == (action == "ship" and not is_larger)
    assert ("The log is a randomised trial itself" in step.sentence) == is_larger


def test_a_larger_trial_is_logged_on_or_kept():
    """With 100,000 effective rows of each policy no test of 17,000 decisions per arm says more."""
    design = Design(is_trial=True, effective_rows=100_000.0)
    for difference, action in ((0.03, "log more"), (-0.03, "keep"), (0.055, "ship")):
        step = advise(replace(make_trial(difference), design=design), judge("good"))
        assert step.action == action
        assert "The log is a randomised trial itself" in step.sentence
        assert "Run an A/B test" not in step.sentence


def test_the_same_policy_is_neither_shipped_nor_tested():
    trial = replace(make_trial(0.5), design=Design(is_same_policy=True))
    for verdict in ("good", "undecided", "caution"):
        step = advise(trial, judge(verdict))
        assert (step.action, step.per_arm) == ("keep", None)
        assert "it is the same policy" in step.sentence


def test_answers_and_comparisons_say_what_to_do():
    rng = np.random.default_rng(0)
    action = rng.integers(2, size=ROWS)
    log = {"action": np.array(["a", "b"])[action], "reward": action + rng.normal(size=ROWS), "propensity": [0.5] * ROWS}
    found = cf.compare(log, {"a": "a", "b": "b"}, baseline="b")
    assert found["b"].next_step.action == "ship"
    assert found["a"].next_step.action == found.advise("a").action == "do not ship"
    assert "`b` would" in found.advise("a").sentence
    assert found["b"].next_step.per_arm == SMALLEST_TEST


def test_rows_for_an_interval_of_some_width():
    """What is promised for a quarter of the width comes true on a log of as many rows."""
    rng = np.random.default_rng(0)

    def draw_log(rows):
        action = rng.integers(2, size=rows)
        return cf.Log(action=action, reward=action + rng.normal(size=rows), propensity=np.full(rows, 0.5))

    found = cf.evaluate(draw_log(500), 1, progress=False)
    low, high = found.uplift().interval()
    assert found.count_rows(high - low) in {500, 501}
    needed = found.count_rows((high - low) / 4)
    assert needed == pytest.approx(8000, abs=1)
    low_then, high_then = cf.evaluate(draw_log(needed), 1, progress=False).uplift().interval()
    assert high_then - low_then == pytest.approx((high - low) / 4, rel=0.15)
    with pytest.raises(cf.ParameterError, match="`width` must be a finite number above 0, got -1"):
        found.count_rows(-1.0)
