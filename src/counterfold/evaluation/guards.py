"""Guards: which policies keep to all limits on other rewards at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterfold.base import messages
from counterfold.base.arrays import Bools, Floats
from counterfold.base.cached import cached_property
from counterfold.diagnostics.as_read import AsRead
from counterfold.diagnostics.base import Finding
from counterfold.diagnostics.harmed_segment import HarmedSegment
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation.guard import Guard, GuardLine
from counterfold.evaluation.joint import LOWEST, Joint, find_each_level, standardise, stretch_noise
from counterfold.evaluation.next_step import NextStep
from counterfold.evaluation.result import Evaluation

HARM = HarmedSegment().name
"""What findings of harmed segments are called."""

CHECK_LIMIT = (
    "check the number: `>= -0.01` limits the change from the baseline, `>= -2%` its share, and a number without a sign "
    "is a level"
)
"""What to do about a guard that cannot fail."""


@dataclass(frozen=True)
class Guarded:
    """Whether a target keeps to all guards."""

    target: str
    """The target's name."""

    passes: bool
    """Whether all guards hold with the level of the comparison, and no `end` is beyond its limit.

    With that level, all targets that pass keep to all guards.
    """

    probability: float | None
    """The probability that all guards hold at once; null where the log cannot answer."""

    probability_better: float | None
    """The probability that all guards hold and that the target earns more than the baseline."""

    guards: list[GuardLine]
    """A line for each guard."""


@dataclass(frozen=True, eq=False)
class Guards:
    """All guards, and the evaluations of all targets by their rewards, and by the reward to decide by (`decisive`)."""

    rules: tuple[Guard, ...]
    evaluations: Mapping[str, Mapping[str, Evaluation]]
    decisive: str
    baseline: str | None

    @cached_property
    def estimates(self) -> dict[tuple[str, str | None], Estimate]:
        """Return what all policies earn in all rewards; the log's own policy is None."""
        found: dict[tuple[str, str | None], Estimate] = {}
        for reward, several in self.evaluations.items():
            found[reward, None] = next(iter(several.values())).logged
            found |= {(reward, target): one.estimate for target, one in several.items()}
        return found

    @cached_property
    def joint(self) -> Joint:
        """Return how all of them move together; biases in different rewards have nothing in common."""
        rewards = dict.fromkeys(reward for reward, _ in self.estimates)
        return Joint.combine(
            [Joint.of([one for (own, _), one in self.estimates.items() if own == reward]) for reward in rewards]
        )

    @cached_property
    def family(self) -> list[str]:
        """Return the targets that are judged together: those that the log can answer for in all guards."""
        several = (name for name in self.evaluations[self.decisive] if name != self.baseline)
        return [name for name in several if all(self.is_answerable(name, rule) for rule in self.rules)]

    @cached_property
    def each_level(self) -> float:
        """Return the level of the intervals whose ends, in the direction of the limits, hold all at once: max-t.

        One target has its own ends: that all guards hold needs no more than that each does.
        """
        level = self.estimates[self.decisive, None].level
        if len(self.family) < 2:
            return max(2 * level - 1, LOWEST)
        pairs = [(name, rule) for name in self.family for rule in self.rules]
        gaps = [rule.find_gap(self.estimates[rule.reward, name], self.find_base(rule))[0] for name, rule in pairs]
        contrasts = np.stack([self.contrast(name, rule) for name, rule in pairs])
        seed = self.evaluations[self.decisive][self.family[0]].seed
        noise = standardise(self.joint.draw(contrasts, gaps, seed))
        signs = np.array([1.0 if rule.is_most else -1.0 for _, rule in pairs])
        return find_each_level((signs * noise).max(axis=1), level, tails=1, seed=seed)

    def judge(self, target: str) -> Guarded:
        """Return whether a target keeps to all guards, by draws of the noise of all rewards at once."""
        if not all(self.is_answerable(target, rule) for rule in self.rules):
            lines = [self.describe(target, rule, None) for rule in self.rules]
            return Guarded(target, passes=False, probability=None, probability_better=None, guards=lines)
        better = Guard("", self.decisive, is_most=False, kind="difference", amount=0.0)
        held = self.draw(target, [*self.rules, better])
        every, level = held[:, :-1].all(axis=1), self.estimates[self.decisive, None].level
        lines = [
            self.describe(target, rule, float(own)) for rule, own in zip(self.rules, held.mean(axis=0), strict=False)
        ]
        is_known = self.is_answerable(target, better)
        more = float((every & held[:, -1]).mean()) if is_known else None
        is_clear = all(rule.is_kept(line) for rule, line in zip(self.rules, lines, strict=True))
        return Guarded(target, bool(is_clear and every.mean() >= level), float(every.mean()), more, lines)

    def list_cautions(self, target: str) -> list[Finding]:
        """Return the cautions about what a target earns in the rewards of guards, each of which it names.

        Whether less or more of a reward is harm, only its guard knows, so harmed segments are none of them.
        """
        known = {(one.name, one.problem) for one in self.evaluations[self.decisive][target].diagnostics.findings}
        others = [reward for reward in self.evaluations if reward != self.decisive]
        found = [(reward, one) for reward in others for one in self.evaluations[reward][target].diagnostics.findings]
        return [
            replace(one, problem=f"by the guard on `{messages.show(reward)}`, {one.problem}")
            for reward, one in found
            if one.severity == "caution" and one.name != HARM and (one.name, one.problem) not in known
        ]

    def list_idle(self) -> list[Finding]:
        """Return a note on each guard that no policy can break, by the rewards in the log."""
        found = []
        for rule in self.rules:
            rewards = next(iter(self.evaluations[rule.reward].values())).contents.rewards
            if rule.cannot_fail(rewards.low, rewards.high):
                ends = f"all of them are from {rewards.low:.4g} to {rewards.high:.4g}"
                problem = (
                    f"no policy can break the guard `{messages.show(rule.text)}` by the rewards in the log: {ends}"
                )
                found.append(Finding(AsRead().name, "note", problem, CHECK_LIMIT))
        return found

    def draw(self, target: str, rules: Sequence[Guard]) -> Bools:
        """Return which guards hold in each draw of the noise (draws x guards)."""
        found = [rule.find_gap(self.estimates[rule.reward, target], self.find_base(rule)) for rule in rules]
        gaps, limits = [gap for gap, _ in found], np.array([limit for _, limit in found])
        contrasts = np.stack([self.contrast(target, rule) for rule in rules])
        seed = self.evaluations[self.decisive][target].seed
        values = stretch_noise(self.joint.draw(contrasts, gaps, seed), gaps)
        is_most = np.array([rule.is_most for rule in rules])
        return np.asarray(np.where(is_most, values <= limits, values >= limits), dtype=np.bool_)

    def find_base(self, rule: Guard) -> Estimate:
        """Return what the baseline earns in the reward of a guard."""
        return self.estimates[rule.reward, self.baseline]

    def contrast(self, target: str, rule: Guard) -> Floats:
        """Return by how much each estimate counts in what a guard is about."""
        places = {key: place for place, key in enumerate(self.estimates)}
        line = np.zeros(len(places))
        line[places[rule.reward, target]] += 1.0
        if rule.kind != "level":
            sign = 1 if self.find_base(rule).value >= 0 else -1
            line[places[rule.reward, self.baseline]] -= 1.0 + (rule.amount * sign if rule.kind == "share" else 0.0)
        return line

    def is_answerable(self, target: str, rule: Guard) -> bool:
        """Say whether the log can tell what a guard is about."""
        several = self.evaluations[rule.reward]
        base = self.baseline is None or rule.kind == "level" or several[self.baseline].answerable
        return base and several[target].answerable

    def describe(self, target: str, rule: Guard, probability: float | None) -> GuardLine:
        """Return the line of a target and a guard."""
        one = self.evaluations[rule.reward][target]
        if not self.is_answerable(target, rule):
            return GuardLine(rule.text, None, None, None, None, "not answerable")
        gap, limit = rule.find_gap(one.estimate, self.find_base(rule))
        low, high = gap.interval(self.each_level)
        beyond = (high if rule.is_most else low) - limit
        # Values are shown, which are shrunk more than differences: how far the end is beyond the limit stays the same.
        apart, _ = rule.find_gap(one.estimate.as_value, self.find_base(rule).as_value)
        shown_limit = one.value + limit - apart.value
        return GuardLine(rule.text, one.value, shown_limit + beyond, shown_limit, probability, one.verdict)


def heed_guards(step: NextStep, found: Guarded, level: float) -> NextStep:
    """Return what to do about a target that does not keep to all guards, the worst of which is named.

    It is never shipped, whatever it earns, and only tested where it may keep to them.
    """
    worst = min(found.guards, key=lambda line: (line.end is not None, line.probability or 0.0))
    named = f"`{messages.show(worst.guard)}`"
    if found.probability is not None and found.probability > 1 - level:
        chance = f"keeps to all guards with a probability of {100 * found.probability:.0f} %"
        chance += ", but the end of an interval is beyond its limit" if found.probability >= level else ""
        doubt = f"it {chance}, and is the least sure to keep to {named}"
        if step.action in {"ship", "A/B test"}:
            return replace(step, action="A/B test", sentence=f"Run an A/B test before you ship it: {doubt}.")
        return replace(step, sentence=f"{step.sentence} Besides, {doubt}.")
    known = found.probability is not None
    why = f"{'it does not keep' if known else 'this log cannot tell if it keeps'} to the guard {named}"
    if step.action == "do not ship" or (step.action == "log more" and not known):
        return replace(step, sentence=f"{step.sentence} Besides, {why}.")
    return replace(step, action="do not ship", sentence=f"Do not ship it: {why}.")
