"""The noise that fitting a reward model adds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows
from counterfold.log.partition import Partition
from counterfold.models.base import Pulls


@dataclass(frozen=True)
class ModelPull(Estimator):
    """How far rows move `TruncatedSNDR(max_weight)` by what the reward model learns from them; 0 on average.

    Its jackknife says how far the value would move if a unit's rows had not been there to learn from.
    """

    max_weight: float
    needs = ("target_probs", "model")
    is_pull = True

    def contributions(self, rows: Rows) -> Floats:
        return np.asarray(move_values([self.max_weight], rows)[0])

    @classmethod
    def sums(cls, grid: Sequence[Self], rows: Rows, partition: Partition) -> Floats:
        return partition.sums(move_values([one.max_weight for one in grid], rows))[:, None]


def move_values(caps: Sequence[float], rows: Rows) -> Floats:
    """Return how far TruncatedSNDR with each cap would move if all decisions were like each row's (caps x n)."""
    whole = rows.whole or rows
    decisions = whole.total * (1.0 if whole.counts is None else float(whole.counts.mean()))
    return decisions * find_pulls(whole, tuple(caps)).move(rows.examples, rows.residuals)


def find_pulls(rows: Rows, caps: tuple[float, ...]) -> Pulls:
    """Return the pulls on TruncatedSNDR with each cap, which is DM where no weight is left; they are found once."""
    known = rows.known_pulls
    if caps not in known:
        known[caps] = rows.fitted.find_pulls(rows.examples, caps)
    return known[caps]
