"""Sums: sums of the candidates' terms over units of rows; splits, errors and bootstraps need nothing else."""

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

MIN_ROWS_PER_SLICE = 1024
"""A slice has at least this many rows, as each one leaves sums over all buckets or splits in memory."""

ROWS_IN_CACHE = 1 << 15
"""The number of rows that are summed at a time: few enough that their numbers stay in the cache of the processor."""


class Additive(Protocol):
    """A summary of some rows that can be added to a summary of other rows."""

    def __add__(self, other: Self, /) -> Self:
        """Return the summary of the rows of both."""


Sum = TypeVar("Sum", bound=Additive)


class Picked(NamedTuple):
    """Where the terms of some estimators are.

    - `first`: the first line of each estimator.
    - `lines`: the lines of all these estimators.
    - `owners`: the place among the estimators that each of `lines` belongs to.
    - `others`: the estimators that are not linear: place among the estimators, estimator, lines.
    """

    first: Ints
    lines: Ints
    owners: Ints
    others: Sequence[tuple[int, Estimator, slice]]


@dataclass(frozen=True, eq=False)
class Layout:
    """The order of terms: the estimators one after the other, each with as many lines as its entry of `widths`."""

    estimators: tuple[Estimator, ...]
    widths: tuple[int, ...]

    @cached_property
    def lines(self) -> dict[Estimator, slice]:
        """Return the lines of each estimator."""
        lines = {}
        end = 0
        for estimator, width in zip(self.estimators, self.widths, strict=True):
            start = end
            end += width
            lines[estimator] = slice(start, end)
        return lines

    @cached_property
    def picked(self) -> list[tuple[tuple[Estimator, ...], Picked]]:
        """Return the results of `pick` so far: a selector that chooses many times asks for the same ones again."""
        return []

    def pick(self, estimators: Sequence[Estimator]) -> Picked:
        """Return where some of the estimators are; a mixture of them has no lines of its own.

        The results are kept in a list and not in a dictionary: comparing the very same objects is fast, but hashing
        each estimator would take longer than the rest.
        """
        requested = tuple(estimators)
        for earlier, picked in self.picked:
            if earlier == requested:
                return picked
        picked = self.find(requested)
        self.picked.append((requested, picked))
        return picked

    def find(self, estimators: Sequence[Estimator]) -> Picked:
        """Find where some of the estimators are."""
        no_lines = slice(0, 0)
        slices = []
        others = []
        for place, estimator in enumerate(estimators):
            if estimator.is_linear:
                lines = self.lines[estimator]
            else:
                lines = self.lines.get(estimator, no_lines)
                others.append((place, estimator, lines))
            slices.append(lines)
        widths = [lines.stop - lines.start for lines in slices]
        places = [np.arange(lines.start, lines.stop) for lines in slices]
        return Picked(
            first=np.array([lines.start for lines in slices], dtype=np.intp),
            lines=np.concatenate(places) if places else np.arange(0),
            owners=np.repeat(np.arange(len(slices)), widths),
            others=others,
        )


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of several estimators' terms over units: rows, groups, or buckets of either.

    - `layout`: which lines of `terms` belong to which estimator.
    - `sizes`: the number of rows in each unit, or of the decisions that they stand for.
    - `weights`: the sum of the weights in each unit.
    - `terms` (terms x units): the sums of the terms.
    """

    layout: Layout
    sizes: Floats
    weights: Floats
    terms: Floats = field(repr=False)

    @classmethod
    def of(cls, rows: Rows, estimators: Sequence[Estimator], partition: Partition) -> "Sums":
        """Return the sums over units of the rows; estimators of one class are summed together."""
        if rows.counts is not None:
            partition = Counted(partition, rows.counts)
        terms_by_place: dict[int, Floats] = {}
        for kind in dict.fromkeys(type(estimator) for estimator in estimators):
            places = [place for place, estimator in enumerate(estimators) if type(estimator) is kind]
            sums = kind.sums([estimators[place] for place in places], rows, partition)
            terms_by_place.update(zip(places, sums, strict=True))
        terms = [terms_by_place[place] for place in range(len(estimators))]
        widths = tuple(len(lines) for lines in terms)
        return cls(
            layout=Layout(tuple(estimators), widths),
            sizes=partition.sizes,
            weights=partition.sums(rows.weights),
            terms=np.concatenate(terms) if terms else np.empty((0, len(partition))),
        )

    def __len__(self) -> int:
        return len(self.sizes)

    def __add__(self, other: "Sums") -> "Sums":
        return replace(
            self,
            sizes=self.sizes + other.sizes,
            weights=self.weights + other.weights,
            terms=self.terms + other.terms,
        )

    @property
    def lines(self) -> dict[Estimator, slice]:
        """Return the lines of `terms` of each estimator."""
        return self.layout.lines

    @cached_property
    def without_empty(self) -> "Sums":
        """Return the sums without units that contain no rows."""
        has_rows = self.sizes > 0
        if has_rows.all():
            return self
        return self.resample(has_rows.astype(np.intp))

    def of_estimator(self, estimator: Estimator) -> Floats:
        """Return the sums of the terms of one estimator (terms x units)."""
        return self.terms[self.lines[estimator]]

    def totals(self, estimator: Estimator) -> Floats:
        """Return the sum of an estimator's contributions over each unit."""
        return estimator.totals(self.of_estimator, self.sizes)

    def estimate(self, name: str, estimator: Estimator) -> Estimate:
        """Return the estimate of one of the estimators; each unit counts as one observation."""
        return Estimate(name, self.totals(estimator) / self.sizes, sizes=self.sizes)

    def errors(self, estimators: Sequence[Estimator]) -> Floats:
        """Return the standard error of each estimator.

        The errors equal those of `Units`. All are computed at once because selectors need them often.
        """
        picked = self.layout.pick(estimators)
        totals = self.terms[picked.first]
        for place, estimator, _ in picked.others:
            totals[place] = self.totals(estimator)
        n_rows = self.sizes.sum()
        deviations = totals - totals.sum(axis=1, keepdims=True) / n_rows * self.sizes
        variances = row_sums(deviations, deviations) / (len(self) - 1)  # the mean deviation is 0
        return np.asarray(np.sqrt(variances * len(self)) / n_rows)

    def jackknife(self, estimators: Sequence[Estimator]) -> tuple[Floats, Floats]:
        """Return the estimates, and how each moves when a unit is left out (estimators x units).

        The moves are scaled so that the sum of the products of two estimators' moves is the covariance of their noise.
        Unlike linearised contributions, they show what happens without a unit that has most of the weight.
        """
        sums = self.some(estimators)
        total_terms = sums.terms.sum(axis=1, keepdims=True)
        means_without_unit = (total_terms - sums.terms) / (sums.sizes.sum() - sums.sizes)
        values = sums.values(estimators, means_without_unit)
        moves = (values - values.mean(axis=1, keepdims=True)) * np.sqrt(1 - 1 / len(sums))
        return self.overall(estimators), moves

    def overall(self, estimators: Sequence[Estimator]) -> Floats:
        """Return each estimate on all rows."""
        means = self.terms.sum(axis=1, keepdims=True) / self.sizes.sum()
        return self.values(estimators, means)[:, 0]

    def coarsen(self, n_units: int) -> "Sums":
        """Return the sums over this number of larger units, or themselves if there are less than twice as many."""
        if len(self) < 2 * n_units:
            return self
        lines = np.vstack([self.sizes, self.weights, self.terms])
        coarse = np.zeros((len(lines), n_units))
        for start in range(0, len(self), n_units):
            part = lines[:, start : start + n_units]
            coarse[:, : part.shape[1]] += part
        return replace(self, sizes=coarse[0], weights=coarse[1], terms=coarse[2:])

    def resample(self, counts: Ints) -> "Sums":
        """Return the sums in which each unit is repeated as often as `counts` says."""
        is_kept = counts > 0
        times = counts[is_kept].astype(np.float64)
        return replace(
            self,
            sizes=self.sizes[is_kept] * times,
            weights=self.weights[is_kept] * times,
            terms=self.terms[:, is_kept] * times,
        )

    def some(self, estimators: Sequence[Estimator]) -> "Sums":
        """Return the sums of some of the estimators, once each."""
        kept = tuple(dict.fromkeys(estimators))
        if kept == self.layout.estimators:
            return self
        terms = [self.of_estimator(estimator) for estimator in kept]
        widths = tuple(len(lines) for lines in terms)
        return replace(self, layout=Layout(kept, widths), terms=np.concatenate(terms))

    def values(self, estimators: Sequence[Estimator], means: Floats) -> Floats:
        """Return the estimates of some estimators (estimators x units) from the means of all terms (terms x units)."""
        picked = self.layout.pick(estimators)
        values = means[picked.first]
        for place, estimator, lines in picked.others:
            values[place] = estimator.combine_means(means[lines])
        return values


def add_known(one: Sum | None, other: Sum | None) -> Sum | None:
    """Return the sum of two summaries of different rows, or the one that is not None."""
    if one is None:
        return other
    if other is None:
        return one
    return one + other


def values(estimators: Sequence[Estimator], rows: Rows) -> Floats:
    """Return the value of each estimator on all the rows."""
    sums = Sums.of(rows, estimators, Consecutive.all(len(rows)))
    return sums.values(estimators, sums.terms / sums.sizes)[:, 0]


def sum_buckets(rows: Rows, estimators: Sequence[Estimator], pool: Pool) -> Sums:
    """Return the sums over buckets of rows, or of groups if rows belong to groups; reward models are not refitted."""
    units = rows.examples.units
    n_units = int(units.max()) + 1
    if n_units <= BUCKETS:
        bucket, n_buckets = units, n_units
    else:
        bucket, n_buckets = assign_folds(units, BUCKETS), BUCKETS

    def sum_some(some_rows: Rows, place: slice) -> Sums:
        return sum_by_bucket(some_rows, estimators, bucket[place], n_buckets)

    return sum_slices(rows, estimators, sum_some, pool).without_empty


def sum_slices(rows: Rows, estimators: Sequence[Estimator], sum_some: Callable[[Rows, slice], Sum], pool: Pool) -> Sum:
    """Return the sum over slices of a function of some rows and their places; reward models are not refitted."""
    if any(estimator.uses("model") for estimator in estimators):
        _ = rows.q  # the model is fitted once, before the rows are cut
    step = max(MIN_ROWS_PER_SLICE, capacity.count_rows(rows.examples.n_actions, MAX_ROWS_PER_SLICE))
    slices = [slice(start, start + step) for start in range(0, len(rows), step)]

    def sum_slice(place: slice) -> Sum:
        return sum_some(take_without_refit(rows, place), place)

    return reduce(add, pool.map(sum_slice, slices))


def sum_by_bucket(rows: Rows, estimators: Sequence[Estimator], bucket: Ints, buckets: int) -> Sums:
    """Return the sums over all buckets; few rows are summed at a time, so that their numbers stay in the cache."""

    def sum_part(start: int) -> Sums:
        place = slice(start, start + ROWS_IN_CACHE)
        return Sums.of(take_without_refit(rows, place), estimators, ByNumber(bucket[place], buckets))

    return reduce(add, map(sum_part, range(0, len(rows), ROWS_IN_CACHE)))


def take_without_refit(rows: Rows, place: slice) -> Rows:
    """Return some of the rows with the predictions of the model of all rows."""
    return replace(rows.take(place, lambda: rows.q[place]), whole=rows.whole or rows)
