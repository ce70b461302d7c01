"""Overlap: how many rows of a log are those that a policy was learnt from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from counterfold.arrays import Ints
from counterfold.learnt_rows.remembered import CONTEXT, SAME, WATCHED, LearntRows, add_hashes

OverlapKind = Literal["rows", "alike", "decisions", "none"]

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
            return Overlap(1.0, "rows")
        if learnt.marked < ENOUGH or not self.watched:
            return Overlap(None, "none")
        overlap = self.find_same(learnt)
        if overlap.kind == "none" and are_alike(self.decision_sums, learnt.decision_sums):
            return Overlap(1.0, "decisions")
        return overlap

    def find_same(self, learnt: LearntRows) -> "Overlap":
        """Return the overlap that the marks tell, less the places that are taken by chance."""
        taken, blur = float(learnt.contexts.mean()), float(learnt.rows.mean())
        contexts = (self.known - taken * self.watched) / (1 - taken)
        if contexts <= 0 or not self.is_beyond(blur):
            return Overlap(0.0 if self.would_tell(learnt) else None, "none")
        sameness = min((self.same - blur * self.known) / (1 - blur) / contexts, 1.0)
        share = min(contexts / (self.watched * learnt.alone), 1.0)
        chance = (1 + learnt.agreement) / 2
        if self.is_beyond(blur + (1 - blur) * chance * contexts / self.known):
            surplus = (sameness - chance) / (1 - chance)
            return Overlap(share, "rows") if sameness >= SURE else Overlap(share * surplus, "alike")
        return Overlap(share, "alike") if sameness >= SURE else Overlap(0.0, "none")

    def would_tell(self, learnt: LearntRows) -> bool:
        """Say whether it would be seen if half of the rows were those that the policy was learnt from."""
        taken, blur = float(learnt.contexts.mean()), float(learnt.rows.mean())
        contexts = int(learnt.alone * self.watched / 2)
        known = contexts + int(taken * (self.watched - contexts))
        same = contexts + int(blur * (known - contexts))
        return replace(self, known=known, same=same).is_beyond(blur)

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
        return max(overlaps, key=lambda one: one.weigh(many))


class Overlap(NamedTuple):
    """The share of the rows that a policy was learnt from, if that can be told.

    Of rows that are only `alike`, and of `decisions` with other rewards, nobody knows whether they are the same, or
    were made for the same users again.
    """

    share: float | None
    kind: OverlapKind

    def weigh(self, many: float) -> tuple[bool, float]:
        """Return how grave it is, first whether the log cannot answer."""
        share = -1.0 if self.share is None else self.share
        return self.kind == "rows" and share >= many, share


def are_alike(one: NDArray[np.uint16], other: NDArray[np.uint16]) -> bool:
    """Say whether enough sums over parts of two logs are the same."""
    there = (one > 0) | (other > 0)
    return bool(there.sum() >= LEAST and (one == other)[there].mean() >= INTACT)
