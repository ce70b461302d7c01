"""Fingerprints of the rows that a policy was trained on, so that the check `known-rows` finds them again in a log.

`LearntRows` is saved with the policy. It holds no rows and no hashes, only marks and sums of hashes. A digest of the
whole log would be shorter, but would miss logs that contain only a part of the training rows, or other rows besides.
`docs/findings/known-rows.md` describes the method.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.hashing import hash_labels, hash_rows
from counterfold.log.labels import write_label
from counterfold.log.log import Log

MAX_WATCHED_CONTEXTS = 1 << 14
"""At most so many different contexts are watched: those with the smallest hashes."""

LARGEST_HASH = (1 << 63) - 1
"""No hash is larger."""

PLACES_PER_ROW = 2
"""The number of places for each marked row; the hash of a row decides which place it takes.

About two fifths of the places are taken then, so two fifths of the rows that were never there find their place taken.
Whoever has the marks cannot be sure of any row.
"""

MAX_PARTS = 64
"""Hashes are summed over at most so many parts of the rows."""

MIN_ROWS_PER_PART = 16
"""Each part has at least so many rows, unless there is only one."""

SUM_BITS = 16
"""How many bits of a hash are summed, and how many bits of the sum are kept."""

OTHER, WATCHED, CONTEXT, SAME = range(4)
"""What a row is to a policy; each includes the one before.

- `OTHER`: its context is not watched.
- `WATCHED`: its context is watched.
- `CONTEXT`: its context is marked.
- `SAME`: context, action and reward are marked.
"""

MAX_CHANCE = 1e-6
"""So many matching rows must be less likely than this by chance."""

MIN_MARKED_ROWS = 10
"""At least so many rows must be marked to recognise a part of a log."""

MIN_EQUAL_SUMS = 0.75
"""Two logs are the same if at least this share of their sums is equal."""

MIN_PARTS_WITH_ROWS = 16
"""At least so many parts must have rows, or their sums are not compared one by one."""

CERTAIN_SHARE = 0.97
"""Rows are certainly the same if this share of the rows with a marked context is."""

OverlapKind = Literal["same rows", "alike rows", "same decisions", "none"]


class Overlap(NamedTuple):
    """The share of the rows that a policy was trained on; None if that cannot be determined.

    Of rows that are only alike, and of the same decisions with other rewards, it is unknown whether they are the same
    rows or new ones of the same users.
    """

    share: float | None
    kind: OverlapKind

    def make_sort_key(self, many: float) -> tuple[bool, float]:
        """Return a key that sorts overlaps by gravity: first whether the log cannot answer, then the share."""
        share = -1.0 if self.share is None else self.share
        return self.kind == "same rows" and share >= many, share


class RowHashes(NamedTuple):
    """Hashes of the rows of a log: of the context, of context and action, and of context, action and reward."""

    contexts: Ints
    decisions: Ints
    rows: Ints

    @classmethod
    def of(cls, context: Floats, log: Log) -> "RowHashes":
        """Return the hashes of a log, whose contexts (n x d) are encoded as the policy encodes them."""
        contexts = np.zeros(len(log), dtype=np.intp)
        if context.shape[1]:
            contexts = hash_rows(round_numbers(context).T)
        labels = hash_labels(np.array([write_label(label) for label in log.actions]))
        decisions = hash_rows([contexts, labels[log.action]])
        rows = hash_rows([decisions, round_numbers(log.reward)])
        return cls(contexts=contexts, decisions=decisions, rows=rows)


@dataclass(frozen=True, eq=False)
class LearntRows:
    """The fingerprint of training rows. Saved policies contain it, so its fields keep their names.

    - `limit`: contexts are watched if their hashes are at most this.
    - `contexts`: marks of the watched contexts that only one row has, not counting copies of that row.
    - `rows`: marks of these rows, with action and reward.
    - `marked`: the number of these rows.
    - `markable_share`: the share of such rows among all different rows, whether their contexts are watched or not.
    - `agreement`: the probability that two rows have the same reward.
    - `row_count`: the number of training rows.
    - `row_sums`, `decision_sums`: sums of the hashes of all rows, with and without rewards.
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
        """Return the fingerprint of a log, whose contexts (n x d) are encoded as the policy encodes them.

        >>> log = Log(action=[0, 1, 1], reward=[0.0, 1.0, 2.0], propensity=[0.5, 0.5, 0.5])
        >>> context = np.array([[1.0], [2.0], [2.0]])
        >>> fingerprint = LearntRows.of(context, log)
        >>> fingerprint.row_count, fingerprint.marked, round(fingerprint.markable_share, 2)
        (3, 1, 0.33)
        >>> fingerprint.recognise(context, log)[0, 2] == SAME
        np.True_
        """
        hashes = RowHashes.of(context, log)
        rows, row_places = np.unique(hashes.rows, return_index=True)
        contexts, first_rows, counts = np.unique(hashes.contexts[row_places], return_index=True, return_counts=True)
        is_markable = counts == 1
        limit = LARGEST_HASH
        if len(contexts) > MAX_WATCHED_CONTEXTS:
            limit = int(contexts[MAX_WATCHED_CONTEXTS - 1])
        is_marked = is_markable & (contexts <= limit)
        reward_counts = np.unique(round_numbers(log.reward), return_counts=True)[1]
        reward_shares = reward_counts / len(log)
        n_parts = max(1, min(MAX_PARTS, len(log) // MIN_ROWS_PER_PART))
        return cls(
            limit=limit,
            contexts=mark_places(contexts[is_marked]),
            rows=mark_places(rows[first_rows[is_marked]]),
            marked=int(is_marked.sum()),
            markable_share=float(is_markable.sum() / len(rows)),
            agreement=float(reward_shares @ reward_shares),
            row_count=len(log),
            row_sums=sum_hashes(hashes.rows, n_parts),
            decision_sums=sum_hashes(hashes.decisions, n_parts),
        )

    @property
    def n_parts(self) -> int:
        """Return the number of parts over which hashes are summed."""
        return len(self.row_sums)

    @property
    def taken_contexts(self) -> float:
        """Return the share of taken places for contexts: the probability that an unrelated context seems marked."""
        return float(self.contexts.mean())

    @property
    def taken_rows(self) -> float:
        """Return the share of taken places for rows: the probability that an unrelated row seems marked."""
        return float(self.rows.mean())

    def recognise(self, context: Floats, log: Log) -> Ints:
        """Return for each row its hash, the hash of its decision, and what it is to the policy (n x 3)."""
        hashes = RowHashes.of(context, log)
        is_watched = hashes.contexts <= self.limit
        has_context = is_watched & self.contexts[hashes.contexts % len(self.contexts)]
        is_same = has_context & self.rows[hashes.rows % len(self.rows)]
        kinds = is_watched.astype(np.intp) + has_context + is_same
        return np.column_stack([hashes.rows, hashes.decisions, kinds])

    @property
    def is_sound(self) -> bool:
        """Say whether `learn` can have made this; a damaged file may hold anything."""
        counts = (self.limit, self.marked, self.row_count)
        shares = (self.markable_share, self.agreement)
        marks = (self.contexts, self.rows)
        sums = (self.row_sums, self.decision_sums)
        return (
            all(isinstance(count, int) and count >= 0 for count in counts)
            and all(isinstance(share, float) and 0 <= share <= 1 for share in shares)
            and all(is_vector(places, np.bool_) and not places.all() for places in marks)
            and all(is_vector(vector, np.uint16) and len(vector) == self.n_parts for vector in sums)
            and self.row_count > 0
            and (self.markable_share > 0 or not self.marked)
        )


@dataclass(frozen=True, eq=False)
class RecognisedRows:
    """What one policy recognises in some rows. The results of two batches can be added.

    - `row_count`: the number of rows.
    - `row_sums`, `decision_sums`: sums of their hashes.
    - `watched`: the number of rows whose context is watched.
    - `known`: of these, the number whose context is marked.
    - `same`: of these, the number whose action and reward are marked, too.
    """

    row_count: int
    row_sums: NDArray[np.uint16]
    decision_sums: NDArray[np.uint16]
    watched: int
    known: int
    same: int

    @classmethod
    def of(cls, recognised: Ints, learnt: LearntRows) -> "RecognisedRows":
        """Return what a policy recognises, from what it says of each row (n x 3)."""
        rows, decisions, kinds = recognised.T
        return cls(
            row_count=len(rows),
            row_sums=sum_hashes(rows, learnt.n_parts),
            decision_sums=sum_hashes(decisions, learnt.n_parts),
            watched=int((kinds >= WATCHED).sum()),
            known=int((kinds >= CONTEXT).sum()),
            same=int((kinds >= SAME).sum()),
        )

    def __add__(self, other: "RecognisedRows") -> "RecognisedRows":
        return RecognisedRows(
            row_count=self.row_count + other.row_count,
            row_sums=self.row_sums + other.row_sums,
            decision_sums=self.decision_sums + other.decision_sums,
            watched=self.watched + other.watched,
            known=self.known + other.known,
            same=self.same + other.same,
        )

    def compare(self, learnt: LearntRows) -> Overlap:
        """Return how many of the rows the policy was trained on."""
        is_whole = self.row_count == learnt.row_count and bool((self.row_sums == learnt.row_sums).all())
        if is_whole or are_sums_alike(self.row_sums, learnt.row_sums):
            return Overlap(1.0, "same rows")
        overlap = self.compare_marks(learnt)
        if overlap.kind == "none" and are_sums_alike(self.decision_sums, learnt.decision_sums):
            return Overlap(1.0, "same decisions")
        return overlap

    def compare_marks(self, learnt: LearntRows) -> Overlap:
        """Return the overlap by the marks, corrected for places that are taken by chance."""
        if learnt.marked < MIN_MARKED_ROWS or not self.watched:
            return Overlap(None, "none")
        n_contexts = (self.known - learnt.taken_contexts * self.watched) / (1 - learnt.taken_contexts)
        if n_contexts <= 0 or not self.exceeds_chance(learnt.taken_rows):
            return Overlap(0.0 if self.would_show_half(learnt) else None, "none")
        n_same = (self.same - learnt.taken_rows * self.known) / (1 - learnt.taken_rows)
        sameness = min(n_same / n_contexts, 1.0)
        is_certain = sameness >= CERTAIN_SHARE
        share = min(n_contexts / (self.watched * learnt.markable_share), 1.0)
        # Users who come back and are treated as before may have the same reward again, with this probability.
        same_by_chance = (1 + learnt.agreement) / 2
        taken_by_chance = learnt.taken_rows + (1 - learnt.taken_rows) * same_by_chance * n_contexts / self.known
        if self.exceeds_chance(taken_by_chance):
            surplus = (sameness - same_by_chance) / (1 - same_by_chance)
            return Overlap(share, "same rows") if is_certain else Overlap(share * surplus, "alike rows")
        return Overlap(share, "alike rows") if is_certain else Overlap(0.0, "none")

    def would_show_half(self, learnt: LearntRows) -> bool:
        """Say whether the marks would show it if the policy was trained on half of these rows."""
        n_contexts = int(learnt.markable_share * self.watched / 2)
        known = n_contexts + int(learnt.taken_contexts * (self.watched - n_contexts))
        same = n_contexts + int(learnt.taken_rows * (known - n_contexts))
        return replace(self, known=known, same=same).exceeds_chance(learnt.taken_rows)

    def exceeds_chance(self, probability: float) -> bool:
        """Say whether more rows are the same than if each row with a marked context was so with this probability."""
        return self.same > 0 and bool(bdtrc(self.same - 1, self.known, probability) <= MAX_CHANCE)


@dataclass(frozen=True, eq=False)
class RecognisedByEach:
    """What each of the policies that a target is mixed of recognises in some rows."""

    policies: tuple[RecognisedRows, ...]

    @classmethod
    def of(cls, recognised: Ints, learnt: Sequence[LearntRows]) -> "RecognisedByEach":
        """Return what k policies recognise, from what they say of each row (n x k x 3)."""
        policies = [RecognisedRows.of(recognised[:, place], rows) for place, rows in enumerate(learnt)]
        return cls(tuple(policies))

    def __add__(self, other: "RecognisedByEach") -> "RecognisedByEach":
        pairs = zip(self.policies, other.policies, strict=True)
        return RecognisedByEach(tuple(first + second for first, second in pairs))

    def find_worst(self, learnt: Sequence[LearntRows], many: float) -> Overlap:
        """Return the gravest overlap with the training rows of a policy; a share of `many` is grave."""
        pairs = zip(self.policies, learnt, strict=True)
        overlaps = [recognised.compare(rows) for recognised, rows in pairs]
        return max(overlaps, key=lambda overlap: overlap.make_sort_key(many))


def is_vector(value: object, kind: type[np.generic]) -> bool:
    """Say whether a value is an array of one dimension and one type, and not empty."""
    return isinstance(value, np.ndarray) and value.dtype == kind and value.ndim == 1 and value.size > 0


def mark_places(hashes: Ints) -> Bools:
    """Return which places are taken, one by each hash."""
    places = np.zeros(max(1, PLACES_PER_ROW * len(hashes)), dtype=bool)
    places[hashes % len(places)] = True
    return places


def round_numbers(numbers: Floats) -> Floats:
    """Return numbers in single precision, as some tools write them; whole numbers, such as times, stay as they are."""
    with np.errstate(over="ignore"):
        return np.where(numbers == np.floor(numbers), numbers, numbers.astype(np.float32).astype(np.float64))


def sum_hashes(hashes: Ints, n_parts: int) -> NDArray[np.uint16]:
    """Return sums of some bits of the hashes over parts of the rows, modulo 2**16; the order of rows is irrelevant."""
    bits = (hashes >> SUM_BITS) % (1 << SUM_BITS)
    sums = np.bincount(hashes % n_parts, bits, n_parts)
    return np.asarray(sums.astype(np.int64) % (1 << SUM_BITS), dtype=np.uint16)


def are_sums_alike(first: NDArray[np.uint16], second: NDArray[np.uint16]) -> bool:
    """Say whether enough sums over the parts of two logs are equal."""
    has_rows = (first > 0) | (second > 0)
    return bool(has_rows.sum() >= MIN_PARTS_WITH_ROWS and (first == second)[has_rows].mean() >= MIN_EQUAL_SUMS)
