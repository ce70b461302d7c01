"""What cross-validation computes: candidates on one part of the rows, a validator on the rest, on many splits."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from counterfold.arrays import Floats, Ints
from counterfold.estimators.base import Estimator
from counterfold.parting import Neighbours
from counterfold.pool import Pool
from counterfold.rows import Rows
from counterfold.sums import CHUNK, Sums, values


def unit_losses(sums: Sums, candidates: Sequence[Estimator], validator: Estimator, inside: Floats) -> Floats:
    """Return the squared difference between each candidate and the validator on each split (candidates x splits).

    `inside` (splits x units) is 1 for the units that the candidates get, 0 for those that the validator gets.
    """
    every = sums.some([*candidates, validator])
    sizes, before = every.sizes @ inside.T, every.terms @ inside.T
    judged = every.lines[validator]
    rest = (every.terms[judged].sum(axis=1, keepdims=True) - before[judged]) / (every.sizes.sum() - sizes)
    return np.square(every.values(candidates, before / sizes) - validator.of_means(rest))


class Split(NamedTuple):
    """An order of the rows and, per candidate, how many of them it gets; the validator gets the rest."""

    order: Ints
    cuts: Ints


def split_losses(
    rows: Rows, candidates: Sequence[Estimator], validator: Estimator, splits: Sequence[Split], pool: Pool
) -> Floats:
    """Return the squared difference between each candidate and the validator on each split (candidates x splits).

    Candidates that cut an order at the same place share the two parts, their refits and the validator's value. What
    needs no reward model is the same whatever it would be fitted on, so all splits at once are a product of matrices.
    """
    cuts = np.stack([split.cuts for split in splits], axis=1)
    found, truth = np.empty((2, len(candidates), len(splits)))
    judging = validator.uses("model")
    fitting = np.array([one.uses("model") for one in candidates])
    free = np.flatnonzero(~fitting).tolist()
    requests = [(candidates[place], cuts[place]) for place in free]
    if not judging:
        requests += [(validator, line) for line in cuts]
    sides = on_prefixes(rows, requests, splits)
    for place, (before, _) in zip(free, sides, strict=False):
        found[place] = before
    if not judging:
        truth[:] = [after for _, after in sides[len(free) :]]
    seen = np.arange(len(candidates)) if judging else np.flatnonzero(fitting)

    def refitted(split: Split) -> tuple[Floats, Floats]:
        places, where = np.unique(split.cuts[seen], return_inverse=True)
        column, held = np.empty((2, len(candidates)))
        order = split.order if judging else split.order[: places[-1]]
        for number, (train, rest) in enumerate(rows.take(order).halves(places.tolist())):
            here = seen[where == number]
            mine = here[fitting[here]]
            if len(mine):
                column[mine] = values([candidates[place] for place in mine.tolist()], train)
            if judging:
                held[here] = validator.value(rest)
        return column, held

    if len(seen):
        columns, held = (np.column_stack(side) for side in zip(*pool.map(refitted, splits), strict=True))
        found[fitting] = columns[fitting]
        truth = held if judging else truth
    return np.square(found - truth)


def on_prefixes(
    rows: Rows, requests: Sequence[tuple[Estimator, Ints]], splits: Sequence[Split]
) -> list[tuple[Floats, Floats]]:
    """Return what estimators say before and after a cut of each split, for pairs of one and its cuts.

    Both are sums over rows, those after the cut being the rest; so a few rows at a time make one product for all splits
    and all estimators with the same cuts.
    """
    if not requests:
        return []
    estimators = list(dict.fromkeys(one for one, _ in requests))
    ranks = np.stack([np.argsort(split.order) for split in splits])
    shared: dict[bytes, Ints] = {cuts.tobytes(): cuts for _, cuts in requests}
    before: dict[bytes, Floats] = {}
    total: Any = 0.0
    for start in range(0, len(rows), CHUNK):
        part = slice(start, start + CHUNK)
        taken = rows.take(part)
        sums = Sums.of(taken, estimators, Neighbours(np.arange(len(taken)), len(taken)))
        total = total + sums.terms.sum(axis=1, keepdims=True)
        for key, cuts in shared.items():
            inside = (ranks[:, part] < cuts[:, None]).astype(np.float64)
            before[key] = before.get(key, 0.0) + sums.terms @ inside.T

    def sides(estimator: Estimator, cuts: Ints) -> tuple[Floats, Floats]:
        mine = sums.lines[estimator]
        first, every = before[cuts.tobytes()][mine], total[mine]
        return estimator.of_means(first / cuts), estimator.of_means((every - first) / (len(rows) - cuts))

    return [sides(*request) for request in requests]
