"""Whether the log is large enough for the question."""

import math
from dataclasses import dataclass

import numpy as np

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement, Number
from counterfold.estimators.estimates import Estimate
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence


@dataclass(frozen=True)
class Distances:
    """The sum of the distances of rewards from the usual reward, which two summaries of different rows add up to."""

    total: float

    def __add__(self, other: "Distances") -> "Distances":
        return Distances(self.total + other.total)


@dataclass(frozen=True)
class SmallLog(Diagnostic):
    r"""Say that the log is too small where the target may earn much less, and as well may earn much more.

    $$\text{low} \le -c\, \ell \quad\text{and}\quad \text{high} \ge c\, \ell, \qquad
      \ell = \min\Bigl(\frac{1}{n} \sum_i |r_i - u|,\ \hat\sigma_r\Bigr)$$

    low and high are the ends of the interval of the difference to the log, or to the baseline of a comparison. $\ell$
    is the level of the rewards: their mean distance from the usual reward $u$ (that of at least 80 % of the rows, such
    as 0 for no click, or 0 where rewards differ more), or their standard deviation if that is smaller. With `much`, or
    $c$, of 0.25 a policy that earns a quarter less than the log did, and one that earns a quarter more, both fit what
    was logged. Nothing is wrong with such a log, so the verdict is undecided and no caution.
    """

    much: float = 0.25
    sees_target = False
    label = "size of the log"
    measures = {
        "reward_level": (
            "The level of the rewards: their mean distance from the usual reward, or their standard deviation if "
            "that is smaller."
        ),
        "possible_loss": (
            "How much less than the log, or than the baseline of a comparison, the target may earn according to "
            "the interval."
        ),
        "possible_gain": (
            "How much more than the log, or than the baseline of a comparison, the target may earn according to "
            "the interval."
        ),
    }
    needs_answer = True

    def observe(self, rows: Rows) -> Distances:
        return Distances(rows.add_up(np.abs(rows.rewards - rows.usual_reward)))

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        if answer is None or answer.uplift is None:
            return None
        rewards = evidence.contents.rewards
        distances: Distances = evidence.observed[self.name]
        deviation = math.sqrt(rewards.squares / rewards.weight)
        level = min(distances.total / rewards.weight, deviation)
        return self.compare(answer.uplift, level, "the log")

    def compare(self, uplift: Estimate, level: float, baseline: str) -> Measurement:
        """Return how much less, and how much more, than a baseline the target may earn, in relation to a level."""
        low, high = uplift.interval()
        numbers: dict[str, Number] = {"reward_level": level, "possible_loss": max(-low, 0.0)}
        numbers["possible_gain"] = max(high, 0.0)
        text = (
            f"the difference to {baseline} may be {low:+.3g} to {high:+.3g}, where rewards have a level of {level:.3g}"
        )
        if not level or low > -self.much * level or high < self.much * level:
            return Measurement(numbers, text)
        problem = (
            f"the log is too small for this question: the target may earn {-low:.3g} less than {baseline},"
            f" or {high:.3g} more, where rewards have a level of {level:.3g}"
        )
        remedy = "log more rows of what the target does, or run an A/B test"
        return Measurement(numbers, text, [self.make_finding("undecided", problem, remedy)])
