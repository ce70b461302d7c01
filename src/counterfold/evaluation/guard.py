"""Guard: a limit on another reward, as users write it, and on which rewards guards may be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from counterfold.base import messages
from counterfold.base.errors import ParameterError
from counterfold.base.notation import has_relation, read_relation
from counterfold.diagnostics import Verdict
from counterfold.estimators.estimates import Estimate
from counterfold.io.schema.column_roles import ROLES
from counterfold.io.schema.roles import NAMED_ROLES
from counterfold.io.schema.scan import LogScan

TAKEN = ("action", "propensity", "logging_probs")
"""Roles whose columns are found under these names, unless others are named."""

FORMS = "such as `latency <= +2%`, `refund >= -0.01` or `latency <= 200`"


@dataclass(frozen=True)
class GuardLine:
    """How one target keeps to one guard. Numbers are None where the log cannot answer."""

    guard: str
    """The guard as it was given."""

    value: float | None
    """What the target would earn in the guard's reward; null, as the other numbers, where the log cannot answer."""

    end: float | None
    """The bound of the value in the direction of the limit.

    With the level of the comparison, no value of any target is beyond its bound in any guard.
    """

    limit: float | None
    """The limit, computed from the estimates."""

    probability: float | None
    """The probability that the guard holds, for this target alone."""

    verdict: Verdict
    """The verdict on the target by that reward."""


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
        """Return the guard that a text describes.

        A signed number is a change from the baseline; others are levels, and so are those in parentheses.
        """
        relation = read_relation(text) if isinstance(text, str) else None
        if relation is None:
            raise ParameterError(f"`guards` must be texts {FORMS}, got {messages.shorten(text)}.")
        # A reward that is compared with something itself is yes or no, and within any limit.
        if has_relation(relation.left):
            way = "Give each limit as a guard of its own"
            raise ParameterError(f"`guards` must have one relation each, got {messages.shorten(text)}. {way}.")
        if relation.is_percentage and not relation.sign:
            change = f"`+{relation.number}%` or `-{relation.number}%` for a change"
            level = f"`{relation.amount:g}` for a level"
            raise ParameterError(f"`guards` must have {change}, or {level}, got {messages.shorten(text)}.")
        kind: Literal["level", "difference", "share"] = "level"
        if relation.is_percentage:
            kind = "share"
        elif relation.sign and not relation.is_enclosed:
            kind = "difference"
        return cls(
            text=" ".join(text.split()),
            reward=relation.left,
            is_most=relation.side == "<=",
            kind=kind,
            amount=relation.amount,
        )

    def is_kept(self, line: GuardLine) -> bool:
        """Say whether the value of a line is clearly on the right side of its limit."""
        if line.end is None or line.limit is None:
            return False
        return line.end <= line.limit if self.is_most else line.end >= line.limit

    def cannot_fail(self, least: float, most: float) -> bool:
        """Say whether no policy can break the guard, as all rewards in the log lie between these.

        >>> Guard.of("visit >= 0").cannot_fail(0.0, 1.0), Guard.of("visit >= +0").cannot_fail(0.0, 1.0)
        (True, False)
        """
        if self.kind == "share":
            return False
        if self.kind == "difference":
            least, most = least - most, most - least
        return most <= self.amount if self.is_most else least >= self.amount

    def find_gap(self, target: Estimate, base: Estimate) -> tuple[Estimate, float]:
        """Return what the guard is about, and the number that it must not pass.

        A share is one of the size of the baseline's mean: 2 % more than -10 is -9.8.
        """
        if self.kind == "level":
            return target, self.amount
        if self.kind == "difference":
            return target - base, self.amount
        return target - base.times(1 + self.amount * (1 if base.value >= 0 else -1)), 0.0


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
    for role in ROLES:
        if role == "reward":
            continue
        column = columns.get(role)
        if column is None and role in TAKEN:
            column = role
        for guard in guards:
            if guard.reward == column:
                got = f"{messages.shorten(guard.text)} on a column that is {NAMED_ROLES.get(role, f'the {role}')}"
                raise ParameterError(f"`guards` must be on rewards, got {got}.")
