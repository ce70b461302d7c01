"""ColumnSummary: what rows tell of a column, a few at a time, until all have told how it is cut."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from counterfold.base import messages
from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.hashing import sample_least
from counterfold.log.encoding.kinds import is_date
from counterfold.log.encoding.levels import limit_counts
from counterfold.log.segments.by import MOST, By
from counterfold.log.segments.columns import is_number, list_values, read_numbers, write_number
from counterfold.log.segments.cuts import MISSING, OTHER, Cut, find_edges, name_parts

PARTS, FEW = 5, 10
"""Numbers are cut into so many parts, unless there are but a few different ones, which are segments themselves."""

SAMPLE = 1 << 16
"""About so many numbers, which a hash chooses, tell where to cut."""


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """What some rows tell of a column that is to be cut; that of others can be added.

    `counts` are the rows of each value, unless there are too many; `numbers` are those of a sample of the rows.
    """

    rows: int
    missing: int
    counts: Mapping[str, int] | None
    numbers: Floats
    row_numbers: Ints
    is_ordered: bool

    @classmethod
    def of(cls, column: pa.ChunkedArray, row_numbers: Ints) -> "ColumnSummary":
        """Return what some rows tell."""
        rows, nothing = len(column), np.empty(0)
        if is_number(column.type):
            numbers = read_numbers(column)
            there = np.flatnonzero(~np.isnan(numbers))
            kept = there[sample_least(row_numbers[there], SAMPLE)]
            counts = count_numbers(numbers[there])
            return cls(rows, rows - len(there), counts, numbers[kept], row_numbers[kept], is_ordered=True)
        counts = Counter()
        for values, codes in list_values(column):
            times = np.bincount(codes, minlength=len(values) + 1).tolist()
            counts.update({one: time for one, time in zip(values, times, strict=False) if one is not None and time})
        missing, is_ordered = rows - sum(counts.values()), is_date(column.type)
        return cls(rows, missing, limit_counts(counts), nothing, nothing.astype(np.intp), is_ordered)

    def __add__(self, other: "ColumnSummary") -> "ColumnSummary":
        counts = None
        if self.counts is not None and other.counts is not None:
            counts = limit_counts(Counter(self.counts) + Counter(other.counts))
        row_numbers = np.concatenate([self.row_numbers, other.row_numbers])
        kept, numbers = sample_least(row_numbers, SAMPLE), np.concatenate([self.numbers, other.numbers])
        rows, missing = self.rows + other.rows, self.missing + other.missing
        return ColumnSummary(rows, missing, counts, numbers[kept], row_numbers[kept], self.is_ordered)

    def learn(self, by: By) -> Cut:
        """Return how the column is cut, once all rows told."""
        name, present = messages.show(by.column), self.rows - self.missing
        if not present:
            raise DataError(f"`by` column `{name}` must hold values, got none in all {self.rows} rows.")
        has_numbers, gaps = len(self.numbers) > 0, (MISSING,) if self.missing else ()
        if by.parts is not None and not has_numbers:
            raise ParameterError(f"`by` must cut a column of numbers into parts, got `{name}:{by.parts}` of others.")
        is_few = self.counts is not None and len(self.counts) <= FEW
        if has_numbers and (by.parts is not None or not is_few):
            edges = find_edges(self.numbers, by.parts or PARTS)
            return Cut(by.column, (*name_parts(edges), *gaps), edges)
        known = self.counts
        if known is None or (len(known) > MOST and 2 * len(known) > present):
            got = "as many as an identifier has" if known is None else f"{len(known)} in {self.rows} rows"
            way = "Name one that many rows share"
            raise DataError(f"`by` column `{name}` must have few different values, got {got}. {way}.")
        ranked = sorted(known, key=lambda one: (-known[one], one))
        kept, merged = ranked[:MOST], len(ranked[MOST:])
        kept = sorted(kept, key=float if has_numbers else str) if self.is_ordered else kept
        return Cut(by.column, (*kept, *((OTHER,) if merged else ()), *gaps), None, merged)


@dataclass(frozen=True, eq=False)
class BySummary:
    """What some rows tell of all columns that are to be cut; that of others can be added."""

    columns: tuple[ColumnSummary, ...]

    @classmethod
    def of(cls, several: Sequence[By], table: pa.Table, row_numbers: Ints | None = None) -> "BySummary":
        """Return what the rows of a table tell."""
        numbers = np.arange(table.num_rows) if row_numbers is None else row_numbers
        return cls(tuple(ColumnSummary.of(table.column(one.column), numbers) for one in several))

    def __add__(self, other: "BySummary") -> "BySummary":
        return BySummary(tuple(one + two for one, two in zip(self.columns, other.columns, strict=True)))

    def learn(self, several: Sequence[By]) -> tuple[Cut, ...]:
        """Return how each column is cut."""
        return tuple(summary.learn(by) for summary, by in zip(self.columns, several, strict=True))


def count_numbers(numbers: Floats) -> Mapping[str, int] | None:
    """Return the rows of each number, or nothing if these are more than a few."""
    known, counts = np.unique(numbers, return_counts=True)
    return None if len(known) > FEW else dict(zip(map(write_number, known.tolist()), counts.tolist(), strict=True))
