"""Whether rows come in an order that follows from their actions or rewards, and not in that of time."""

from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Ints
from counterfold.log import Log


@dataclass(frozen=True)
class OrderSums:
    """How often neighbouring rows of a log differ in their action, and have rising or falling rewards; they add up."""

    pairs: int
    changes: int
    rises: int
    falls: int

    @classmethod
    def of(cls, log: Log, place: Ints) -> "OrderSums":
        """Return the sums of some rows, in the order of the log."""
        steps, rewards = np.diff(log.action[place]), np.diff(log.reward[place])
        return cls(len(steps), int((steps != 0).sum()), int((rewards > 0).sum()), int((rewards < 0).sum()))

    def __add__(self, other: "OrderSums") -> "OrderSums":
        changes, rises, falls = self.changes + other.changes, self.rises + other.rises, self.falls + other.falls
        return OrderSums(self.pairs + other.pairs, changes, rises, falls)

    def is_sorted(self, n_actions: int) -> bool:
        """Say whether rows are sorted by their actions, each in one block, or by their rewards."""
        in_blocks = self.changes < min(n_actions, self.pairs / 2)
        return in_blocks or (self.rises > 0) != (self.falls > 0)
