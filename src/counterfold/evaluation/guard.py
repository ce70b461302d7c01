"""Guard: a limit on another reward, as users write it, and on which rewards guards may be."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from counterfold.base import messages
from counterfold.base.errors import ParameterError
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation import inequalities
from counterfold.io.schema.column_roles import ROLES
from counterfold.io.schema.roles import NAMED_ROLES
from counterfold.io.schema.scan import LogScan

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
        """Return the guard that a text describes.

        A signed number is a change from the baseline; others are levels, and so are those in parentheses.
        """
        given = text.strip() if isinstance(text, str) else ""
        own = inequalities.ENCLOSED.fullmatch(given)
        if own is not None:
            require_one_relation(text, own[1])
            return cls(" ".join(given.split()), own[1], own[2] == "<=", "level", float(own[3]))
        words = inequalities.SIGNED.fullmatch(given)
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
