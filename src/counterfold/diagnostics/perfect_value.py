"""Whether the value is the best that any policy could earn, which is too good to be true."""

from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Floats
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence import Evidence
from counterfold.rows import Rows

CELLS = 64
"""Actions are counted in so many cells."""


@dataclass(frozen=True, eq=False)
class ActionRewards:
    """Sums over cells of actions (2 x cells): rows, and their rewards."""

    sums: Floats

    def __add__(self, other: "ActionRewards") -> "ActionRewards":
        return ActionRewards(self.sums + other.sums)


@dataclass(frozen=True)
class PerfectValue(Diagnostic):
    r"""Warn where the value stands at the end of the possible rewards, though no action alone comes near it.

    $$\frac{r_{\max} - \hat V}{r_{\max} - \max_a \bar r_a}$$

    is how much of the room above the best action the target leaves, and the same below the worst action for the least
    reward. Below `room` it is a caution: a target that always picks the action which turns out best knows the outcome.
    An end at the usual reward (that of at least 80 % of the rows) does not count, nor do rewards without an end that
    several rows share.
    """

    room: float = 0.02
    fewest: int = 20
    label = "room for improvement"
    measures = ("room_left",)
    needs_answer = True

    def observe(self, rows: Rows) -> ActionRewards | None:
        if rows.kind == "doses":
            return None
        cell = rows.actions % CELLS
        return ActionRewards(np.stack([np.bincount(cell, line, CELLS) for line in (None, rows.rewards)]))

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        found: ActionRewards | None = evidence.observed.get(self.name)
        rewards = evidence.contents.rewards
        if found is None or answer is None or rewards.high <= rewards.low:
            return None
        counts, totals = found.sums[:, found.sums[0] > 0]
        means = totals / counts
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
