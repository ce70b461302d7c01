"""NextStep: what to do about an answer, from its difference to what was earned, its verdict and the rewards."""

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Literal

from counterfold.contents import Contents
from counterfold.diagnostics import Diagnostics
from counterfold.estimates import Estimate

Action = Literal["ship", "A/B test", "check first", "log more", "do not ship", "keep", "evaluate"]

LEVEL, POWER = 0.05, 0.8
"""The two-sided level of the A/B test that is planned, and the probability with which it shows the difference."""

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

    `logged` is what the log earned: where rows of a group are alike, its error tells by how much they count less.
    """

    gap: Estimate
    logged: Estimate
    contents: Contents

    @property
    def deviation(self) -> float:
        """Return the standard deviation of a reward, larger where rows of a group are alike."""
        rewards = self.contents.rewards
        variance = rewards.squares / rewards.weight
        is_grouped = self.contents.groups is not None
        return math.sqrt(max(variance, self.logged.shown_variance * rewards.effective) if is_grouped else variance)

    @cached_property
    def per_arm(self) -> int | None:
        r"""Return how many decisions each arm needs.

        $$n = 2 \sigma^2 (z_{1 - \alpha / 2} + z_{1 - \beta})^2 / \Delta^2$$
        """
        needed = count_needed(self.deviation, self.gap.value)
        return None if needed is None else max(FEWEST, round_up(2 * needed))

    @property
    def times_rows(self) -> float | None:
        """Return how many times as many rows of the log would show the difference."""
        return count_needed(self.gap.stderr, self.gap.value)

    @property
    def is_feasible(self) -> bool:
        """Say whether it is not much larger than the log."""
        return self.per_arm is not None and self.per_arm <= TOO_MANY * self.contents.rewards.weight

    def __str__(self) -> str:
        return f"an A/B test with about {self.per_arm:,} decisions per arm" if self.is_feasible else "an A/B test"

    def propose(self, action: Action, sentence: str) -> NextStep:
        """Return a step, with what a test of the difference needs."""
        return NextStep(action, sentence, self.per_arm, self.times_rows)


def advise(trial: Trial, diagnostics: Diagnostics, baseline: str = "the log did") -> NextStep:
    """Return what to do about a target; nothing is shipped where the verdict is not good."""
    low, high = trial.gap.interval()
    if diagnostics.verdict == "not answerable":
        return advise_on_log(diagnostics)
    if diagnostics.verdict == "caution":
        then = f"Then run {trial} before you ship it." if trial.is_feasible else "Until then, do not ship it."
        then = then if high >= 0 else f"Until then, do not ship it: it would seem to earn less than {baseline}."
        return trial.propose("check first", f"{advise_on_log(diagnostics).sentence} {then}")
    if low > 0:
        return trial.propose("ship", f"Ship it: it would earn more than {baseline}. To confirm that, run {trial}.")
    if high < 0:
        return trial.propose("do not ship", f"Do not ship it: it would earn less than {baseline}.")
    if trial.is_feasible and trial.times_rows is not None:
        times = f"{max(2, round_up(trial.times_rows)):,} times as many rows"
        ways = f"{trial}, or log about {times}, to see such a difference"
        return trial.propose("A/B test", f"Run {ways}: this log cannot tell if it would earn more than {baseline}.")
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


def count_needed(deviation: float, difference: float) -> float | None:
    """Return how many numbers with this standard deviation have a mean that shows the difference from 0.

    Nothing is returned where no number of them does.
    """
    ratio = deviation / difference if difference else math.inf
    needed = ratio * ratio * (NormalDist().inv_cdf(1 - LEVEL / 2) + NormalDist().inv_cdf(POWER)) ** 2
    return needed if needed <= ENDLESS else None


def round_up(number: float) -> int:
    """Return a whole number of two digits and zeros that is no less.

    >>> round_up(123.4), round_up(7.2), round_up(0.0)
    (130, 8, 0)
    """
    unit = 10 ** max(math.floor(math.log10(number)) - 1, 0) if number else 1
    return math.ceil(number / unit) * unit
