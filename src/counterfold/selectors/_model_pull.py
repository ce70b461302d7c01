"""The noise that fitting a reward model adds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows
from counterfold.log.partition import Partition
from counterfold.models.base import Pull


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
    first, *others = [find_pull(whole, cap) for cap in caps]
    return decisions * first.move(others, rows.examples, rows.residuals)


def find_pull(rows: Rows, max_weight: float) -> Pull:
    """Return the pull on TruncatedSNDR, which is DM where no weight is left; it is found once."""
    known, counts = rows.known_pulls, np.ones(len(rows)) if rows.counts is None else rows.counts
    if max_weight in known:
        return known[max_weight]
    if max_weight == 0:
        found = rows.fitted.find_pull(rows.examples, counts / counts.sum(), of_policy=True)
    else:
        masses = np.minimum(rows.weights, max_weight) * counts
        shares = masses / (masses.sum() or 1.0)
        found = find_pull(rows, 0.0) - rows.fitted.find_pull(rows.examples, shares, of_policy=False)
    return known.setdefault(max_weight, found)
