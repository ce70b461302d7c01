"""Whether the value is the best that any policy could earn, which is too good to be true."""

from dataclasses import dataclass

import numpy as np

from counterfold.diagnostics._kept_rows import KeptRows
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.diagnostics.shifted_rewards import ShiftedRewards
from counterfold.evidence.evidence import Evidence


@dataclass(frozen=True)
class PerfectValue(Diagnostic):
    r"""Warn where the value stands at the end of the possible rewards, though no action alone comes near it.

    $$\frac{r_{\max} - \hat V}{r_{\max} - \max_a \bar r_a}$$

    is how much of the room above the best action the target leaves, and the same below the worst action for the least
    reward. Below `room` it is a caution: a target that always picks the action which turns out best knows the outcome.
    An end at the usual reward (that of at least 80 % of the rows) does not count. What the actions earn is known from
    some thousand rows of the log.
    """

    room: float = 0.02
    fewest: int = 20
    label = "room for improvement"
    measures = {
        "room_left": (
            "How much room the value leaves, as a share of the room between the best action and the end of the rewards."
        ),
    }
    needs_answer = True

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        kept: KeptRows | None = evidence.observed.get(ShiftedRewards().name)
        rewards = evidence.contents.rewards
        if kept is None or answer is None or rewards.high <= rewards.low:
            return None
        _, codes, counts = np.unique(kept.actions, return_inverse=True, return_counts=True)
        means = np.bincount(codes, kept.rewards) / counts
        value = answer.estimate.value
        usual = evidence.rows.usual_reward
        lefts = []
        for end, best in ((rewards.high, float(means.max())), (rewards.low, float(means.min()))):
            if end != usual and abs(end - best) > self.room * (rewards.high - rewards.low):
                lefts.append((abs(end - value) / abs(end - best), end, best))
        if not lefts:
            return None
        left, end, best = min(lefts)
        text = f"the value leaves {left:.1%} of the room between the best action and the end of the rewards, {end:g}"
        is_perfect = left < self.room and evidence.effective_rows >= self.fewest
        if not is_perfect:
            return Measurement({"room_left": left}, text)
        problem = f"the value, {value:.4g}, is the end of the possible rewards, where no action alone earns {best:.4g}"
        remedy = "check whether the target, or a column that it looks at, was known only after the decision"
        return Measurement({"room_left": left}, text, [self.make_finding("caution", problem, remedy)])
