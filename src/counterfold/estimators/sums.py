"""Sums: what candidates add up to over units of rows; splits, errors and bootstrap samples need nothing else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np

from counterfold.base import capacity
from counterfold.base.arrays import Floats, Ints, row_sums
from counterfold.base.cached import cached_property
from counterfold.base.hashing import assign_folds
from counterfold.base.threads import Pool
from counterfold.estimators.base import Estimator
from counterfold.estimators.estimates import Estimate
from counterfold.estimators.rows import Rows
from counterfold.log.partition import ByNumber, Consecutive, Counted, Partition

BUCKETS = 1024
"""The number of units that a log is summed over, unless it has fewer rows or groups."""

MAX_ROWS_PER_SLICE = 1 << 17
"""A thread sums at most this many rows over buckets before it takes the next slice."""

ROWS_IN_CACHE = 1 << 15
"""The number of rows that are summed at a time: few enough that their numbers stay in the cache of the processor."""


class Additive(Protocol):
    """What is known of some rows, and can be added to what is known of others."""

    def __add__(self, other: Self, /) -> Self:
        """Return what is known of the rows of both."""


Sum = TypeVar("Sum", bound=Additive)


class Picked(NamedTuple):
    """Where some estimators are among the lines of terms: the first line of each, and all lines with whose they are.

    `others` are those that are not linear: their places among the estimators, themselves, and their lines.
    """

    first: Ints
    lines: Ints
    owners: Ints
    others: Sequence[tuple[int, Estimator, slice]]


@dataclass(frozen=True, eq=False)
class Layout:
    """Which lines of terms belong to each of several estimators: `widths` lines each, in their order."""

    estimators: tuple[Estimator, ...]
    widths: tuple[int, ...]

    @cached_property
    def lines(self) -> dict[Estimator, slice]:
        """Return which lines belong to each estimator."""
        ends = np.cumsum(self.widths).tolist()
        slices = (slice(end - width, end) for width, end in zip(self.widths, ends, strict=True))
        return dict(zip(self.estimators, slices, strict=True))

    @cached_property
    def picked(self) -> list[tuple[tuple[Estimator, ...], Picked]]:
        """Return where the estimators are that were asked for so far: choosing anew asks for the same ones again."""
        return []

    def pick(self, estimators: Sequence[Estimator]) -> Picked:
        """Return where some of the estimators are; a mixture of them has no lines of its own.

        Lists of the very same objects are compared at once, where to hash each of them would take longer than the rest.
        """
        asked = tuple(estimators)
        for known, found in self.picked:
            if known == asked:
                return found
        self.picked.append((asked, self.find(asked)))
        return self.picked[-1][1]

    def find(self, estimators: Sequence[Estimator]) -> Picked:
        """Find where some of the estimators are."""
        slices = [self.lines[one] if one.is_linear else self.lines.get(one, slice(0, 0)) for one in estimators]
        lines = np.concatenate([np.arange(mine.start, mine.stop) for mine in slices]) if slices else np.arange(0)
        owners = np.repeat(np.arange(len(slices)), [mine.stop - mine.start for mine in slices])
        pairs = enumerate(zip(estimators, slices, strict=True))
        others = [(place, one, mine) for place, (one, mine) in pairs if not one.is_linear]
        return Picked(np.array([mine.start for mine in slices], dtype=np.intp), lines, owners, others)


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of several estimators' terms over units: rows, groups, or buckets of either.

    `sizes` are the numbers of rows in each unit, or of decisions that these stand for, `weights` the sums of their
    weights, and `terms` (terms x units) the sums of terms, whose `layout` says which belong to which estimator.
    """

    layout: Layout
    sizes: Floats
    weights: Floats
    terms: Floats = field(repr=False)

    @classmethod
    def of(cls, rows: Rows, estimators: Sequence[Estimator], partition: Partition) -> "Sums":
        """Return the sums over units of the rows; estimators of one class are summed together."""
        partition = partition if rows.counts is None else Counted(partition, rows.counts)
        found: dict[int, Floats] = {}
        for kind in dict.fromkeys(type(one) for one in estimators):
            places = [place for place, one in enumerate(estimators) if type(one) is kind]
            found |= zip(places, kind.sums([estimators[place] for place in places], rows, partition), strict=True)
        lines = [found[place] for place in range(len(estimators))]
        terms = np.concatenate(lines) if lines else np.empty((0, len(partition)))
        layout = Layout(tuple(estimators), tuple(map(len, lines)))
        return cls(layout, partition.sizes, partition.sums(rows.weights), terms)

    def __len__(self) -> int:
        return len(self.sizes)

    def __add__(self, other: "Sums") -> "Sums":
        sizes, weights = self.sizes + other.sizes, self.weights + other.weights
        return replace(self, sizes=sizes, weights=weights, terms=self.terms + other.terms)

    @property
    def lines(self) -> dict[Estimator, slice]:
        """Return which lines of `terms` belong to each estimator."""
        return self.layout.lines

    @cached_property
    def without_empty(self) -> "Sums":
        """Return the same without units that hold no rows."""
        there = self.sizes > 0
        return self if there.all() else self.resample(there.astype(np.intp))

    def of_estimator(self, estimator: Estimator) -> Floats:
        """Return the sums of the terms of one estimator (terms x units)."""
        return self.terms[self.lines[estimator]]

    def totals(self, estimator: Estimator) -> Floats:
        """Return the sum of an estimator's contributions over each unit."""
        return estimator.totals(self.of_estimator, self.sizes)

    def estimate(self, name: str, estimator: Estimator) -> Estimate:
        """Return what one of the estimators says; each unit counts as one observation."""
        return Estimate(name, self.totals(estimator) / self.sizes, sizes=self.sizes)

    def errors(self, estimators: Sequence[Estimator]) -> Floats:
        """Return the standard error of each, as `Units` has it, of all at once: choosing anew asks for it often."""
        picked = self.layout.pick(estimators)
        deviations = self.terms[picked.first]
        for place, one, _ in picked.others:
            deviations[place] = self.totals(one)
        rows = self.sizes.sum()
        deviations -= deviations.sum(axis=1, keepdims=True) / rows * self.sizes
        spread = row_sums(deviations, deviations) / (len(self) - 1)  # their mean is 0
        return np.asarray(np.sqrt(spread * len(self)) / rows)

    def jackknife(self, estimators: Sequence[Estimator]) -> tuple[Floats, Floats]:
        """Return what each estimator says, and how that moves when a unit is left out (estimators x units).

        The moves are scaled so that the sum of the products of two estimators' moves is the covariance of their noise.
        Unlike linearised contributions they know that a unit with most of the weight would leave a gap.
        """
        some = self.some(estimators)
        total, rows = some.terms.sum(axis=1, keepdims=True), some.sizes.sum()
        rest = some.values(estimators, (total - some.terms) / (rows - some.sizes))
        moves = (rest - rest.mean(axis=1, keepdims=True)) * np.sqrt(1 - 1 / len(some))
        return self.overall(estimators), moves

    def overall(self, estimators: Sequence[Estimator]) -> Floats:
        """Return what each estimator says of all rows."""
        return self.values(estimators, self.terms.sum(axis=1, keepdims=True) / self.sizes.sum())[:, 0]

    def coarsen(self, most: int) -> "Sums":
        """Return the sums over so many larger units, unless there are fewer than twice as many."""
        if len(self) < 2 * most:
            return self
        lines = np.vstack([self.sizes, self.weights, self.terms])
        found = np.zeros((len(lines), most))
        for start in range(0, len(self), most):
            some = lines[:, start : start + most]
            found[:, : some.shape[1]] += some
        return replace(self, sizes=found[0], weights=found[1], terms=found[2:])

    def resample(self, counts: Ints) -> "Sums":
        """Return the sums as if each unit were there so many times."""
        there = counts > 0
        times = counts[there].astype(np.float64)
        sizes, weights = self.sizes[there] * times, self.weights[there] * times
        return replace(self, sizes=sizes, weights=weights, terms=self.terms[:, there] * times)

    def some(self, estimators: Sequence[Estimator]) -> "Sums":
        """Return the sums of some of the estimators, once each."""
        kept = tuple(dict.fromkeys(estimators))
        if kept == self.layout.estimators:
            return self
        widths = tuple(self.lines[one].stop - self.lines[one].start for one in kept)
        terms = np.concatenate([self.of_estimator(one) for one in kept])
        return replace(self, layout=Layout(kept, widths), terms=terms)

    def values(self, estimators: Sequence[Estimator], means: Floats) -> Floats:
        """Return what some of the estimators say (estimators x units) from the means of all terms (terms x units)."""
        picked = self.layout.pick(estimators)
        found = means[picked.first]
        for place, one, mine in picked.others:
            found[place] = one.combine_means(means[mine])
        return found


def add_known(one: Sum | None, other: Sum | None) -> Sum | None:
    """Return the sum of what is known of different rows, or the one that there is; nothing if there is none."""
    return other if one is None else one if other is None else one + other


def values(estimators: Sequence[Estimator], rows: Rows) -> Floats:
    """Return the value of each estimator on all the rows."""
    sums = Sums.of(rows, estimators, Consecutive.all(len(rows)))
    return sums.values(estimators, sums.terms / sums.sizes)[:, 0]


def sum_buckets(rows: Rows, estimators: Sequence[Estimator], pool: Pool) -> Sums:
    """Return the sums over buckets of rows or, if they belong to groups, of groups; reward models are not refitted."""
    units, highest = rows.examples.units, int(rows.examples.units.max())
    bucket, buckets = (units, highest + 1) if highest < BUCKETS else (assign_folds(units, BUCKETS), BUCKETS)

    def sum_some(some: Rows, place: slice) -> Sums:
        return sum_by_bucket(some, estimators, bucket[place], buckets)

    return sum_slices(rows, estimators, sum_some, pool).without_empty


def sum_slices(rows: Rows, estimators: Sequence[Estimator], sum_some: Callable[[Rows, slice], Sum], pool: Pool) -> Sum:
    """Return what a function of some rows and their places adds up to over slices; reward models are not refitted."""
    if any(one.uses("model") for one in estimators):
        _ = rows.q  # fitted once, before the rows are cut
    step = max(
        1024, capacity.count_rows(rows.examples.n_actions, MAX_ROWS_PER_SLICE)
    )  # each leaves sums over all buckets
    slices = [slice(start, start + step) for start in range(0, len(rows), step)]

    def sum_slice(place: slice) -> Sum:
        return sum_some(replace(rows.take(place, lambda: rows.q[place]), whole=rows.whole or rows), place)

    return reduce(add, pool.map(sum_slice, slices))


def sum_by_bucket(rows: Rows, estimators: Sequence[Estimator], bucket: Ints, buckets: int) -> Sums:
    """Return the sums over all buckets, from so few rows at a time that they stay near the processor."""
    whole = rows.whole or rows

    def sum_near(start: int) -> Sums:
        near = slice(start, start + ROWS_IN_CACHE)
        some = replace(rows.take(near, lambda: rows.q[near]), whole=whole)
        return Sums.of(some, estimators, ByNumber(bucket[near], buckets))

    return reduce(add, map(sum_near, range(0, len(rows), ROWS_IN_CACHE)))
