"""Whether rewards that are not there are missing by chance, or depend on the action."""

from dataclasses import dataclass

from counterfold.base.messages import show
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence.evidence import Evidence

DROPPED = "so leaving them out changes how often actions are seen, which propensities do not tell"
CAUSES = "find out why they are missing; wait for them, or leave out periods and sources without them"
ZERO = "and count as 0, on which the answer rests"
WAYS = {"zero": "make sure that no reward will come for these rows, after any action", "drop": CAUSES}


@dataclass(frozen=True)
class MissingRewards(Diagnostic):
    """Test whether rewards are missing more often after some actions than after others, by chi-square at `level`.

    Rows that are left out for it change how often each action is seen, so that propensities no longer tell that: a
    caution. Where they count as 0, because none will come, such a difference may be what the actions did: a note. So it
    is where rows belong to groups, which may be missing together, or were kept with different probabilities. The counts
    are those of all rows, before any was left out.
    """

    level: float = 0.001
    label = "missing rewards"
    measures = {
        "missing_rewards": "Missing rewards.",
        "missing_rewards_p": "The p-value of the dependence of missing rewards on the action, if there is none.",
    }

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        found = evidence.contents.missing_rewards
        if found is None:
            return None
        tested = "" if found.p is None else f", p = {found.p:.2g} that actions are alike"
        text = f"{found.count:,} of {found.rows:,}{tested}"
        values = {"missing_rewards": found.count, "missing_rewards_p": found.p}
        rewards = evidence.contents.rewards
        if found.way == "drop" and rewards.low > 0 and 2 * found.count > found.rows:
            problem = f"{found.count:,} of {found.rows:,} rewards are missing, and none that is left is 0"
            way = 'count them as 0 if they are missing because nothing was earned: `missing_reward="zero"`'
            return Measurement(values, text, [self.make_finding("caution", problem, way)])
        if found.p is None or found.p >= self.level or found.highest is None or found.lowest is None:
            return Measurement(values, text)
        (most, high), (least, low) = found.highest, found.lowest
        rates = f"in {high:.2%} of the rows of {show(most)}, and in {low:.2%} of those of {show(least)}"
        problem = f"rewards are missing {rates} (p = {found.p:.2g})"
        finding = self.make_finding("note", f"{problem} {ZERO}" if found.way == "zero" else problem, WAYS[found.way])
        is_plain = evidence.contents.groups is None and evidence.contents.kept is None
        if found.way == "drop" and is_plain:
            finding = self.make_finding("caution", f"{problem}, {DROPPED}", CAUSES)
        return Measurement(values, text, [finding])
