"""LearntRows: what a policy remembers of the rows that it was learnt from, so that nobody takes these for new ones."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterfold.arrays import Floats, Ints
from counterfold.hashing import hash_labels, hash_rows
from counterfold.labels import write_label
from counterfold.log import Log

MOST, LARGEST = 1 << 11, (1 << 63) - 1
"""So many different contexts are remembered at most, those with the least hashes; and no hash is larger than this."""

KEPT = (1 << 32) - 1
"""The bits of a hash that are remembered: of all of them a number could be computed back."""

BUCKETS = 64
"""Over how many parts of the rows hashes are added up; a row more breaks the sum of one part alone."""

OTHER, NEAR, CONTEXT, SAME = range(4)
"""What a row is to a policy: out of what it looks at, looked at, of a context that it remembers, remembered itself."""


class Hashes(NamedTuple):
    """A hash for each row of a log: of its context, of context and action, and of these with the reward."""

    contexts: Ints
    decisions: Ints
    rows: Ints

    @classmethod
    def of(cls, context: Floats, log: Log) -> "Hashes":
        """Return the hashes of a log, whose contexts (n x d) are encoded; numbers are hashed as float32 has them."""
        keys = hash_rows(round_numbers(context).T) if context.shape[1] else np.zeros(len(log), dtype=np.intp)
        labels = hash_labels(np.array([write_label(label) for label in log.actions]))
        decisions = hash_rows([keys, labels[log.action]])
        return cls(keys, decisions, hash_rows([decisions, round_numbers(log.reward)]))


@dataclass(frozen=True, eq=False)
class LearntRows:
    """The hashes of some rows, and sums that tell the whole log.

    Of all contexts whose hashes are up to `limit`, those that one row alone had, or copies of it, are remembered:
    `contexts` are bits of their hashes in ascending order, and `rows` those of context, action and reward. `alone` is
    the share of such rows among different ones, and `agreement` the chance that two rows have the same reward. The log
    had `row_count` rows; `row_sums` and `decision_sums` are sums of all hashes, with and without rewards.
    """

    limit: int
    contexts: Ints
    rows: Ints
    alone: float
    agreement: float
    row_count: int
    row_sums: NDArray[np.uint64]
    decision_sums: NDArray[np.uint64]

    @classmethod
    def of(cls, context: Floats, log: Log) -> "LearntRows":
        """Return what to remember of a log, whose contexts (n x d) are encoded as the policy does.

        >>> log = Log(action=[0, 1, 1], reward=[0.0, 1.0, 2.0], propensity=[0.5, 0.5, 0.5])
        >>> known = LearntRows.of(np.array([[1.0], [2.0], [2.0]]), log)
        >>> known.row_count, round(known.alone, 2)
        (3, 0.33)
        >>> known.recognise(np.array([[1.0], [2.0], [3.0]]), log)[:, 2]
        array([3, 1, 1])
        """
        every = Hashes.of(context, log)
        rows, place = np.unique(every.rows, return_index=True)
        contexts, first, counts = np.unique(every.contexts[place], return_index=True, return_counts=True)
        limit = LARGEST if len(contexts) <= MOST else int(contexts[MOST - 1])
        kept = (counts == 1) & (contexts <= limit)
        order = np.argsort(contexts[kept] & KEPT)
        remembered = (contexts[kept] & KEPT)[order], (rows[first[kept]] & KEPT)[order]
        shares = np.unique(log.reward, return_counts=True)[1] / len(log)
        alone, sums = float((counts == 1).sum() / len(rows)), map(add_hashes, (every.rows, every.decisions))
        return cls(limit, *remembered, alone, float(shares @ shares), len(log), *sums)

    def recognise(self, context: Floats, log: Log) -> Ints:
        """Return the hash of each row of a log and of its decision, and what it is to the policy (n x 3)."""
        every = Hashes.of(context, log)
        known = same = np.zeros(len(log), dtype=bool)
        near = every.contexts <= self.limit
        if len(self.contexts):
            place = np.minimum(np.searchsorted(self.contexts, every.contexts & KEPT), len(self.contexts) - 1)
            known = near & (self.contexts[place] == every.contexts & KEPT)
            same = known & (self.rows[place] == every.rows & KEPT)
        return np.column_stack([every.rows, every.decisions, near.astype(np.intp) + known + same])


def round_numbers(numbers: Floats) -> Floats:
    """Return numbers as float32 has them, as which some tools write them."""
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32).astype(np.float64)


def add_hashes(hashes: Ints) -> NDArray[np.uint64]:
    """Return the sums of some hashes over parts of them, modulo 2**64."""
    sums = np.zeros(BUCKETS, dtype=np.uint64)
    np.add.at(sums, hashes % BUCKETS, hashes.astype(np.uint64))
    return sums
