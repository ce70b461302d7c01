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

LEVEL, POWER = 0.05, 0.8
"""The two-sided level of the A/B test that is planned, and the probability with which it shows the difference."""

REACH, LUCK = float(ndtri(1 - LEVEL / 2)), float(ndtri(POWER))
"""How many standard errors a difference must be from 0 to be shown, and how many more for that to be so probable."""

FEWEST = 100
"""The decisions per arm of the smallest A/B test: of fewer, means are not normal."""

LARGEST_TEST = 1_000_000
"""The decisions per arm of the largest A/B test that is proposed, whatever the size of the log."""

TOO_MANY_TIMES = 10
"""A log that would have to be so many times as large is not proposed."""

WORTHWHILE = 0.1
"""A gain is worth an A/B test against the estimate if it is at least this part of the level of the rewards."""

ENDLESS = 1e12
"""A difference that needs more decisions to be shown is no difference that anybody can act on.

It is below 1e-5 standard deviations of the rewards: what probabilities of single precision may do.
"""


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
    """An A/B test that is to show a difference (`gap`), planned by the rewards of the log.

    `value` is what the target would earn by the answer that differences are made of, and `logged` what the log did:
    where rows of a group are alike, its error tells by how much they count less. `design` is how the log assigned
    actions.
    """

    gap: Estimate
    value: float
    logged: Estimate
    contents: Contents
    design: Design = field(default_factory=Design)

    @property
    def planned_gap(self) -> float:
        """Return the difference that tests are planned for, if they can show it."""
        return self.gap.value

    @cached_property
    def possible(self) -> Bounds:
        """Return the least and the largest difference that the log leaves possible."""
        return self.gap.interval()

    @cached_property
    def effect(self) -> float:
        """Return the difference that a test should show.

        It is the estimated one where that is told from 0, or is a gain that a test can show; otherwise it is the
        largest gain that the log leaves possible.
        """
        low, high = self.possible
        is_told = low > 0 or high < 0
        if is_told or (self.planned_gap > 0 and is_test_possible(self.count_per_arm(self.planned_gap))):
            return self.planned_gap
        return high

    def find_variance(self, mean: float) -> float:
        """Return the variance of rewards with this mean: if there are two, that tells it; others vary as in the log."""
        rewards = self.contents.rewards
        plain = rewards.squares / rewards.weight
        alike = self.logged.shown_variance * rewards.effective / plain if self.contents.groups is not None else 1.0
        own = (rewards.high - mean) * (mean - rewards.low) if rewards.is_two_valued else plain
        return max(own, 0.0) * max(alike, 1.0)

    def count_per_arm(self, effect: float) -> int | None:
        r"""Return how many decisions each of two equal arms needs for a two-sided z-test of their means, rounded up.

        $$n = (\sigma_0^2 + \sigma_1^2) (z_{1 - \alpha / 2} + z_{1 - \beta})^2 / \Delta^2$$
        """
        baseline = self.value - self.gap.value
        variance = self.find_variance(baseline + effect) + self.find_variance(baseline)
        needed = count_needed(math.sqrt(variance) * (REACH + LUCK), effect)
        return None if needed is None else max(FEWEST, round_up(needed))

    @cached_property
    def per_arm(self) -> int | None:
        """Return how many decisions each arm of a test needs to show its effect."""
        return self.count_per_arm(self.effect)

    @cached_property
    def times_rows(self) -> float | None:
        """Return how many times as many rows of the log would show the estimated difference.

        The interval reaches towards 0 as far as it does, which is farther than a normal one where rewards are skewed.
        """
        low, high = self.possible
        reach = self.gap.value - low if self.gap.value > 0 else high - self.gap.value
        return count_needed(reach + LUCK * self.gap.stderr, self.gap.value)

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

    def is_gain_worthwhile(self, level: float | None) -> bool:
        """Say whether a gain is possible that is a large enough part of the level of the rewards, if that is known."""
        return level is not None and self.possible.high >= WORTHWHILE * level

    def __str__(self) -> str:
        if not self.is_feasible:
            return "an A/B test"
        power = f"{100 * LEVEL:g} % level, {100 * POWER:g} % power"
        return f"an A/B test with about {self.per_arm:,} decisions per arm ({power})"

    def propose(self, action: Action, sentence: str) -> NextStep:
        """Return a step, with what a test needs."""
        effect = None if self.per_arm is None else self.effect
        return NextStep(action, sentence, self.per_arm, self.times_rows, effect)


def is_test_possible(per_arm: int | None) -> bool:
    """Say whether an A/B test of that size is proposed; the same rule holds everywhere."""
    return per_arm is not None and per_arm <= LARGEST_TEST


def advise(trial: Trial, diagnostics: Diagnostics, baseline: str = "the log did") -> NextStep:
    """Return what to do about a target; nothing is shipped where the verdict is not good."""
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
    """Return what to do where something must be checked before the answer counts."""
    then = "Until then, do not ship it."
    if trial.planned_gap < 0 and trial.count_per_arm(trial.planned_gap) is not None:
        then = f"Until then, do not ship it: it would seem to earn less than {baseline}."
    elif trial.planned_gap > 0 and trial.is_feasible:
        then = f"Then run {trial} before you ship it."
    return trial.propose("check first", f"{advise_on_log(diagnostics).sentence} {then}")


def advise_on_gain(trial: Trial, baseline: str) -> NextStep:
    """Return what to do about a target that earns more: one that does so only just is to be confirmed."""
    if trial.per_arm is None:
        return advise_on_nothing(trial, baseline)
    more = f"it would earn more than {baseline}"
    barely = f"{more}, but only just beyond what chance may do"
    is_barely = trial.times_rows is None or trial.times_rows > 1
    if trial.is_in_log:
        told = barely if is_barely else more
        return trial.propose("ship", f"Ship it: {told}. {TRIAL_IN_LOG}")
    if is_barely:
        return trial.propose("A/B test", f"Confirm it by {trial} before you ship it: {barely}.")
    costly = f"If a mistake would be costly, confirm it first by {trial}."
    return trial.propose("ship", f"Ship it: {more}. {costly}")


TRIAL_IN_LOG = "The log is a randomised trial itself, and larger than the A/B test that would show this difference."
"""Why no test is proposed."""


def advise_on_loss(trial: Trial, baseline: str) -> NextStep:
    """Return what to do about a target that earns less."""
    if trial.per_arm is None:
        return advise_on_nothing(trial, baseline)
    return trial.propose("do not ship", f"Do not ship it: it would earn less than {baseline}.")


def advise_on_nothing(trial: Trial, baseline: str) -> NextStep:
    """Return what to do where no number of decisions that anybody has would show a difference."""
    return trial.propose("keep", f"Keep what you have: nothing shows that it would earn more or less than {baseline}.")


def advise_on_doubt(trial: Trial, diagnostics: Diagnostics, baseline: str) -> NextStep:
    """Return what to do about a target that may earn more or less, by the differences that are still possible."""
    if trial.per_arm is None:
        return advise_on_nothing(trial, baseline)
    low, high = trial.possible
    is_small = diagnostics.verdict == "undecided"
    unknown = "This log has too few rows to tell" if is_small else "This log cannot tell"
    unknown = f"{unknown}: it may earn up to {high:.3g} more than {baseline}, or {-low:.3g} less."
    times = trial.times_rows
    is_loggable = trial.planned_gap > 0 and times is not None and times <= TOO_MANY_TIMES
    more = f"log about {max(2, round_up(times or 0)):,} times as many rows"
    level = diagnostics.measures.get("reward_level")
    is_wanted = is_small or trial.planned_gap > 0 or trial.is_gain_worthwhile(level)
    if trial.is_feasible and is_wanted and not trial.is_in_log:
        also = f", or {more}" if is_loggable else ""
        finds = f"which would find a gain of {trial.effect:.3g}"
        return trial.propose("A/B test", f"Run {trial}, {finds}{also}. {unknown}")
    needed = f"An A/B test that finds a gain of {trial.effect:.3g} needs about {trial.per_arm:,} decisions per arm."
    why = TRIAL_IN_LOG if trial.is_in_log else needed
    if is_loggable:
        return trial.propose("log more", f"Keep what you have, or {more}. {unknown} {why}")
    return trial.propose("keep", f"Keep what you have. {unknown} {why}")


def advise_on_log(diagnostics: Diagnostics) -> NextStep:
    """Return what to do where it is only known how far the log can answer."""
    if diagnostics.verdict in {"good", "undecided"}:
        return NextStep("evaluate", "Evaluate it: the log can answer.")
    remedy = diagnostics.findings[0].remedy
    if diagnostics.verdict == "caution":
        return NextStep("check first", f"Check first: {remedy}.")
    return NextStep("log more", f"The log cannot answer: {remedy}.")


def count_needed(distance: float, difference: float) -> float | None:
    """Return how many rows make a distance, which shrinks with their root, as short as a difference, if any do."""
    ratio = distance / difference if difference else math.inf
    return ratio * ratio if ratio * ratio <= ENDLESS else None


def round_up(number: float) -> int:
    """Return a whole number of two digits and zeros that is no less.

    >>> round_up(123.4), round_up(7.2), round_up(0.0)
    (130, 8, 0)
    """
    unit = 10 ** max(math.floor(math.log10(number)) - 1, 0) if number else 1
    return math.ceil(number / unit) * unit
