"""Whether rewards were cut off at some number, so that many are equal to the largest or to the least one."""

from collections.abc import Sequence
from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.diagnostics.outlying_rewards import Counted, Ends, OutlyingRewards
from counterfold.evidence.evidence import Evidence

FEWEST_REWARDS = 50
"""The number of different rewards next to an end that show how common a single reward is there."""

SHARE_SCALES = (1.0, 100.0)
"""Shares and percentages have an end that is no cap: what was watched to its end, or paid back in full."""

NO_CAP = "neither the largest nor the least reward is far more common than those next to it"


@dataclass(frozen=True)
class CappedRewards(Diagnostic):
    """Warn where many rewards are equal to the largest one, or to the least one, and the next ones are all rare.

    It is a caution where at least `fewest` rows, and a share of at least `least_share`, have the reward at an end,
    which is at least `times` as many as have any of the next 50 different rewards. The reward that most rows have, such
    as 0 for no purchase, is no cap; nor is 1 or 100 where no reward is below 0: shares and percentages end there.
    """

    fewest: int = 5
    least_share: float = 0.001
    times: float = 5.0
    label = "capped rewards"
    measures = {
        "capped_rewards": "Rows with the largest or the smallest reward, if hardly any rows have a reward next to it.",
    }

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        ends: Ends | None = evidence.observed.get(OutlyingRewards().name)
        if ends is None:
            return None
        if max(ends.least.counts[0], ends.largest.counts[0]) < self.fewest:
            return Measurement({"capped_rewards": 0}, NO_CAP)
        known = ends.rewards
        is_share = known[0].reward >= 0 and known[-1].reward in SHARE_SCALES
        needed = max(self.fewest, self.least_share * evidence.row_count)
        usual = evidence.rows.usual_reward
        capped: list[tuple[str, Counted]] = []
        if not is_share and self.is_cap(known[::-1], needed, usual):
            capped.append(("largest", known[-1]))
        if known[0].reward != 0 and self.is_cap(known, needed, usual):
            capped.append(("least", known[0]))
        rows = sum(one.rows for _, one in capped)
        if not capped:
            return Measurement({"capped_rewards": 0}, NO_CAP)
        which, one = capped[0]
        text = f"{one.rows:,} rows have the {which} reward, {one.reward:g}"
        problem = f"{text}, and hardly any have the ones next to it: rewards seem to be cut off there"
        remedy = (
            "log rewards as they were; otherwise the answer is about capped rewards, and does not say what the target "
            "earns"
        )
        return Measurement({"capped_rewards": rows}, text, [self.make_finding("caution", problem, remedy)])

    def is_cap(self, rewards: Sequence[Counted], needed: float, usual: float) -> bool:
        """Say whether the first of some rewards, from an end on, is far more common than the next ones."""
        end = rewards[0]
        if len(rewards) <= FEWEST_REWARDS or end.reward == usual:
            return False
        next_most = max(one.rows for one in rewards[1 : FEWEST_REWARDS + 1] if one.reward != usual)
        return end.rows >= max(needed, self.times * next_most)
