"""SegmentSums: what estimators add up to over units of the rows of each segment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.base.cached import cached_property
from counterfold.base.hashing import assign_folds
from counterfold.base.threads import Pool
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import BUCKETS, Sums, add_known, sum_slices
from counterfold.log.partition import ByNumber
from counterfold.log.segments.cuts import Cut

NUMBERS = 1 << 21
"""About so many sums are kept of the segments of one column, at most."""

FEWEST = 32
"""A segment has at least so many units, if it has as many rows or groups."""


class Facts(NamedTuple):
    """What is known of the rows of each segment besides sums over units."""

    rows: Floats
    squared_counts: Floats
    squared_weight: Floats
    unsupported: Floats


@dataclass(frozen=True, eq=False)
class SegmentUnits(Sums):
    """The sums over the units of one segment, also over units without rows of it, and what other rows teach the model.

    `pulls` are the moves of values by what the reward model learns from each unit, whether or not it has rows of the
    segment. The jackknife knows them, so whatever judges noise by it judges a segment as it does the whole log.
    """

    pulls: Mapping[Estimator, Floats] = field(default_factory=dict)

    @cached_property
    def of_segment(self) -> Sums:
        """Return the sums over the units that have rows of the segment."""
        there = self.sizes > 0
        return Sums(
            layout=self.layout,
            sizes=self.sizes[there],
            weights=self.weights[there],
            terms=self.terms[:, there],
        )

    def jackknife(self, estimators: Sequence[Estimator]) -> tuple[Floats, Floats]:
        """Return what each estimator says of the segment, and how every unit moves that (estimators x units).

        A unit without rows of the segment moves nothing but what the reward model learns. Pulls have no value.
        """
        values = np.zeros(len(estimators))
        moves = np.zeros((len(estimators), len(self)))
        summed = np.flatnonzero([one not in self.pulls for one in estimators])
        there = np.flatnonzero(self.sizes > 0)
        if len(summed):
            known, known_moves = self.of_segment.jackknife([estimators[place] for place in summed.tolist()])
            values[summed] = known
            moves[np.ix_(summed, there)] = known_moves
        for place, one in enumerate(estimators):
            if one in self.pulls:
                moves[place] = self.pulls[one]
        return values, moves


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

    @property
    def unit_sizes(self) -> Floats:
        """Return how many rows, or decisions, of all segments each unit holds."""
        return np.asarray(self.sums.sizes.reshape(self.segments, self.units).sum(axis=0))

    def coarsen(self, units: int) -> "SegmentSums":
        """Return the sums over fewer units of each segment; both numbers are powers of 2."""
        if units >= self.units:
            return self
        lines = np.vstack([self.sums.sizes, self.sums.weights, self.sums.terms])
        merged = merge_units(lines.reshape(len(lines), self.segments, self.units), units)
        merged = merged.reshape(len(lines), self.segments * units)
        sums = replace(self.sums, sizes=merged[0], weights=merged[1], terms=merged[2:])
        return replace(self, sums=sums)

    def of_segment(self, place: int, pulls: Mapping[Estimator, Floats]) -> SegmentUnits:
        """Return the sums over all units of one segment, and how far units move its values by what models learn."""
        there = slice(place * self.units, (place + 1) * self.units)
        return SegmentUnits(
            layout=self.sums.layout,
            sizes=self.sums.sizes[there],
            weights=self.sums.weights[there],
            terms=self.sums.terms[:, there],
            pulls=pulls,
        )


@dataclass(frozen=True, eq=False)
class AllSegmentSums:
    """The sums over the segments of each of several columns.

    `lessons` are what each unit's rows teach the reward model, whatever segments these are in, if that is asked for.
    """

    columns: tuple[SegmentSums, ...]
    lessons: Any = None
    lesson_units: int = BUCKETS

    def __add__(self, other: "AllSegmentSums") -> "AllSegmentSums":
        columns = tuple(one + two for one, two in zip(self.columns, other.columns, strict=True))
        return replace(self, columns=columns, lessons=add_known(self.lessons, other.lessons))


def merge_units(numbers: Floats, units: int) -> Floats:
    """Return sums over units (... x units) over fewer units; both numbers are powers of 2.

    >>> merge_units(np.array([1.0, 2.0, 30.0, 40.0]), 2)
    array([31., 42.])
    """
    *others, count = numbers.shape
    return np.asarray(numbers.reshape(*others, count // units, units).sum(axis=-2))


def sum_segments(rows: Rows, estimators: Sequence[Estimator], bucket: Ints, cuts: Sequence[Cut]) -> AllSegmentSums:
    """Return the sums of some rows, whose buckets are known, over the segments of every column.

    Pulls are not summed for each segment: what all of them follow from is summed once.
    """
    summed = [one for one in estimators if not one.is_pull]
    found = []
    for place, cut in enumerate(cuts):
        codes: Ints = rows.segments[:, place]  # type: ignore[index] # which are there if columns are cut
        segments, units = len(cut.labels), count_units(len(cut.labels), summed)
        sums = Sums.of(rows, summed, ByNumber(codes * units + bucket % units, segments * units))
        found.append(SegmentSums(segments, sums, find_facts(rows, codes, segments)))
    if len(summed) == len(estimators):
        return AllSegmentSums(tuple(found))
    fitted = (rows.whole or rows).fitted
    units = limit_units(fitted.count_lessons(rows.examples))
    lessons = fitted.sum_lessons(rows.examples, rows.residuals, bucket % units, units)
    return AllSegmentSums(tuple(found), lessons, units)


def find_facts(rows: Rows, codes: Ints, segments: int) -> Facts:
    """Return what is known of the rows of each segment."""
    missing = np.zeros(len(rows)) if rows.unsupported is None else rows.unsupported
    missing = missing if rows.counts is None else missing * rows.counts
    counts = np.ones(len(rows)) if rows.counts is None else rows.counts
    lines = np.ones(len(rows)), np.square(counts), np.square(rows.masses), missing
    return Facts(*(np.asarray(np.bincount(codes, line, segments), dtype=np.float64) for line in lines))


def count_units(segments: int, estimators: Sequence[Estimator]) -> int:
    """Return how many units a segment has: fewer where much is summed over many segments, a power of 2."""
    return limit_units(segments * 4 * len(estimators))


def limit_units(numbers: int) -> int:
    """Return how many units there are, a power of 2, if so many numbers are kept for each of them."""
    units = BUCKETS
    while units > FEWEST and units * numbers > NUMBERS:
        units //= 2
    return units


def sum_all_segments(rows: Rows, estimators: Sequence[Estimator], cuts: Sequence[Cut], pool: Pool) -> AllSegmentSums:
    """Return the sums of all rows of a log in memory; reward models are not refitted."""
    units = rows.examples.units
    bucket: Ints = units if int(units.max()) < BUCKETS else assign_folds(units, BUCKETS)

    def sum_some(some: Rows, place: slice) -> AllSegmentSums:
        return sum_segments(some, estimators, bucket[place], cuts)

    return sum_slices(rows, estimators, sum_some, pool)
