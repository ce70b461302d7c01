"""Log: validated logged data, one row per decision; and `Contents`, what such a log holds."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from counterfold import log_checks
from counterfold.arrays import Bools, Floats, Ints
from counterfold.checks import WHOLE, Checker, freeze
from counterfold.errors import DataError

Kind = Literal["labels", "doses"]
"""What an action is: one of a few labels, or a number such as a price."""


class Log:
    """What the old policy saw, did and got; checked once, here, and trusted everywhere else.

    Every argument takes a numpy array or anything that turns into one: a list, a pandas or polars column or frame, a
    pyarrow array; the log keeps copies. Give `logging_probs` if you have them, as `propensity` alone leaves some
    estimators out.

    - `context`: numbers, one row per decision; without it the reward model knows the action alone.
    - `action`: labels of any one kind. `actions` lists all labels in the order of the probabilities' columns; by
      default it is the columns' names, or 0 to A - 1 for whole-number labels below A, or the sorted labels seen.
    - `dose`: instead of `action`, a number such as a price; `propensity` is then its probability density.
    - `group`: a user or session per row. Splits keep groups together and errors treat a group as one observation.
    - `available`: which actions could be taken in each row (n x A of booleans).
    - `action_features`: numbers that describe each action (A x k), in the order of `actions` or by label.
    - `logger`, `logger_probs`: which of several policies took each decision, and by label the probabilities (n x A)
      that each of them gives in every row, whoever decided there; `logging_probs` follow from them.
    - `check`, `seen`: for a log that is a part of a longer one, how its rows and columns are named in errors, and which
      actions the longer one ever took. `named_context` says whether somebody chose the columns of the context;
      `evaluate` leaves out those that are none if nobody did.

    >>> import counterfold as cf
    >>> cf.Log(action=["a", "b", "a"], reward=[1.0, 0.0, 0.5], propensity=[0.5, 0.5, 0.8])
    Log(3 rows, 2 actions, 0 context columns, propensities only)
    >>> cf.Log(dose=[9.9, 12.5, 11.0], reward=[1.0, 0.0, 0.5], propensity=[0.1, 0.3, 0.2])
    Log(3 rows, doses from 9.9 to 12.5, 0 context columns, propensities only)
    """

    reward: Floats
    propensity: Floats
    context: Floats
    context_names: tuple[str, ...]
    action: Ints
    actions: tuple[Any, ...] = ()
    dose: Floats | None = None
    group: Ints | None
    available: Bools | None = None
    logging_probs: Floats | None = None
    loggers: log_checks.Loggers | None = None
    action_features: Floats | None = None
    row_numbers: Ints | None
    seen: Bools | None
    named_context: bool
    left_out: Mapping[str, str] = MappingProxyType({})

    def __init__(  # noqa: PLR0913 (a log has many columns)
        self,
        *,
        reward: ArrayLike,
        action: ArrayLike | None = None,
        context: ArrayLike | None = None,
        logging_probs: ArrayLike | None = None,
        propensity: ArrayLike | None = None,
        group: ArrayLike | None = None,
        available: ArrayLike | None = None,
        actions: Sequence[Any] | None = None,
        action_features: ArrayLike | Mapping[Any, ArrayLike] | None = None,
        logger: ArrayLike | None = None,
        logger_probs: Mapping[Any, ArrayLike] | None = None,
        dose: ArrayLike | None = None,
        check: Checker = WHOLE,
        seen: Bools | None = None,
        named_context: bool = True,
    ) -> None:
        """Check every argument and keep what the estimators need."""
        self.named_context = named_context
        self.reward = log_checks.check_rewards(reward, check)
        self.context, self.context_names = log_checks.check_context(context, len(self), check)
        self.group = None if group is None else log_checks.check_groups(group, len(self), check)
        self.action = np.zeros(len(self), dtype=np.intp)
        self.row_numbers, self.seen = check.row_numbers, seen
        if dose is not None:
            self.dose = log_checks.check_doses(dose, len(self), check)
            given: dict[str, Any] = {"action": action, "actions": actions, "logging_probs": logging_probs}
            given |= {"available": available, "action_features": action_features}
            given |= {"logger": logger, "logger_probs": logger_probs}
            beside = [f"`{name}` goes with `action`" for name, value in given.items() if value is not None]
            if beside:
                raise DataError(f"a log must have `action` or `dose`, and {beside[0]}, got it with `dose`.")
            self.propensity = log_checks.check_densities(propensity, len(self), check)
            return
        self._know_actions(action, actions, logging_probs, logger, logger_probs, check)
        self.available = log_checks.check_availability(available, self.action, self.actions, check)
        if self.logging_probs is not None and self.available is not None:
            allowed = self.available | (self.logging_probs == 0)
            check.every("logging_probs", self.logging_probs, allowed, "0 where an action is not `available`")
        source = "logging_probs" if self.loggers is None else "logger_probs"
        self.propensity = log_checks.check_propensity(propensity, self.logging_probs, self.action, source, check)
        if action_features is not None:
            self.action_features = log_checks.check_action_features(action_features, self.actions)

    def _know_actions(
        self, action: Any, actions: Any, logging_probs: Any, logger: Any, logger_probs: Any, check: Checker
    ) -> None:
        """Find all actions, from the labels and from whatever has a column for each, and what was logged of them."""
        if action is None:
            raise DataError("a log must have `action` or `dose`, got neither.")
        labels = log_checks.check_labels("action", action, len(self), check)
        several = log_checks.has_several_loggers(logger, logger_probs, check)
        name, shown = "logging_probs", logging_probs
        if several and logging_probs is None:
            name, shown = "logger_probs", next(iter(logger_probs.values()))
        probs, columns = (None, None) if shown is None else log_checks.check_matrix(name, shown, len(self), check)
        width = None if probs is None else probs.shape[1]
        self.actions = log_checks.find_actions(labels, actions, columns, width, check)
        self.action = log_checks.encode_labels("action", labels, self.actions, check)
        if logging_probs is not None:
            self.logging_probs = log_checks.check_policy("logging_probs", logging_probs, len(self), self.actions, check)
        if several:
            self.loggers = log_checks.check_loggers(logger, logger_probs, len(self), self.actions, check)
            given, self.logging_probs = self.logging_probs, self.loggers.own
            if given is not None:
                agree = np.abs(given - self.logging_probs) <= log_checks.PROPENSITY_TOLERANCE
                check.every("logging_probs", given, agree, "those of the row's own logger in `logger_probs`")

    def leave_out(self, reasons: Mapping[str, str]) -> "Log":
        """Return the same log without some columns of its context, and with the reason for each of them."""
        kept = [place for place, name in enumerate(self.context_names) if name not in reasons]
        log = copy(self)
        log.context = freeze(np.ascontiguousarray(self.context[:, kept]))
        log.context_names = tuple(self.context_names[place] for place in kept)
        log.left_out = {**self.left_out, **reasons}
        return log

    def __len__(self) -> int:
        return len(self.reward)

    def __repr__(self) -> str:
        known = "propensities only" if self.logging_probs is None else "full logging probabilities"
        return f"Log({len(self)} rows, {self.choices}, {self.context.shape[1]} context columns, {known})"

    @property
    def kind(self) -> Kind:
        """Return what an action is here."""
        return "labels" if self.dose is None else "doses"

    @property
    def choices(self) -> str:
        """Say in a few words what could be done."""
        if self.dose is None:
            return f"{len(self.actions)} actions"
        return f"doses from {self.dose.min():g} to {self.dose.max():g}"

    @cached_property
    def supports_all(self) -> bool:
        """Return whether the log could have taken every action in every row."""
        return bool(self.supported.all())

    @cached_property
    def supported(self) -> Bools:
        """Return which actions the log could have taken in each row (n x A), as far as the log tells."""
        if self.logging_probs is not None:
            return np.asarray(self.logging_probs > 0)
        if self.available is not None:
            return self.available
        seen = np.bincount(self.action, minlength=len(self.actions)) > 0 if self.seen is None else self.seen
        return np.broadcast_to(seen, (len(self), len(self.actions)))


@dataclass(frozen=True)
class Spread:
    """The least and the largest of some numbers, their sum and their count; two such can be added."""

    low: float
    high: float
    total: float
    count: int

    @classmethod
    def of(cls, values: Floats) -> "Spread":
        """Return the spread of an array."""
        return cls(float(values.min()), float(values.max()), float(values.sum()), len(values))

    def __add__(self, other: "Spread") -> "Spread":
        ends = min(self.low, other.low), max(self.high, other.high)
        return Spread(*ends, self.total + other.total, self.count + other.count)

    @property
    def mean(self) -> float:
        """Return the mean."""
        return self.total / self.count


@dataclass(frozen=True)
class Contents:
    """What is in a log, whether it is in memory or not.

    `context` are the columns that were taken for context, and `left_out` says which others might have been and why they
    were not.
    """

    rewards: Spread
    propensities: Spread
    doses: Spread | None
    actions: tuple[Any, ...]
    context: tuple[str, ...]
    full_probabilities: bool
    groups: int | None
    loggers: tuple[Any, ...] | None
    action_features: int | None
    left_out: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, log: Log) -> "Contents":
        """Return what is in a log."""
        return cls(
            rewards=Spread.of(log.reward),
            propensities=Spread.of(log.propensity),
            doses=None if log.dose is None else Spread.of(log.dose),
            actions=log.actions,
            context=log.context_names,
            full_probabilities=log.logging_probs is not None,
            groups=None if log.group is None else int(np.max(log.group)) + 1,
            loggers=None if log.loggers is None else log.loggers.labels,
            action_features=None if log.action_features is None else log.action_features.shape[1],
            left_out=dict(log.left_out),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON says of a log."""
        return {
            "rows": self.rewards.count,
            "kind": "labels" if self.doses is None else "doses",
            "actions": [str(action) for action in self.actions],
            "dose": None if self.doses is None else {"low": self.doses.low, "high": self.doses.high},
            "context": list(self.context),
            "left_out": dict(self.left_out),
            "groups": self.groups,
            "loggers": None if self.loggers is None else [str(label) for label in self.loggers],
            "action_features": self.action_features,
        }
