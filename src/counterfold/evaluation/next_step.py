"""NextStep: what to do about an answer, from its difference to what was earned, its verdict and the rewards."""

import math
from dataclasses import dataclass, field
from typing import Literal

from scipy.special import ndtri  # and not scipy.stats, which takes long to import

from counterfold.base.cached import cached_property
from counterfold.diagnostics import Diagnostics
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation.design import Design
from counterfold.intervals.base import Bounds
from counterfold.log.contents import Contents

Action = Literal["ship", "A/B test", "check first", "log more", "do not ship", "keep", "evaluate"]

TEST_LEVEL = 0.05
"""The two-sided level of the A/B test that is planned."""

TEST_POWER = 0.8
"""The probability with which the A/B test shows the difference that it is planned for."""

Z_LEVEL = float(ndtri(1 - TEST_LEVEL / 2))
"""How many standard errors an estimated difference must be from 0 to be shown."""

Z_POWER = float(ndtri(TEST_POWER))
"""How many more standard errors the true difference must be from 0 to be shown with the power of the test."""

SMALLEST_TEST = 100
"""The decisions per arm of the smallest A/B test. With fewer, means are not normal."""

LARGEST_TEST = 1_000_000
"""The decisions per arm of the largest A/B test that is proposed, whatever the size of the log."""

MAX_TIMES_ROWS = 10
"""A log that would have to be more than this many times as large is not proposed."""

WORTHWHILE_GAIN = 0.1
"""If the estimate is no gain, an A/B test needs a possible gain of at least this part of the level of the rewards."""

MOST_ROWS_NEEDED = 1e12
"""A difference that needs more decisions than this to be shown is too small to act on.

It is below 1e-5 standard deviations of the rewards, which rounding of probabilities in single precision may cause.
"""

TRIAL_IN_LOG = "The log is a randomised trial itself, and larger than the A/B test that would show this difference."
"""The reason why no test is proposed."""


@dataclass(frozen=True)
class NextStep:
    """What to do now.

    The numbers are None where the log cannot answer, or where there is no difference to show.
    """

    action: Action
    """The step in a word or two.

    `keep` also where there is nothing to decide, because the target is the policy that logged. `evaluate` follows a
    check alone and appears in its report only.
    """

    sentence: str
    """The step in words, with what to do first."""

    per_arm: int | None = None
    """How many decisions each arm of an A/B test needs to show the `effect`; null where there is none to show.

    This is for a two-sided level of 5 % and a power of 80 %.
    """

    times_rows: float | None = None
    """How many times as many rows a log like this one needs to show the estimated difference with a power of 80 %."""

    effect: float | None = None
    """The difference that the A/B test is planned for; null where there is none to show.

    It is the estimated difference, or the largest gain that the log leaves possible where the estimate is no gain or
    needs too large a test.
    """


@dataclass(frozen=True, eq=False)
class Trial:
    """An A/B test that is to show a difference, planned with the rewards of the log.

    - `gap`: the difference to show.
    - `value`: what the target would earn, by the answer that differences are computed from.
    - `logged`: what the log earned. If rows of a group are alike, its error includes the design effect of grouping.
    - `contents`: the contents of the log.
    - `design`: how the log assigned actions.
    """

    gap: Estimate
    value: float
    logged: Estimate
    contents: Contents
    design: Design = field(default_factory=Design)

    @property
    def planned_gap(self) -> float:
        """Return the estimated difference, which tests are planned for if they can show it."""
        return self.gap.value

    @cached_property
    def possible(self) -> Bounds:
        """Return the smallest and the largest difference that the log leaves possible."""
        return self.gap.interval()

    @cached_property
    def effect(self) -> float:
        """Return the difference that a test should show.

        It is the estimated one if the interval excludes 0, or if it is a gain that a test can show. Otherwise it is the
        largest gain that the log leaves possible.
        """
        low, high = self.possible
        if low > 0 or high < 0:
            return self.planned_gap
        if self.planned_gap > 0 and is_test_possible(self.count_per_arm(self.planned_gap)):
            return self.planned_gap
        return high

    def find_variance(self, mean: float) -> float:
        """Return the variance of rewards with this mean.

        If rewards have two values, their mean determines their variance. Otherwise it is that of the log.
        """
        rewards = self.contents.rewards
        variance_of_log = rewards.squares / rewards.weight
        design_effect = 1.0
        if self.contents.groups is not None:
            design_effect = self.logged.shown_variance * rewards.effective / variance_of_log
        variance = variance_of_log
        if rewards.is_two_valued:
            variance = (rewards.high - mean) * (mean - rewards.low)
        return max(variance, 0.0) * max(design_effect, 1.0)

    def count_per_arm(self, effect: float) -> int | None:
        r"""Return how many decisions each of two equal arms needs for a two-sided z-test of their means, rounded up.

        $$n = (\sigma_0^2 + \sigma_1^2) (z_{1 - \alpha / 2} + z_{1 - \beta})^2 / \Delta^2$$
        """
        baseline = self.value - self.gap.value
        variance = self.find_variance(baseline + effect) + self.find_variance(baseline)
        needed = count_needed(math.sqrt(variance) * (Z_LEVEL + Z_POWER), effect)
        return None if needed is None else max(SMALLEST_TEST, round_up(needed))

    @cached_property
    def per_arm(self) -> int | None:
        """Return how many decisions each arm of a test needs to show its effect."""
        return self.count_per_arm(self.effect)

    @cached_property
    def times_rows(self) -> float | None:
        """Return how many times as many rows of the log would show the estimated difference.

        It uses the actual distance of the interval's end from the estimate, towards 0. Where rewards are skewed, that
        is more than for a normal interval.
        """
        low, high = self.possible
        distance_to_end = self.gap.value - low if self.gap.value > 0 else high - self.gap.value
        return count_needed(distance_to_end + Z_POWER * self.gap.stderr, self.gap.value)

    @property
    def is_same(self) -> bool:
        """Say whether both policies are the same: rewards vary, and yet no difference but 0 is possible."""
        return self.design.is_same_policy or (self.possible == (0.0, 0.0) and self.contents.rewards.squares > 0)

    @property
    def is_feasible(self) -> bool:
        """Say whether a test can show its effect."""
        return is_test_possible(self.per_arm)

    @property
    def is_in_log(self) -> bool:
        """Say whether the log is a randomised trial itself, and worth more decisions of both policies than the test."""
        return self.design.is_trial and self.per_arm is not None and self.design.effective_rows >= self.per_arm

    def is_gain_worthwhile(self, reward_level: float | None) -> bool:
        """Say whether a possible gain is a large enough part of the level of the rewards, if that is known."""
        return reward_level is not None and self.possible.high >= WORTHWHILE_GAIN * reward_level

    def __str__(self) -> str:
        if not self.is_feasible:
            return "an A/B test"
        power = f"{100 * TEST_LEVEL:g} % level, {100 * TEST_POWER:g} % power"
        return f"an A/B test with about {self.per_arm:,} decisions per arm ({power})"

    def propose(self, action: Action, sentence: str) -> NextStep:
        """Return a step, with what a test needs."""
        return NextStep(
            action=action,
            sentence=sentence,
            per_arm=self.per_arm,
            times_rows=self.times_rows,
            effect=None if self.per_arm is None else self.effect,
        )


def is_test_possible(per_arm: int | None) -> bool:
    """Say whether an A/B test of this size is proposed."""
    return per_arm is not None and per_arm <= LARGEST_TEST


def advise(trial: Trial, diagnostics: Diagnostics, baseline: str = "the log did") -> NextStep:
    """Return what to do about a target. A target is shipped only if its verdict is good."""
    low, high = trial.possible
    if diagnostics.verdict == "not answerable":
        remedy = diagnostics.findings[0].remedy
        return NextStep("log more", f"Do not ship it by this log, which cannot answer: {remedy}.")
    if trial.is_same:
        return NextStep("keep", f"There is nothing to decide: it is the same policy, and would earn what {baseline}.")
    if diagnostics.verdict == "caution":
        return advise_on_caution(trial, diagnostics, baseline)
    if low > 0:
        return advise_on_gain(trial, baseline)
    if high < 0:
        return advise_on_loss(trial, baseline)
    return advise_on_doubt(trial, diagnostics, baseline)


def advise_on_caution(trial: Trial, diagnostics: Diagnostics, baseline: str) -> NextStep:
    """Return what to do if something must be checked before the answer counts."""
    then = "Until then, do not ship it."
    if trial.planned_gap < 0 and trial.count_per_arm(trial.planned_gap) is not None:
        then = f"Until then, do not ship it: it would seem to earn less than {baseline}."
    elif trial.planned_gap > 0 and trial.is_feasible:
        then = f"Then run {trial} before you ship it."
    return trial.propose("check first", f"{advise_on_log(diagnostics).sentence} {then}")


def advise_on_gain(trial: Trial, baseline: str) -> NextStep:
    """Return what to do about a target that earns more. A gain that the log barely shows is to be confirmed."""
    if trial.per_arm is None:
        return advise_on_nothing(trial, baseline)
    gain = f"it would earn more than {baseline}"
    # The log needs more rows than it has to show this difference with the power of a test.
    is_barely_shown = trial.times_rows is None or trial.times_rows > 1
    if is_barely_shown:
        gain = f"{gain}, but only just beyond what chance may do"
    if trial.is_in_log:
        return trial.propose("ship", f"Ship it: {gain}. {TRIAL_IN_LOG}")
    if is_barely_shown:
        return trial.propose("A/B test", f"Confirm it by {trial} before you ship it: {gain}.")
    return trial.propose("ship", f"Ship it: {gain}. If a mistake would be costly, confirm it first by {trial}.")


def advise_on_loss(trial: Trial, baseline: str) -> NextStep:
    """Return what to do about a target that earns less."""
    if trial.per_arm is None:
        return advise_on_nothing(trial, baseline)
    return trial.propose("do not ship", f"Do not ship it: it would earn less than {baseline}.")


def advise_on_nothing(trial: Trial, baseline: str) -> NextStep:
    """Return what to do if no practical number of decisions would show a difference."""
    return trial.propose("keep", f"Keep what you have: nothing shows that it would earn more or less than {baseline}.")


def advise_on_doubt(trial: Trial, diagnostics: Diagnostics, baseline: str) -> NextStep:
    """Return what to do about a target that may earn more or less, by the differences that are still possible."""
    if trial.per_arm is None:
        return advise_on_nothing(trial, baseline)
    low, high = trial.possible
    is_small = diagnostics.verdict == "undecided"
    doubt = "This log has too few rows to tell" if is_small else "This log cannot tell"
    doubt = f"{doubt}: it may earn up to {high:.3g} more than {baseline}, or {-low:.3g} less."

    times = trial.times_rows
    can_log_more = trial.planned_gap > 0 and times is not None and times <= MAX_TIMES_ROWS
    log_more = f"log about {max(2, round_up(times or 0)):,} times as many rows"

    reward_level = diagnostics.measures.get("reward_level")
    is_test_worthwhile = is_small or trial.planned_gap > 0 or trial.is_gain_worthwhile(reward_level)
    if trial.is_feasible and is_test_worthwhile and not trial.is_in_log:
        alternative = f", or {log_more}" if can_log_more else ""
        shown_gain = f"which would find a gain of {trial.effect:.3g}"
        return trial.propose("A/B test", f"Run {trial}, {shown_gain}{alternative}. {doubt}")

    if trial.is_in_log:
        why_no_test = TRIAL_IN_LOG
    else:
        needed = f"needs about {trial.per_arm:,} decisions per arm"
        why_no_test = f"An A/B test that finds a gain of {trial.effect:.3g} {needed}."
    if can_log_more:
        return trial.propose("log more", f"Keep what you have, or {log_more}. {doubt} {why_no_test}")
    return trial.propose("keep", f"Keep what you have. {doubt} {why_no_test}")


def advise_on_log(diagnostics: Diagnostics) -> NextStep:
    """Return what to do if the target has been checked, but not evaluated."""
    if diagnostics.verdict in {"good", "undecided"}:
        return NextStep("evaluate", "Evaluate it: the log can answer.")
    remedy = diagnostics.findings[0].remedy
    if diagnostics.verdict == "caution":
        return NextStep("check first", f"Check first: {remedy}.")
    return NextStep("log more", f"The log cannot answer: {remedy}.")


def count_needed(distance: float, difference: float) -> float | None:
    """Return how many rows make a distance, which shrinks with their root, as short as a difference; None if too many.

    That is the squared ratio of both.
    """
    ratio = distance / difference if difference else math.inf
    return ratio * ratio if ratio * ratio <= MOST_ROWS_NEEDED else None


def round_up(number: float) -> int:
    """Return the smallest whole number of two digits and zeros that is no less.

    >>> round_up(123.4), round_up(7.2), round_up(0.0)
    (130, 8, 0)
    """
    unit = 10 ** max(math.floor(math.log10(number)) - 1, 0) if number else 1
    return math.ceil(number / unit) * unit
