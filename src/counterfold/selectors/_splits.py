"""Losses of cross-validation: candidates on one part of the rows, a validator on the rest, on many splits."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from counterfold.base import capacity
from counterfold.base.arrays import Floats, Ints
from counterfold.base.threads import Pool
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import MAX_ROWS_PER_SLICE, MIN_ROWS_PER_SLICE, Sums
from counterfold.log.partition import Consecutive

ROWS_PER_TASK = 1 << 15
"""A thread works on several splits at once, as long as they have no more rows than this together."""

MIN_CONTEXT_SIZE_FOR_THREADS = 1 << 20
"""Splits are computed by several threads if the context has at least this many numbers.

With fewer, the threads mostly wait for each other.
"""


def compute_unit_losses(
    sums: Sums, candidates: Sequence[Estimator], validator: Estimator, ranks: Ints, cuts: Ints
) -> Floats:
    """Return the squared difference between each candidate and the validator on each split (candidates x splits).

    A candidate gets the units whose rank in a split (splits x units) is below its cut, the validator gets the others.
    """
    n_splits = len(ranks)
    picked = sums.layout.pick(candidates)
    unique_cuts, cut_of_candidate = np.unique(cuts, return_inverse=True)
    cut_of_line = cut_of_candidate[picked.owners]

    validator_sums = sums.of_estimator(validator)
    validator_totals = validator_sums.sum(axis=1, keepdims=True)
    n_rows = sums.sizes.sum()

    candidate_means = np.empty((len(sums.terms), n_splits))
    validator_values = np.empty((len(unique_cuts), n_splits))
    for number, cut in enumerate(unique_cuts):
        is_inside = (ranks < cut).astype(np.float64).T
        sizes_inside = sums.sizes @ is_inside
        lines = picked.lines[cut_of_line == number]
        candidate_means[lines] = sums.terms[lines] @ is_inside / sizes_inside
        means_outside = (validator_totals - validator_sums @ is_inside) / (n_rows - sizes_inside)
        validator_values[number] = validator.combine_means(means_outside)
    return np.square(sums.values(candidates, candidate_means) - validator_values[cut_of_candidate])


class Split(NamedTuple):
    """An order of the rows, and how many of the first rows each candidate gets; the validator gets the rest."""

    order: Ints
    cuts: Ints


def compute_split_losses(
    rows: Rows, candidates: Sequence[Estimator], validator: Estimator, splits: Sequence[Split], pool: Pool
) -> Floats:
    """Return the squared difference between each candidate and the validator on each split (candidates x splits)."""
    sides = Sides(rows, candidates, validator, splits)
    sides.fill_without_fits()
    if sides.validator_needs_model or len(sides.cuts_with_model):
        splits_per_task = max(1, ROWS_PER_TASK // len(rows))
        n_tasks = -(-len(splits) // splits_per_task)
        if rows.examples.context.size < MIN_CONTEXT_SIZE_FOR_THREADS:
            pool = replace(pool, threads=1)
        pool.map(sides.fill_with_fits, np.array_split(np.arange(len(splits)), n_tasks))
    return np.square(sides.candidate_values - sides.validator_values)


class Sides:
    """The values of candidates on one side of every split, and of the validator on the other side.

    Candidates that cut an order at the same place share both sides, the refits there and the value of the validator.

    - `candidate_values`, `validator_values`: the values (candidates x splits).
    - `cuts`: the cut of each candidate (candidates x splits).
    - `unique_cuts`: the different lines of `cuts`.
    - `cut_of_candidate`: the line of `unique_cuts` that each candidate has.
    - `needs_model`: whether each candidate needs a reward model.
    - `validator_needs_model`: whether the validator does.
    - `cuts_with_model`: the lines of `unique_cuts` at which some candidate needs a reward model.
    """

    def __init__(
        self, rows: Rows, candidates: Sequence[Estimator], validator: Estimator, splits: Sequence[Split]
    ) -> None:
        """Find which cuts are shared, and where a reward model must be refitted."""
        self.rows = rows
        self.candidates = candidates
        self.validator = validator
        self.splits = splits
        self.candidate_values = np.empty((len(candidates), len(splits)))
        self.validator_values = np.empty((len(candidates), len(splits)))
        self.cuts = np.stack([split.cuts for split in splits], axis=1)
        self.unique_cuts, self.cut_of_candidate = np.unique(self.cuts, axis=0, return_inverse=True)
        self.validator_needs_model = validator.uses("model")
        self.needs_model = np.array([candidate.uses("model") for candidate in candidates])
        self.cuts_with_model = np.unique(self.cut_of_candidate[self.needs_model])

    def fill_without_fits(self) -> None:
        """Compute the values that need no reward model, on all splits at once as a product of matrices."""
        places = np.flatnonzero(~self.needs_model).tolist()
        requests = [(self.candidates[place], self.cuts[place]) for place in places]
        if not self.validator_needs_model:
            requests += [(self.validator, cuts) for cuts in self.unique_cuts]
        values = evaluate_prefixes(self.rows, requests, self.splits)
        for place, (before_cut, _) in zip(places, values[: len(places)], strict=True):
            self.candidate_values[place] = before_cut
        if not self.validator_needs_model:
            after_cuts = np.stack([after_cut for _, after_cut in values[len(places) :]])
            self.validator_values[:] = after_cuts[self.cut_of_candidate]

    def fill_with_fits(self, split_numbers: Ints) -> None:
        """Compute the values that need a model on some of the splits."""
        if len(self.cuts_with_model):
            self.fill_candidate_values(split_numbers)
        if self.validator_needs_model:
            for number in split_numbers.tolist():
                # The rows after the cuts are the first rows of the reversed order. Ends must ascend, so cuts descend.
                ends = len(self.rows) - self.unique_cuts[::-1, number]
                values = self.validator.refit_values(self.rows, self.splits[number].order[::-1], ends.tolist())
                self.validator_values[:, number] = values[::-1][self.cut_of_candidate]

    def fill_candidate_values(self, split_numbers: Ints) -> None:
        """Compute the values of the candidates that need a model, on several splits at once."""
        orders = [self.splits[number].order for number in split_numbers.tolist()]
        ends_by_cut = self.unique_cuts[np.ix_(self.cuts_with_model, split_numbers)]
        predictions = [
            self.rows.predict_first(order, ends) for order, ends in zip(orders, ends_by_cut.T.tolist(), strict=True)
        ]
        # Lines of cuts are sorted, and cuts of different candidates have the same order on every split.
        largest_ends = ends_by_cut[-1]

        candidates_with_model = [self.candidates[place] for place in np.flatnonzero(self.needs_model).tolist()]
        may_see_context = any(candidate.may_see_context for candidate in candidates_with_model)
        rows = self.rows if may_see_context else self.rows.without_context
        parts = [order[:end] for order, end in zip(orders, largest_ends.tolist(), strict=True)]
        rows = rows.take(np.concatenate(parts))

        for cut, ends in zip(self.cuts_with_model.tolist(), ends_by_cut, strict=True):
            places = np.flatnonzero(self.needs_model & (self.cut_of_candidate == cut))
            candidates = [self.candidates[place] for place in places.tolist()]
            predicted = [next(of_split) for of_split in predictions]
            first_rows = rows.take(find_first(ends, largest_ends), partial(np.concatenate, predicted))
            self.candidate_values[np.ix_(places, split_numbers)] = evaluate_parts(candidates, first_rows, ends)


def find_first(ends: Ints, sizes: Ints) -> Ints | slice:
    """Return the places of the first `ends` rows of consecutive parts of these sizes; a slice if there is one part."""
    if len(ends) == 1:
        return slice(int(ends[0]))
    starts = np.cumsum(sizes) - sizes
    places = [np.arange(start, start + end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return np.concatenate(places)


def evaluate_parts(estimators: Sequence[Estimator], rows: Rows, sizes: Ints) -> Floats:
    """Return the estimates on consecutive parts of the rows (estimators x parts)."""
    ends = np.cumsum(sizes)
    starts = ends - sizes
    values = np.empty((len(estimators), len(sizes)))
    is_rowwise = np.array([estimator.rowwise for estimator in estimators])
    if is_rowwise.any():
        rowwise = [estimator for estimator in estimators if estimator.rowwise]
        sums = Sums.of(rows, rowwise, Consecutive(starts, len(rows)))
        values[is_rowwise] = sums.values(rowwise, sums.terms / sums.sizes)
    if not is_rowwise.all():
        slices = [slice(start, end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        parts = [rows.take(part, partial(rows.q.__getitem__, part)) for part in slices]
        for place in np.flatnonzero(~is_rowwise).tolist():
            values[place] = [estimators[place].value(part) for part in parts]
    return values


def evaluate_prefixes(
    rows: Rows, requests: Sequence[tuple[Estimator, Ints]], splits: Sequence[Split]
) -> list[tuple[Floats, Floats]]:
    """Return the estimates before and after a cut of each split, for pairs of an estimator and its cuts.

    Both follow from sums over rows, and the sums after a cut are the total less those before it. So a slice of the rows
    takes one product of matrices for all splits and all estimators with the same cuts.
    """
    if not requests:
        return []
    estimators = list(dict.fromkeys(estimator for estimator, _ in requests))
    ranks = np.stack([np.argsort(split.order).astype(np.int32) for split in splits])

    # Arrays have no hash, so the bytes of the cuts are their key.
    estimators_by_cuts: dict[bytes, tuple[Ints, list[Estimator]]] = {}
    for estimator, cuts in requests:
        _, with_same_cuts = estimators_by_cuts.setdefault(cuts.tobytes(), (cuts, []))
        with_same_cuts.append(estimator)

    # The last line of a table has the numbers of rows, the others the sums of terms.
    sums_before: dict[bytes, Floats] = {}
    total: Floats | float = 0.0
    step = max(MIN_ROWS_PER_SLICE, capacity.count_rows(len(splits), MAX_ROWS_PER_SLICE))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        slice_rows = rows.take(part)
        sums = Sums.of(slice_rows, estimators, Consecutive(np.arange(len(slice_rows)), len(slice_rows)))
        table = np.vstack([sums.terms, sums.sizes])
        total = total + table.sum(axis=1, keepdims=True)
        for key, (cuts, with_same_cuts) in estimators_by_cuts.items():
            is_before = (ranks[:, part] < cuts[:, None]).astype(np.float64)
            lines = np.append(sums.layout.find(with_same_cuts).lines, len(sums.terms))
            if key not in sums_before:
                sums_before[key] = np.zeros((len(table), len(splits)))
            sums_before[key][lines] += table[lines] @ is_before.T

    values = []
    for estimator, cuts in requests:
        before = sums_before[cuts.tobytes()]
        after = total - before
        lines_of_estimator = sums.lines[estimator]
        value_before = estimator.combine_means(before[lines_of_estimator] / before[-1])
        value_after = estimator.combine_means(after[lines_of_estimator] / after[-1])
        values.append((value_before, value_after))
    return values
