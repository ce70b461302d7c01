"""What cross-validation computes: candidates on one part of the rows, a validator on the rest, on many splits."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from counterfold.base import capacity
from counterfold.base.arrays import Floats, Ints
from counterfold.base.threads import Pool
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import CHUNK, Sums
from counterfold.log.partition import Consecutive

STACKED = 1 << 15
"""How many rows of several splits are worked on together, by one thread."""

SHARED = 1 << 20
"""How many numbers a context must hold for splits to gain by several threads, which else wait for each other most."""


def compute_unit_losses(
    sums: Sums, candidates: Sequence[Estimator], validator: Estimator, ranks: Ints, cuts: Ints
) -> Floats:
    """Return the squared difference between each candidate and the validator on each split (candidates x splits).

    A candidate gets the units whose rank in a split (splits x units) is below its cut, the validator gets the others.
    """
    picked, judged = sums.layout.pick(candidates), sums.of_estimator(validator)
    different, where = np.unique(cuts, return_inverse=True)
    cut_of = where[picked.owners]
    means, truth = np.empty((len(sums.terms), len(ranks))), np.empty((len(different), len(ranks)))
    total, rows = judged.sum(axis=1, keepdims=True), sums.sizes.sum()
    for number, cut in enumerate(different):
        inside = (ranks < cut).astype(np.float64).T
        mine, sizes = picked.lines[cut_of == number], sums.sizes @ inside
        means[mine] = sums.terms[mine] @ inside / sizes
        truth[number] = validator.combine_means((total - judged @ inside) / (rows - sizes))
    return np.square(sums.values(candidates, means) - truth[where])


class Split(NamedTuple):
    """An order of the rows and, per candidate, how many of them it gets; the validator gets the rest."""

    order: Ints
    cuts: Ints


def compute_split_losses(
    rows: Rows, candidates: Sequence[Estimator], validator: Estimator, splits: Sequence[Split], pool: Pool
) -> Floats:
    """Return the squared difference between each candidate and the validator on each split (candidates x splits)."""
    sides = Sides(rows, candidates, validator, splits)
    sides.fill_without_fits()
    if sides.judging or len(sides.needed):
        together = max(1, STACKED // len(rows))
        if rows.examples.context.size < SHARED:
            pool = replace(pool, threads=1)
        pool.map(sides.fill_with_fits, np.array_split(np.arange(len(splits)), -(-len(splits) // together)))
    return np.square(sides.found - sides.truth)


class Sides:
    """What candidates say on one side of every split (`found`), and the validator on the other one (`truth`).

    Candidates that cut an order at the same place share both sides, their refits and the validator's value: `lines` are
    the different cuts of all splits, and `line` says which one each candidate has. `needed` are those at which some
    candidates need a reward model.
    """

    def __init__(
        self, rows: Rows, candidates: Sequence[Estimator], validator: Estimator, splits: Sequence[Split]
    ) -> None:
        """Find which cuts are shared, and where a reward model must be fitted anew."""
        self.rows, self.candidates, self.validator, self.splits = rows, candidates, validator, splits
        self.found, self.truth = np.empty((2, len(candidates), len(splits)))
        self.cuts = np.stack([split.cuts for split in splits], axis=1)
        self.lines, self.line = np.unique(self.cuts, axis=0, return_inverse=True)
        self.judging = validator.uses("model")
        self.fitting = np.array([one.uses("model") for one in candidates])
        self.needed = np.unique(self.line[self.fitting])

    def fill_without_fits(self) -> None:
        """Fill in what needs no reward model, which is the same on all splits at once: a product of matrices."""
        free = np.flatnonzero(~self.fitting).tolist()
        requests = [(self.candidates[place], self.cuts[place]) for place in free]
        requests += [(self.validator, one) for one in self.lines if not self.judging]
        sides = evaluate_prefixes(self.rows, requests, self.splits)
        for place, (before, _) in zip(free, sides, strict=False):
            self.found[place] = before
        if not self.judging:
            self.truth[:] = np.stack([after for _, after in sides[len(free) :]])[self.line]

    def fill_with_fits(self, group: Ints) -> None:
        """Fill in what needs a model on some of the splits."""
        if len(self.needed):
            self.fill_found(group)
        if self.judging:
            for one in group.tolist():
                ends = len(self.rows) - self.lines[::-1, one]  # the rest are the first rows of the order turned round
                truth = self.validator.refit_values(self.rows, self.splits[one].order[::-1], ends.tolist())
                self.truth[:, one] = truth[::-1][self.line]

    def fill_found(self, group: Ints) -> None:
        """Fill in what candidates say that need a model, on several splits at once."""
        orders, places = [self.splits[one].order for one in group.tolist()], self.lines[np.ix_(self.needed, group)]
        predicted = [self.rows.predict_first(*given) for given in zip(orders, places.T.tolist(), strict=True)]
        most = places[-1].tolist()
        sees = any(self.candidates[place].may_see_context for place in np.flatnonzero(self.fitting).tolist())
        rows = self.rows if sees else self.rows.without_context
        rows = rows.take(np.concatenate([one[:end] for one, end in zip(orders, most, strict=True)]))
        for number, ends in zip(self.needed.tolist(), places, strict=True):
            mine = np.flatnonzero(self.fitting & (self.line == number))
            some = [self.candidates[place] for place in mine.tolist()]
            first = rows.take(find_first(ends, places[-1]), partial(np.concatenate, [next(one) for one in predicted]))
            self.found[np.ix_(mine, group)] = evaluate_parts(some, first, ends)


def find_first(ends: Ints, sizes: Ints) -> Ints | slice:
    """Return the places of the first rows of each of several parts of such sizes; a slice, of one part."""
    starts = np.cumsum(sizes) - sizes
    several = [np.arange(start, start + end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return np.concatenate(several) if len(several) > 1 else slice(int(ends[0]))


def evaluate_parts(estimators: Sequence[Estimator], rows: Rows, sizes: Ints) -> Floats:
    """Return what estimators say on each of several parts of the rows, which follow each other (estimators x parts)."""
    ends = np.cumsum(sizes)
    starts = ends - sizes
    found = np.empty((len(estimators), len(sizes)))
    alone = np.array([one.rowwise for one in estimators])
    if alone.any():
        some = [one for one in estimators if one.rowwise]
        sums = Sums.of(rows, some, Consecutive(starts, len(rows)))
        found[alone] = sums.values(some, sums.terms / sums.sizes)
    if not alone.all():
        places = [slice(start, end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        parts = [rows.take(place, partial(rows.q.__getitem__, place)) for place in places]
        for place in np.flatnonzero(~alone).tolist():
            found[place] = [estimators[place].value(part) for part in parts]
    return found


def evaluate_prefixes(
    rows: Rows, requests: Sequence[tuple[Estimator, Ints]], splits: Sequence[Split]
) -> list[tuple[Floats, Floats]]:
    """Return what estimators say before and after a cut of each split, for pairs of one and its cuts.

    Both are sums over rows, those after the cut being the rest; so a few rows at a time make one product for all splits
    and all estimators with the same cuts.
    """
    if not requests:
        return []
    estimators = list(dict.fromkeys(one for one, _ in requests))
    ranks = np.stack([np.argsort(split.order).astype(np.int32) for split in splits])
    asked: dict[bytes, tuple[Ints, list[Estimator]]] = {}
    for one, cuts in requests:
        asked.setdefault(cuts.tobytes(), (cuts, []))[1].append(one)
    before: dict[bytes, Floats] = {}
    total: Any = 0.0
    step = max(1024, capacity.count_rows(len(splits), CHUNK))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        taken = rows.take(part)
        sums = Sums.of(taken, estimators, Consecutive(np.arange(len(taken)), len(taken)))
        table = np.vstack([sums.terms, sums.sizes])
        total = total + table.sum(axis=1, keepdims=True)
        for key, (cuts, some) in asked.items():
            inside = (ranks[:, part] < cuts[:, None]).astype(np.float64)
            mine = np.append(sums.layout.find(some).lines, len(sums.terms))
            before.setdefault(key, np.zeros((len(table), len(splits))))[mine] += table[mine] @ inside.T

    def sides(estimator: Estimator, cuts: Ints) -> tuple[Floats, Floats]:
        first = before[cuts.tobytes()]
        lines, rest = sums.lines[estimator], total - first
        return estimator.combine_means(first[lines] / first[-1]), estimator.combine_means(rest[lines] / rest[-1])

    return [sides(*request) for request in requests]
