"""LearntRows: what a policy remembers of the rows that it was learnt from, so that nobody takes these for new ones."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.hashing import hash_labels, hash_rows
from counterfold.log.labels import write_label
from counterfold.log.log import Log

MOST, LARGEST = 1 << 14, (1 << 63) - 1
"""So many different contexts are watched at most, those with the least hashes; and no hash is larger than this."""

ROOM = 2
"""How many places there are for each row that is marked, by the hash of which one is taken.

Two fifths of the places are taken then, so of rows that were never there as many find theirs taken: whoever has the
marks cannot be sure of any row.
"""

PARTS, FULL, BITS = 64, 16, 16
"""Hashes are added up over at most PARTS parts of the rows, of FULL rows each at least, and BITS bits are kept."""

OTHER, WATCHED, CONTEXT, SAME = range(4)
"""A row may have a context that is not watched, or is; be watched with a marked context; be marked itself as well."""


class Hashes(NamedTuple):
    """A hash for each row of a log: of its context, of context and action, and of these with the reward."""

    contexts: Ints
    decisions: Ints
    rows: Ints

    @classmethod
    def of(cls, context: Floats, log: Log) -> "Hashes":
        """Return the hashes of a log, whose contexts (n x d) are encoded."""
        keys = hash_rows(round_numbers(context).T) if context.shape[1] else np.zeros(len(log), dtype=np.intp)
        labels = hash_labels(np.array([write_label(label) for label in log.actions]))
        decisions = hash_rows([keys, labels[log.action]])
        return cls(keys, decisions, hash_rows([decisions, round_numbers(log.reward)]))


@dataclass(frozen=True, eq=False)
class LearntRows:
    """Marks of some rows, and sums that tell the whole log.

    Contexts are watched if their hashes are at most `limit`. Those of them that one row alone had, or copies of it, are
    marked in `contexts`, and that row with action and reward in `rows`; there are `marked` such rows. Of all different
    rows, watched or not, the `markable_share` have such a context, and `agreement` is the chance that two rows have the
    same reward. The log had `row_count` rows; `row_sums` and `decision_sums` are sums of all hashes, with and without
    rewards.
    """

    limit: int
    contexts: Bools
    rows: Bools
    marked: int
    markable_share: float
    agreement: float
    row_count: int
    row_sums: NDArray[np.uint16]
    decision_sums: NDArray[np.uint16]

    @classmethod
    def of(cls, context: Floats, log: Log) -> "LearntRows":
        """Return what to remember of a log, whose contexts (n x d) are encoded as the policy does.

        >>> log = Log(action=[0, 1, 1], reward=[0.0, 1.0, 2.0], propensity=[0.5, 0.5, 0.5])
        >>> known = LearntRows.of(np.array([[1.0], [2.0], [2.0]]), log)
        >>> known.row_count, known.marked, round(known.markable_share, 2)
        (3, 1, 0.33)
        >>> known.recognise(np.array([[1.0], [2.0], [2.0]]), log)[0, 2] == SAME
        np.True_
        """
        every = Hashes.of(context, log)
        rows, place = np.unique(every.rows, return_index=True)
        contexts, first, counts = np.unique(every.contexts[place], return_index=True, return_counts=True)
        limit = LARGEST if len(contexts) <= MOST else int(contexts[MOST - 1])
        kept = (counts == 1) & (contexts <= limit)
        marks = mark(contexts[kept]), mark(rows[first[kept]])
        shares = np.unique(round_numbers(log.reward), return_counts=True)[1] / len(log)
        markable_share, agreement = float((counts == 1).sum() / len(rows)), float(shares @ shares)
        parts = max(1, min(PARTS, len(log) // FULL))
        sums = (add_hashes(one, parts) for one in (every.rows, every.decisions))
        return cls(limit, *marks, int(kept.sum()), markable_share, agreement, len(log), *sums)

    @property
    def parts(self) -> int:
        """Return over how many parts of the rows hashes are added up."""
        return len(self.row_sums)

    @property
    def taken_contexts(self) -> float:
        """Return the share of the places for contexts that are taken: how likely a strange one seems to be marked."""
        return float(self.contexts.mean())

    @property
    def taken_rows(self) -> float:
        """Return the share of the places for rows that are taken: how likely a strange one seems to be marked."""
        return float(self.rows.mean())

    def recognise(self, context: Floats, log: Log) -> Ints:
        """Return the hash of each row of a log, that of its decision, and what it is to the policy (n x 3)."""
        every = Hashes.of(context, log)
        watched = every.contexts <= self.limit
        known = watched & self.contexts[every.contexts % len(self.contexts)]
        same = known & self.rows[every.rows % len(self.rows)]
        return np.column_stack([every.rows, every.decisions, watched.astype(np.intp) + known + same])

    @property
    def is_sound(self) -> bool:
        """Say whether a policy of `learn` may remember this; it may come from a file that is damaged."""
        counts, shares = (self.limit, self.marked, self.row_count), (self.markable_share, self.agreement)
        marks, sums = (self.contexts, self.rows), (self.row_sums, self.decision_sums)
        return (
            all(isinstance(one, int) and one >= 0 for one in counts)
            and all(isinstance(one, float) and 0 <= one <= 1 for one in shares)
            and all(is_vector(one, np.bool_) and not one.all() for one in marks)
            and all(is_vector(one, np.uint16) and len(one) == self.parts for one in sums)
            and self.row_count > 0
            and (self.markable_share > 0 or not self.marked)
        )


def is_vector(value: object, kind: type[np.generic]) -> bool:
    """Say whether a value is a list of one kind of numbers, which is not empty."""
    return isinstance(value, np.ndarray) and value.dtype == kind and value.ndim == 1 and value.size > 0


def mark(hashes: Ints) -> Bools:
    """Return which of several places are taken, one by each hash."""
    places = np.zeros(max(1, ROOM * len(hashes)), dtype=bool)
    places[hashes % len(places)] = True
    return places


def round_numbers(numbers: Floats) -> Floats:
    """Return numbers as float32 has them, as which some tools write them; whole numbers, such as times, stay."""
    with np.errstate(over="ignore"):
        return np.where(numbers == np.floor(numbers), numbers, numbers.astype(np.float32).astype(np.float64))


def add_hashes(hashes: Ints, parts: int) -> NDArray[np.uint16]:
    """Return the sums of some bits of hashes over parts of them, modulo 2**16."""
    sums = np.bincount(hashes % parts, (hashes >> BITS) % (1 << BITS), parts)
    return np.asarray(sums.astype(np.int64) % (1 << BITS), dtype=np.uint16)
