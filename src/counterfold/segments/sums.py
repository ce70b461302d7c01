"""SegmentSums: what estimators add up to over units of the rows of each segment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from counterfold.arrays import Floats, Ints
from counterfold.estimators.base import Estimator
from counterfold.hashing import assign_folds
from counterfold.partition import ByNumber
from counterfold.pool import Pool
from counterfold.rows import Rows
from counterfold.segments.cuts import Cut
from counterfold.sums import BUCKETS, Sums, sum_slices

NUMBERS = 1 << 21
"""About so many sums are kept of the segments of one column, at most."""

FEWEST = 32
"""A segment has at least so many units, if it has as many rows or groups."""


class Facts(NamedTuple):
    """What is known of the rows of each segment besides sums over units."""

    rows: Floats
    squared_weight: Floats
    unsupported: Floats


@dataclass(frozen=True, eq=False)
class SegmentSums:
    """The sums over units of each segment of a column, one segment after the other; those of other rows can be added.

    Unit u of one segment and unit u of another one hold rows of the same groups or buckets.
    """

    segments: int
    sums: Sums
    facts: Facts

    def __add__(self, other: "SegmentSums") -> "SegmentSums":
        facts = Facts(*(one + two for one, two in zip(self.facts, other.facts, strict=True)))
        return SegmentSums(self.segments, self.sums + other.sums, facts)

    @property
    def units(self) -> int:
        """Return how many units each segment has, some of which may hold no rows."""
        return len(self.sums) // self.segments

    def of_segment(self, place: int) -> Sums:
        """Return the sums over all units of one segment, also those without rows."""
        there = slice(place * self.units, (place + 1) * self.units)
        sizes, weights, terms = self.sums.sizes[there], self.sums.weights[there], self.sums.terms[:, there]
        return replace(self.sums, sizes=sizes, weights=weights, terms=terms)


@dataclass(frozen=True, eq=False)
class AllSegmentSums:
    """The sums over the segments of each of several columns."""

    columns: tuple[SegmentSums, ...]

    def __add__(self, other: "AllSegmentSums") -> "AllSegmentSums":
        return AllSegmentSums(tuple(one + two for one, two in zip(self.columns, other.columns, strict=True)))


def sum_segments(rows: Rows, estimators: Sequence[Estimator], bucket: Ints, cuts: Sequence[Cut]) -> AllSegmentSums:
    """Return the sums of some rows, whose buckets are known, over the segments of every column."""
    found = []
    for place, cut in enumerate(cuts):
        codes: Ints = rows.segments[:, place]  # type: ignore[index] # which are there if columns are cut
        segments, units = len(cut.labels), count_units(len(cut.labels), estimators)
        sums = Sums.of(rows, estimators, ByNumber(codes * units + bucket % units, segments * units))
        found.append(SegmentSums(segments, sums, find_facts(rows, codes, segments)))
    return AllSegmentSums(tuple(found))


def find_facts(rows: Rows, codes: Ints, segments: int) -> Facts:
    """Return what is known of the rows of each segment."""
    missing = np.zeros(len(rows)) if rows.unsupported is None else rows.unsupported
    missing = missing if rows.counts is None else missing * rows.counts
    lines = np.ones(len(rows)), np.square(rows.masses), missing
    return Facts(*(np.asarray(np.bincount(codes, line, segments), dtype=np.float64) for line in lines))


def count_units(segments: int, estimators: Sequence[Estimator]) -> int:
    """Return how many units a segment has: fewer where much is summed over many segments, a power of 2."""
    units = BUCKETS
    while units > FEWEST and units * segments * 4 * len(estimators) > NUMBERS:
        units //= 2
    return units


def sum_all_segments(rows: Rows, estimators: Sequence[Estimator], cuts: Sequence[Cut], pool: Pool) -> AllSegmentSums:
    """Return the sums of all rows of a log in memory; reward models are not refitted."""
    units = rows.examples.units
    bucket: Ints = units if int(units.max()) < BUCKETS else assign_folds(units, BUCKETS)

    def sum_some(some: Rows, place: slice) -> AllSegmentSums:
        return sum_segments(some, estimators, bucket[place], cuts)

    return sum_slices(rows, estimators, sum_some, pool)
