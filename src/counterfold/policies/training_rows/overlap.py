"""Overlap: how many rows of a log are those that a policy was learnt from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from counterfold.base.arrays import Ints
from counterfold.policies.training_rows.remembered import CONTEXT, SAME, WATCHED, LearntRows, add_hashes

OverlapKind = Literal["same rows", "alike rows", "same decisions", "none"]

SURPRISING = 1e-6
"""How unlikely it must be that so many rows are the same by chance."""

ENOUGH = 10
"""So many rows must be marked to tell a part of a log."""

INTACT, LEAST = 0.75, 16
"""A log is the same as another one if this share of its sums is the same, and they are LEAST at least."""

SURE = 0.97
"""Rows are the same beyond doubt if this share of those with a marked context is."""


@dataclass(frozen=True, eq=False)
class Recognised:
    """How many rows there are, sums of their hashes, and how many a policy recognises; two can be added.

    Of the `watched` rows, so many have a `known` context, and so many of these are the `same`, all as the marks say.
    """

    row_count: int
    row_sums: NDArray[np.uint16]
    decision_sums: NDArray[np.uint16]
    watched: int
    known: int
    same: int

    @classmethod
    def of(cls, recognised: Ints, learnt: LearntRows) -> "Recognised":
        """Return what a policy recognises in some rows (n x 3)."""
        rows, decisions, kinds = recognised.T
        sums = add_hashes(rows, learnt.parts), add_hashes(decisions, learnt.parts)
        return cls(len(rows), *sums, *(int((kinds >= kind).sum()) for kind in (WATCHED, CONTEXT, SAME)))

    def __add__(self, other: "Recognised") -> "Recognised":
        sums = self.row_sums + other.row_sums, self.decision_sums + other.decision_sums
        counts = self.watched + other.watched, self.known + other.known, self.same + other.same
        return Recognised(self.row_count + other.row_count, *sums, *counts)

    def compare(self, learnt: LearntRows) -> "Overlap":
        """Return how many of the rows are those that a policy was learnt from."""
        is_whole = self.row_count == learnt.row_count and bool((self.row_sums == learnt.row_sums).all())
        if is_whole or are_alike(self.row_sums, learnt.row_sums):
            return Overlap(1.0, "same rows")
        overlap = self.find_marked(learnt)
        if overlap.kind == "none" and are_alike(self.decision_sums, learnt.decision_sums):
            return Overlap(1.0, "same decisions")
        return overlap

    def find_marked(self, learnt: LearntRows) -> "Overlap":
        """Return the overlap that the marks tell, less the places that are taken by chance."""
        if learnt.marked < ENOUGH or not self.watched:
            return Overlap(None, "none")
        contexts = (self.known - learnt.taken_contexts * self.watched) / (1 - learnt.taken_contexts)
        if contexts <= 0 or not self.is_beyond(learnt.taken_rows):
            return Overlap(0.0 if self.would_tell(learnt) else None, "none")
        sameness = min((self.same - learnt.taken_rows * self.known) / (1 - learnt.taken_rows) / contexts, 1.0)
        share = min(contexts / (self.watched * learnt.markable_share), 1.0)
        chance = (1 + learnt.agreement) / 2
        if self.is_beyond(learnt.taken_rows + (1 - learnt.taken_rows) * chance * contexts / self.known):
            surplus = (sameness - chance) / (1 - chance)
            return Overlap(share, "same rows") if sameness >= SURE else Overlap(share * surplus, "alike rows")
        return Overlap(share, "alike rows") if sameness >= SURE else Overlap(0.0, "none")

    def would_tell(self, learnt: LearntRows) -> bool:
        """Say whether it would be seen if half of the rows were those that the policy was learnt from."""
        contexts = int(learnt.markable_share * self.watched / 2)
        known = contexts + int(learnt.taken_contexts * (self.watched - contexts))
        same = contexts + int(learnt.taken_rows * (known - contexts))
        return replace(self, known=known, same=same).is_beyond(learnt.taken_rows)

    def is_beyond(self, chance: float) -> bool:
        """Say whether more rows are the same than if each of those with a known context were with some chance."""
        return self.same > 0 and bool(bdtrc(self.same - 1, self.known, chance) <= SURPRISING)


@dataclass(frozen=True, eq=False)
class AllRecognised:
    """What each of several policies recognises, of which the target is mixed."""

    parts: tuple[Recognised, ...]

    @classmethod
    def of(cls, recognised: Ints, learnt: Sequence[LearntRows]) -> "AllRecognised":
        """Return what k policies recognise in some rows (n x k x 3)."""
        return cls(tuple(Recognised.of(recognised[:, place], one) for place, one in enumerate(learnt)))

    def __add__(self, other: "AllRecognised") -> "AllRecognised":
        return AllRecognised(tuple(one + more for one, more in zip(self.parts, other.parts, strict=True)))

    def find_worst(self, learnt: Sequence[LearntRows], many: float) -> "Overlap":
        """Return the gravest overlap with what the policies were learnt from; `many` of the rows are grave."""
        overlaps = [one.compare(other) for one, other in zip(self.parts, learnt, strict=True)]
        return max(overlaps, key=lambda one: one.make_sort_key(many))


class Overlap(NamedTuple):
    """The share of the rows that a policy was learnt from, if that can be told.

    Nobody knows of rows that are only alike, nor of the same decisions with other rewards, whether they are the same
    rows, or were made for the same users again.
    """

    share: float | None
    kind: OverlapKind

    def make_sort_key(self, many: float) -> tuple[bool, float]:
        """Return what overlaps are sorted by, the gravest last: first whether the log cannot answer, then the share."""
        share = -1.0 if self.share is None else self.share
        return self.kind == "same rows" and share >= many, share


def are_alike(one: NDArray[np.uint16], other: NDArray[np.uint16]) -> bool:
    """Say whether enough sums over parts of two logs are the same."""
    there = (one > 0) | (other > 0)
    return bool(there.sum() >= LEAST and (one == other)[there].mean() >= INTACT)
