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
from counterfold.evaluation.joint import Joint, find_each_level, find_two_sided_level, standardise, stretch_noise
from counterfold.evaluation.next_step import NextStep
from counterfold.evaluation.result import Evaluation

HARMED_SEGMENT = HarmedSegment().name
"""The name of findings on harmed segments."""

CHECK_LIMIT = (
    "check the number: `>= -0.01` limits the change from the baseline, `>= -2%` its share, and a number without a sign "
    "is a level"
)
"""The remedy for a guard that cannot fail."""


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
    """All guards, and the evaluations that they are judged by.

    - `rules`: the guards.
    - `evaluations`: the evaluations by reward and target.
    - `decisive`: the reward to decide by.
    - `baseline`: the target to compare with; None for the log.
    """

    rules: tuple[Guard, ...]
    evaluations: Mapping[str, Mapping[str, Evaluation]]
    decisive: str
    baseline: str | None

    @cached_property
    def estimates(self) -> dict[tuple[str, str | None], Estimate]:
        """Return the estimates by reward and policy; the log's own policy is None."""
        estimates: dict[tuple[str, str | None], Estimate] = {}
        for reward, evaluations in self.evaluations.items():
            estimates[reward, None] = next(iter(evaluations.values())).logged
            for target, evaluation in evaluations.items():
                estimates[reward, target] = evaluation.estimate
        return estimates

    @cached_property
    def joint(self) -> Joint:
        """Return how all estimates move together. Biases in different rewards are taken as independent."""
        by_reward: dict[str, list[Estimate]] = {}
        for (reward, _), estimate in self.estimates.items():
            by_reward.setdefault(reward, []).append(estimate)
        return Joint.combine([Joint.of(estimates) for estimates in by_reward.values()])

    @cached_property
    def family(self) -> list[str]:
        """Return the targets that are judged together: those that the log can answer for in all guards."""
        targets = [name for name in self.evaluations[self.decisive] if name != self.baseline]
        return [name for name in targets if all(self.is_answerable(name, rule) for rule in self.rules)]

    @property
    def level(self) -> float:
        """Return the level of the comparison."""
        return self.estimates[self.decisive, None].level

    @cached_property
    def each_level(self) -> float:
        """Return the level of the intervals whose ends, in the direction of the limits, cover all at once: max-t.

        A single target needs no wider intervals: that it keeps to all guards is shown if each guard is shown to hold.
        """
        if len(self.family) < 2:
            return find_two_sided_level(self.level)
        pairs = [(target, rule) for target in self.family for rule in self.rules]
        gaps = []
        contrasts = []
        signs = []
        for target, rule in pairs:
            gap, _ = rule.find_gap(self.estimates[rule.reward, target], self.find_base(rule))
            gaps.append(gap)
            contrasts.append(self.contrast(target, rule))
            signs.append(1.0 if rule.is_most else -1.0)
        seed = self.evaluations[self.decisive][self.family[0]].seed
        noise = standardise(self.joint.draw(np.stack(contrasts), gaps, seed))
        largest = (np.array(signs) * noise).max(axis=1)
        return find_each_level(largest, self.level, tails=1, seed=seed)

    def judge(self, target: str) -> Guarded:
        """Return whether a target keeps to all guards, by joint draws of the noise of all rewards."""
        if not all(self.is_answerable(target, rule) for rule in self.rules):
            lines = [self.describe(target, rule, None) for rule in self.rules]
            return Guarded(target, passes=False, probability=None, probability_better=None, guards=lines)

        # That the target earns more than the baseline is drawn as a guard on the reward to decide by.
        is_better = Guard(text="", reward=self.decisive, is_most=False, kind="difference", amount=0.0)
        holds = self.draw(target, [*self.rules, is_better])
        all_hold = holds[:, :-1].all(axis=1)
        probability = float(all_hold.mean())
        probability_better = None
        if self.is_answerable(target, is_better):
            probability_better = float((all_hold & holds[:, -1]).mean())

        probabilities = holds.mean(axis=0)[:-1].tolist()
        lines = [self.describe(target, rule, own) for rule, own in zip(self.rules, probabilities, strict=True)]
        is_clear = all(rule.is_kept(line) for rule, line in zip(self.rules, lines, strict=True))
        return Guarded(
            target=target,
            passes=is_clear and probability >= self.level,
            probability=probability,
            probability_better=probability_better,
            guards=lines,
        )

    def list_cautions(self, target: str) -> list[Finding]:
        """Return the cautions on a target by other rewards, without those that the reward to decide by also has.

        Harmed segments are left out: whether more or less of a reward is harm depends on its guard.
        """
        own_findings = self.evaluations[self.decisive][target].diagnostics.findings
        reported = {(finding.name, finding.problem) for finding in own_findings}
        cautions = []
        for reward, evaluations in self.evaluations.items():
            if reward == self.decisive:
                continue
            for finding in evaluations[target].diagnostics.findings:
                is_caution = finding.severity == "caution" and finding.name != HARMED_SEGMENT
                if is_caution and (finding.name, finding.problem) not in reported:
                    problem = f"by the guard on `{messages.show(reward)}`, {finding.problem}"
                    cautions.append(replace(finding, problem=problem))
        return cautions

    def list_idle(self) -> list[Finding]:
        """Return a note on each guard that no policy can break, given the range of the rewards in the log."""
        notes = []
        for rule in self.rules:
            rewards = next(iter(self.evaluations[rule.reward].values())).contents.rewards
            if rule.cannot_fail(rewards.low, rewards.high):
                ends = f"all of them are from {rewards.low:.4g} to {rewards.high:.4g}"
                problem = (
                    f"no policy can break the guard `{messages.show(rule.text)}` by the rewards in the log: {ends}"
                )
                notes.append(Finding(AsRead().name, severity="note", problem=problem, remedy=CHECK_LIMIT))
        return notes

    def draw(self, target: str, rules: Sequence[Guard]) -> Bools:
        """Return whether each guard holds in each draw of the noise (draws x guards)."""
        gaps = []
        limits = []
        for rule in rules:
            gap, limit = rule.find_gap(self.estimates[rule.reward, target], self.find_base(rule))
            gaps.append(gap)
            limits.append(limit)
        contrasts = np.stack([self.contrast(target, rule) for rule in rules])
        seed = self.evaluations[self.decisive][target].seed
        values = stretch_noise(self.joint.draw(contrasts, gaps, seed), gaps)
        is_most = np.array([rule.is_most for rule in rules])
        holds = np.where(is_most, values <= np.array(limits), values >= np.array(limits))
        return np.asarray(holds, dtype=np.bool_)

    def find_base(self, rule: Guard) -> Estimate:
        """Return the baseline's estimate in the reward of a guard."""
        return self.estimates[rule.reward, self.baseline]

    def contrast(self, target: str, rule: Guard) -> Floats:
        """Return the coefficient of each estimate in the quantity that a guard limits."""
        indices = {key: index for index, key in enumerate(self.estimates)}
        coefficients = np.zeros(len(indices))
        coefficients[indices[rule.reward, target]] += 1.0
        if rule.kind != "level":
            share = 0.0
            if rule.kind == "share":
                # A share is one of the size of the baseline's mean, as in `Guard.find_gap`.
                sign = 1 if self.find_base(rule).value >= 0 else -1
                share = rule.amount * sign
            coefficients[indices[rule.reward, self.baseline]] -= 1.0 + share
        return coefficients

    def is_answerable(self, target: str, rule: Guard) -> bool:
        """Say whether the log can answer for the quantity that a guard limits."""
        evaluations = self.evaluations[rule.reward]
        if self.baseline is not None and rule.kind != "level" and not evaluations[self.baseline].answerable:
            return False
        return evaluations[target].answerable

    def describe(self, target: str, rule: Guard, probability: float | None) -> GuardLine:
        """Return the line of a target and a guard, which holds with this probability."""
        evaluation = self.evaluations[rule.reward][target]
        if not self.is_answerable(target, rule):
            return GuardLine(
                guard=rule.text, value=None, end=None, limit=None, probability=None, verdict="not answerable"
            )
        gap, limit = rule.find_gap(evaluation.estimate, self.find_base(rule))
        low, high = gap.interval(self.each_level)
        beyond = (high if rule.is_most else low) - limit
        # Values are shown, which are shrunk more than differences: how far the end is beyond the limit stays the same.
        gap_of_values, _ = rule.find_gap(evaluation.estimate.as_value, self.find_base(rule).as_value)
        shown_limit = evaluation.value + limit - gap_of_values.value
        return GuardLine(
            guard=rule.text,
            value=evaluation.value,
            end=shown_limit + beyond,
            limit=shown_limit,
            probability=probability,
            verdict=evaluation.verdict,
        )


def heed_guards(step: NextStep, guarded: Guarded, level: float) -> NextStep:
    """Return what to do about a target that does not keep to all guards. The sentence names the worst guard.

    The target is never shipped, whatever it earns. It is tested only if it may keep to all guards.
    """
    worst = min(guarded.guards, key=lambda line: (line.end is not None, line.probability or 0.0))
    worst_guard = f"`{messages.show(worst.guard)}`"

    if guarded.probability is not None and guarded.probability > 1 - level:
        chance = f"keeps to all guards with a probability of {100 * guarded.probability:.0f} %"
        if guarded.probability >= level:
            chance += ", but the end of an interval is beyond its limit"
        doubt = f"it {chance}, and is the least sure to keep to {worst_guard}"
        if step.action in {"ship", "A/B test"}:
            return replace(step, action="A/B test", sentence=f"Run an A/B test before you ship it: {doubt}.")
        return replace(step, sentence=f"{step.sentence} Besides, {doubt}.")

    is_answered = guarded.probability is not None
    failure = "it does not keep" if is_answered else "this log cannot tell if it keeps"
    reason = f"{failure} to the guard {worst_guard}"
    if step.action == "do not ship" or (step.action == "log more" and not is_answered):
        return replace(step, sentence=f"{step.sentence} Besides, {reason}.")
    return replace(step, action="do not ship", sentence=f"Do not ship it: {reason}.")
