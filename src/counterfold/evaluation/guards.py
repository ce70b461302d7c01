"""Guards: what other rewards of a log must not become, and which policies keep to all of them at once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from counterfold import messages
from counterfold.arrays import Bools, Floats
from counterfold.cached import cached_property
from counterfold.errors import ParameterError
from counterfold.estimates import Estimate
from counterfold.evaluation.inequalities import SIGNED
from counterfold.evaluation.joint import LOWEST, Joint, find_each_level, standardise, stretch_noise
from counterfold.evaluation.next_step import NextStep
from counterfold.evaluation.result import Evaluation
from counterfold.tables.roles import NAMED_ROLES
from counterfold.tables.scan import LogScan

ENCLOSED = re.compile(r"'[^']*'|\"[^\"]*\"|\([^()]*\)|\bcase\b.*?\bend\b", re.DOTALL | re.IGNORECASE)
"""What of an expression may hold relations of its own: quoted texts, parentheses and cases."""

TAKEN = ("action", "propensity", "logging_probs")
"""Roles whose columns are found under these names, unless others are named."""

FORMS = "such as `latency <= +2%`, `refund >= -0.01` or `latency <= 200`"


@dataclass(frozen=True)
class GuardLine:
    """How one target keeps to one guard.

    `value` is what it would earn in the guard's reward, `limit` what it may by the estimates, and `end` how far the
    value may be from that in the direction of the limit; with the level of the comparison, no value of any target is
    beyond its end in any guard. `probability` is that the guard holds, of this target alone. Numbers are None where the
    log cannot answer.
    """

    guard: str
    value: float | None
    end: float | None
    limit: float | None
    probability: float | None
    verdict: str


@dataclass(frozen=True)
class Guard:
    """A limit on a reward: at most or at least a level, or a difference to the baseline, or a share of it.

    >>> Guard.of("latency <= +2%")
    Guard(text='latency <= +2%', reward='latency', is_most=True, kind='share', amount=0.02)
    """

    text: str
    reward: str
    is_most: bool
    kind: Literal["level", "difference", "share"]
    amount: float

    @classmethod
    def of(cls, text: str) -> "Guard":
        """Return the guard that a text describes: a signed number is a change from the baseline, others are levels."""
        words = SIGNED.fullmatch(text.strip()) if isinstance(text, str) else None
        if words is None:
            raise ParameterError(f"`guards` must be texts {FORMS}, got {messages.shorten(text)}.")
        reward, side, sign, number, percent = words.groups()
        require_one_relation(text, reward)
        if percent and not sign:
            more, level = f"`+{number}%` or `-{number}%` for a change", f"`{float(number) / 100:g}` for a level"
            raise ParameterError(f"`guards` must have {more}, or {level}, got {messages.shorten(text)}.")
        size = float(sign + number) / (100 if percent else 1)
        kind: Any = "share" if percent else "difference" if sign else "level"
        return cls(" ".join(text.split()), reward, side == "<=", kind, size)

    def is_kept(self, line: GuardLine) -> bool:
        """Say whether the value of a line is clearly on the right side of its limit."""
        if line.end is None or line.limit is None:
            return False
        return line.end <= line.limit if self.is_most else line.end >= line.limit

    def find_gap(self, target: Estimate, base: Estimate) -> tuple[Estimate, float]:
        """Return what the guard is about, and the number that it must not pass.

        A share is one of the size of the baseline's mean: 2 % more than -10 is -9.8.
        """
        if self.kind == "level":
            return target, self.amount
        if self.kind == "difference":
            return target - base, self.amount
        return target - base.times(1 + self.amount * (1 if base.value >= 0 else -1)), 0.0


@dataclass(frozen=True)
class Guarded:
    """Whether a target keeps to all guards: the `probability` that all hold, and that it earns more as well.

    It `passes` if all hold with the level of the comparison, and the `end` of none is beyond its limit: with that
    level, all targets that pass keep to all guards.
    """

    target: str
    passes: bool
    probability: float | None
    probability_better: float | None
    guards: list[GuardLine]


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
        reach = (high if rule.is_most else low) - gap.value
        return GuardLine(
            rule.text, one.value, one.value + reach, one.value + limit - gap.value, probability, one.verdict
        )


def require_one_relation(text: str, reward: str) -> None:
    """Refuse a guard whose reward is compared with something itself: that is yes or no, and within any limit."""
    bare, count = reward, 1
    while count:
        bare, count = ENCLOSED.subn("", bare)
    if re.search("[<>=]", bare):
        way = "Give each limit as a guard of its own"
        raise ParameterError(f"`guards` must have one relation each, got {messages.shorten(text)}. {way}.")


def read_guards(texts: Sequence[str] | str) -> tuple[Guard, ...]:
    """Return the guards that texts describe, each once."""
    several = [texts] if isinstance(texts, str) else texts
    if not isinstance(several, Sequence):
        raise ParameterError(f"`guards` must be a list of texts {FORMS}, got {messages.shorten(texts)}.")
    return tuple(dict.fromkeys(Guard.of(text) for text in several))


def add_rewards(columns: Mapping[str, Any], guards: Sequence[Guard]) -> tuple[str, str | list[str]]:
    """Return the reward to decide by, and all that must be evaluated; `columns` are names that the user gave."""
    reward = columns.get("reward", LogScan.reward)
    if not guards:
        return "", reward if isinstance(reward, str) else list(reward)
    several = [reward] if isinstance(reward, str) else list(reward)
    if len(several) != 1:
        raise ParameterError(f"`guards` must be given with one `reward` to decide by, got {len(several)} rewards.")
    refuse_other_roles(guards, columns)
    return several[0], list(dict.fromkeys([*several, *(guard.reward for guard in guards)]))


def refuse_other_roles(guards: Sequence[Guard], columns: Mapping[str, Any]) -> None:
    """Refuse guards on columns that are no rewards, by the names that the user gave, or that are always taken so."""
    named = {one.name: columns.get(one.name) for one in fields(LogScan) if one.metadata.get("role")}
    named |= {role: role for role in TAKEN if named[role] is None}
    for role, guard in ((role, guard) for role in named if role != "reward" for guard in guards):
        if guard.reward == named[role]:
            got = f"{messages.shorten(guard.text)} on a column that is {NAMED_ROLES.get(role, f'the {role}')}"
            raise ParameterError(f"`guards` must be on rewards, got {got}.")


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
