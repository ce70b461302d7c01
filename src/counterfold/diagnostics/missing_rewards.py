"""Whether rewards that are not there are missing by chance, or depend on the action."""

from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence import Evidence
from counterfold.messages import show

DONE = {"drop": "leaving them out changes how often actions are seen", "zero": "0 may not be what they earned"}
REMEDY = "find out why they are missing; wait for them, or leave out periods and sources without them"


@dataclass(frozen=True)
class MissingRewards(Diagnostic):
    """Test whether rewards are missing more often after some actions than after others, by chi-square at `level`.

    Such rows left out change how often each action is seen, so that propensities no longer tell it; counted as 0, they
    make these actions look worse. The counts are those of all rows, before any was left out.
    """

    level: float = 0.001
    label = "missing rewards"
    measures = ("missing_rewards", "missing_rewards_p")

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        found = evidence.contents.missing_rewards
        if found is None:
            return None
        tested = "" if found.p is None else f", p = {found.p:.2g} that actions are alike"
        text, values = f"{found.count:,} of {found.rows:,}{tested}", {"missing_rewards": found.count}
        if found.p is None or found.p >= self.level or found.highest is None or found.lowest is None:
            return Measurement({**values, "missing_rewards_p": found.p}, text)
        (most, high), (least, low) = found.highest, found.lowest
        rates = f"in {high:.2%} of the rows of {show(most)}, and in {low:.2%} of those of {show(least)}"
        problem = f"rewards are missing {rates} (p = {found.p:.2g}), so {DONE[found.way]}"
        return Measurement(
            {**values, "missing_rewards_p": found.p}, text, [self.make_finding("caution", problem, REMEDY)]
        )
