"""How the units of a log move the values of a segment by what the reward model learns from them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from counterfold.base.arrays import Bools, Floats
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows
from counterfold.evidence.segments.sums import AllSegmentSums, SegmentSums, merge_units

LEAST_ROWS = 50
"""A segment with fewer rows in the sample of a large log is taken to depend on the model as the whole log does."""


def match_units(sums: SegmentSums, found: AllSegmentSums) -> SegmentSums:
    """Return the sums of a column over no more units than those of what rows teach the reward model."""
    return sums if found.lessons is None else sums.coarsen(found.lesson_units)


def find_pulls(
    rows: Rows, is_there: Bools, pulls: Sequence[Any], found: AllSegmentSums, sizes: Floats
) -> Mapping[Estimator, Floats]:
    """Return how every unit moves the values of a segment by what the reward model learns from it.

    `pulls` are estimators that stand for one value each, by its `max_weight`. `sizes` are those of the units of the
    whole log: rows of all segments teach the model. The moves are those of a jackknife over them, as for the whole log.
    """
    if not pulls:
        return {}
    is_known = is_there.sum() >= (1 if rows.all_rows else LEAST_ROWS)
    some = rows.examples.take(np.flatnonzero(is_there)) if is_known else rows.examples
    decisions = rows.total * (1.0 if rows.counts is None else float(rows.counts.mean()))
    taught = rows.fitted.pull_values(some, [one.max_weight for one in pulls], found.lessons)
    moved = merge_units(decisions * taught, len(sizes))
    there = sizes > 0
    rest = (moved.sum(axis=1, keepdims=True) - moved[:, there]) / (sizes.sum() - sizes[there])
    moves = np.zeros_like(moved)
    moves[:, there] = (rest - rest.mean(axis=1, keepdims=True)) * np.sqrt(1 - 1 / there.sum())
    return dict(zip(pulls, moves, strict=True))
