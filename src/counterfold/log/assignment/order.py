"""Whether rows come in an order that follows from their actions or rewards, and not in that of time."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Ints
from counterfold.log.log import Log


@dataclass(frozen=True)
class OrderSums:
    """How often neighbouring rows of a log differ in their action, and have rising or falling rewards; they add up.

    `seen` are the labels of all actions that were taken.
    """

    seen: frozenset[str]
    pairs: int
    changes: int
    rises: int
    falls: int

    @classmethod
    def of(cls, log: Log, place: Ints) -> "OrderSums":
        """Return the sums of some rows, in the order of the log."""
        steps, rewards = np.diff(log.action[place]), np.diff(log.reward[place])
        taken = np.unique(log.action[place]).tolist() if log.actions else []
        seen = frozenset(str(log.actions[code]) for code in taken)
        return cls(seen, len(steps), int((steps != 0).sum()), int((rewards > 0).sum()), int((rewards < 0).sum()))

    def __add__(self, other: "OrderSums") -> "OrderSums":
        changes, rises, falls = self.changes + other.changes, self.rises + other.rises, self.falls + other.falls
        return OrderSums(self.seen | other.seen, self.pairs + other.pairs, changes, rises, falls)

    @property
    def is_sorted(self) -> bool:
        """Say whether rows are sorted by their actions, each in one block, or by their rewards."""
        in_blocks = self.changes < min(len(self.seen), self.pairs / 2)
        return in_blocks or (self.rises > 0) != (self.falls > 0)
