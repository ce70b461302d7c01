"""NextStep: what to do about an answer, from its difference to what was earned, its verdict and the rewards."""

import math
from dataclasses import dataclass
from typing import Literal

from scipy.special import ndtri  # and not scipy.stats, which takes long to import

from counterfold.cached import cached_property
from counterfold.contents import Contents
from counterfold.diagnostics import Diagnostics
from counterfold.estimates import Estimate

Action = Literal["ship", "A/B test", "check first", "log more", "do not ship", "keep", "evaluate"]

LEVEL, POWER = 0.05, 0.8
"""The two-sided level of the A/B test that is planned, and the probability with which it shows the difference."""

REACH, LUCK = float(ndtri(1 - LEVEL / 2)), float(ndtri(POWER))
"""How many standard errors a difference must be from 0 to be shown, and how many more for that to be so probable."""

FEWEST = 100
"""The decisions per arm of the smallest A/B test: of fewer, means are not normal."""

TOO_MANY = 10
"""A test that needs so many times the decisions of the log is not proposed."""

ENDLESS = 1e15
"""A difference that needs more numbers to be seen is a rounding error."""


@dataclass(frozen=True)
class NextStep:
    """What to do now, as one of a few words and as a sentence.

    `per_arm` is how many decisions each arm of an A/B test needs to show the estimated difference, at a two-sided level
    of 5 % with a power of 80 %, and `times_rows` how many times as many rows a log like this one needs to do so. Both
    are None where the log cannot answer, or where the difference is 0.
    """

    action: Action
    sentence: str
    per_arm: int | None = None
    times_rows: float | None = None


@dataclass(frozen=True, eq=False)
class Trial:
    """An A/B test that is to show a difference (`gap`), planned by the rewards of the log.

    `value` is what the target would earn, and `logged` what the log did: where rows of a group are alike, its error
    tells by how much they count less.
    """

    gap: Estimate
    value: float
    logged: Estimate
    contents: Contents

    def find_variance(self, mean: float) -> float:
        """Return the variance of rewards with this mean: if there are two, that tells it; others vary as in the log."""
        rewards = self.contents.rewards
        plain = rewards.squares / rewards.weight
        alike = self.logged.shown_variance * rewards.effective / plain if self.contents.groups is not None else 1.0
        own = (rewards.high - mean) * (mean - rewards.low) if rewards.is_two_valued else plain
        return max(own, 0.0) * max(alike, 1.0)

    @cached_property
    def per_arm(self) -> int | None:
        r"""Return how many decisions each of two equal arms needs for a two-sided z-test of their means, rounded up.

        $$n = (\sigma_0^2 + \sigma_1^2) (z_{1 - \alpha / 2} + z_{1 - \beta})^2 / \Delta^2$$
        """
        variance = self.find_variance(self.value) + self.find_variance(self.value - self.gap.value)
        needed = count_needed(math.sqrt(variance) * (REACH + LUCK), self.gap.value)
        return None if needed is None else max(FEWEST, round_up(needed))

    @cached_property
    def times_rows(self) -> float | None:
        """Return how many times as many rows of the log would show the difference.

        The interval reaches towards 0 as far as it does, which is farther than a normal one where rewards are skewed.
        """
        low, high = self.gap.interval(1 - LEVEL)
        reach = self.gap.value - low if self.gap.value > 0 else high - self.gap.value
        return count_needed(reach + LUCK * self.gap.stderr, self.gap.value)

    @property
    def is_feasible(self) -> bool:
        """Say whether it is not much larger than the log."""
        return self.per_arm is not None and self.per_arm <= TOO_MANY * self.contents.rewards.weight

    def __str__(self) -> str:
        if not self.is_feasible:
            return "an A/B test"
        power = f"{100 * LEVEL:g} % level, {100 * POWER:g} % power"
        return f"an A/B test with about {self.per_arm:,} decisions per arm ({power})"

    def propose(self, action: Action, sentence: str) -> NextStep:
        """Return a step, with what a test of the difference needs."""
        return NextStep(action, sentence, self.per_arm, self.times_rows)


def advise(trial: Trial, diagnostics: Diagnostics, baseline: str = "the log did") -> NextStep:
    """Return what to do about a target; nothing is shipped where the verdict is not good."""
    low, high = trial.gap.interval()
    if diagnostics.verdict == "not answerable":
        remedy = diagnostics.findings[0].remedy
        return NextStep("log more", f"Do not ship it by this log, which cannot answer: {remedy}.")
    if diagnostics.verdict == "caution":
        then = f"Then run {trial} before you ship it." if trial.is_feasible else "Until then, do not ship it."
        less = f"Until then, do not ship it: it would seem to earn less than {baseline}."
        then = less if trial.gap.value < 0 and trial.per_arm is not None else then  # more than a rounding error
        return trial.propose("check first", f"{advise_on_log(diagnostics).sentence} {then}")
    if low > 0:
        return advise_on_gain(trial, baseline)
    if high < 0:
        return trial.propose("do not ship", f"Do not ship it: it would earn less than {baseline}.")
    return advise_on_doubt(trial, baseline)


def advise_on_gain(trial: Trial, baseline: str) -> NextStep:
    """Return what to do about a target that earns more: one that does so only just is to be confirmed."""
    if trial.times_rows is None or trial.times_rows > 1:
        barely = f"it would earn more than {baseline}, but only just beyond what chance may do"
        return trial.propose("A/B test", f"Confirm it by {trial} before you ship it: {barely}.")
    costly = f"If a mistake would be costly, confirm it first by {trial}."
    return trial.propose("ship", f"Ship it: it would earn more than {baseline}. {costly}")


def advise_on_doubt(trial: Trial, baseline: str) -> NextStep:
    """Return what to do about a target that may earn more or less."""
    unknown, times = f"this log cannot tell if it would earn more than {baseline}", trial.times_rows
    often = "" if times is None else f"{max(2, round_up(times)):,} times as many rows"
    more = f"or log about {often}, to see such a difference"
    if trial.is_feasible and often:
        return trial.propose("A/B test", f"Run {trial}, {more}: {unknown}.")
    if times is not None and times <= TOO_MANY:
        much = "an A/B test would need far more decisions"
        return trial.propose("log more", f"Keep what you have, {more}: {unknown}, and {much}.")
    nothing = f"nothing shows that it would earn more or less than {baseline}"
    return trial.propose("keep", f"Keep what you have: {nothing}, and no A/B test of a reasonable size would.")


def advise_on_log(diagnostics: Diagnostics) -> NextStep:
    """Return what to do where it is only known how far the log can answer."""
    if diagnostics.verdict == "good":
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
