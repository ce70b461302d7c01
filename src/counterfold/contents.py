"""Contents: what a log holds, so that a reader of an answer can see what it rests on."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.arrays import Floats
from counterfold.log import Kind, Log


@dataclass(frozen=True)
class Spread:
    """The least, the largest and the mean of some numbers, of which two such can be added."""

    low: float
    high: float
    total: float
    count: int

    @classmethod
    def of(cls, numbers: Floats) -> "Spread":
        """Return the spread of an array."""
        return cls(float(numbers.min()), float(numbers.max()), float(numbers.sum()), len(numbers))

    def __add__(self, other: "Spread") -> "Spread":
        """Return the spread of the numbers of both."""
        ends = min(self.low, other.low), max(self.high, other.high)
        return Spread(*ends, self.total + other.total, self.count + other.count)

    @property
    def mean(self) -> float:
        """Return the mean."""
        return self.total / self.count


@dataclass(frozen=True)
class Contents:
    """What is in a log, whether it is in memory or not."""

    kind: Kind
    rewards: Spread
    propensities: Spread
    doses: Spread | None
    actions: tuple[Any, ...]
    context: tuple[str, ...]
    full_probabilities: bool
    groups: int | None
    loggers: tuple[Any, ...] | None
    action_features: int | None

    @classmethod
    def of(cls, log: Log) -> "Contents":
        """Return what is in a log."""
        return cls(
            kind=log.kind,
            rewards=Spread.of(log.reward),
            propensities=Spread.of(log.propensity),
            doses=None if log.dose is None else Spread.of(log.dose),
            actions=log.actions,
            context=log.context_names,
            full_probabilities=log.logging_probs is not None,
            groups=None if log.group is None else int(np.max(log.group)) + 1,
            loggers=None if log.loggers is None else log.loggers.labels,
            action_features=None if log.action_features is None else log.action_features.shape[1],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON says of a log."""
        return {
            "rows": self.rewards.count,
            "kind": self.kind,
            "actions": [str(action) for action in self.actions],
            "dose": None if self.doses is None else {"low": self.doses.low, "high": self.doses.high},
            "context": list(self.context),
            "groups": self.groups,
            "loggers": None if self.loggers is None else [str(label) for label in self.loggers],
            "action_features": self.action_features,
        }
