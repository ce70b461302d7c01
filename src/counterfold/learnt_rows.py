"""LearntRows: what a policy remembers of the rows that it was learnt from, so that nobody takes these for new ones."""

from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Floats, Ints
from counterfold.hashing import hash_labels, hash_rows
from counterfold.labels import write_label
from counterfold.log import Log

MOST, LARGEST = 1 << 11, (1 << 63) - 1
"""So many different contexts are remembered at most, those with the least hashes; and no hash is larger than this."""

OTHER, NEAR, CONTEXT, SAME = range(4)
"""What a row is to a policy: out of what it looks at, looked at, of a context that it remembers, remembered itself."""


@dataclass(frozen=True, eq=False)
class LearntRows:
    """The hashes of some rows, and sums that tell the whole log.

    Of all contexts whose hashes are up to `limit`, those that one row alone had are remembered: `contexts` are their
    hashes in ascending order, and `rows` those of context, action and reward. `alone` is the share of all rows whose
    context no other row had. The log had `row_count` rows, and `total` is the sum of all their hashes, modulo 2**63.
    """

    limit: int
    contexts: Ints
    rows: Ints
    alone: float
    row_count: int
    total: int

    @classmethod
    def of(cls, context: Floats, log: Log) -> "LearntRows":
        """Return what to remember of a log, whose contexts (n x d) are encoded as the policy does.

        >>> log = Log(action=[0, 1, 1], reward=[0.0, 1.0, 2.0], propensity=[0.5, 0.5, 0.5])
        >>> known = LearntRows.of(np.array([[1.0], [2.0], [2.0]]), log)
        >>> known.row_count, round(known.alone, 2)
        (3, 0.33)
        >>> known.recognise(np.array([[1.0], [2.0], [3.0]]), log)[:, 1]
        array([3, 1, 1])
        """
        keys, rows = hash_decisions(context, log)
        unique, first, counts = np.unique(keys, return_index=True, return_counts=True)
        limit = LARGEST if len(unique) <= MOST else int(unique[MOST - 1])
        kept = (counts == 1) & (unique <= limit)
        alone = float((counts == 1).sum() / len(keys))
        return cls(limit, unique[kept], rows[first[kept]], alone, len(keys), add_hashes(rows))

    def recognise(self, context: Floats, log: Log) -> Ints:
        """Return the hash of each row of a log, and what it is to the policy (n x 2)."""
        keys, rows = hash_decisions(context, log)
        places = np.minimum(np.searchsorted(self.contexts, keys), max(len(self.contexts) - 1, 0))
        known = self.contexts[places] == keys if len(self.contexts) else np.zeros(len(keys), dtype=bool)
        same = known & (self.rows[places] == rows) if len(self.contexts) else known
        return np.column_stack([rows, (keys <= self.limit).astype(np.intp) + known + same])


def hash_decisions(context: Floats, log: Log) -> tuple[Ints, Ints]:
    """Return the hash of each context (n x d), and of each row of a log: its context, action and reward."""
    keys = hash_rows(context.T) if context.shape[1] else np.zeros(len(log), dtype=np.intp)
    labels = hash_labels(np.array([write_label(label) for label in log.actions]))
    return keys, hash_rows([keys, labels[log.action], log.reward])


def add_hashes(hashes: Ints) -> int:
    """Return the sum of some hashes, modulo 2**63.

    >>> add_hashes(np.array([LARGEST, 3]))
    2
    """
    return int(hashes.astype(np.uint64).sum()) & LARGEST
