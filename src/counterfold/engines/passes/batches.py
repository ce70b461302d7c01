"""Batch: some rows of a log as a table; and `BatchReader`, which reads all of a log batch by batch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from counterfold.arrays import Ints
from counterfold.balance import FIRST
from counterfold.progress import Progress
from counterfold.sums import Sum
from counterfold.tables.scan import LogScan

HEAD, HEAD_BYTES = FIRST, 1 << 27
"""How many of the first rows tell what the columns hold, unless they take more bytes."""


class Batch(NamedTuple):
    """Some rows as a table, and the number of each in the log."""

    table: pa.Table
    row_numbers: Ints

    def first(self, rows: int) -> "Batch":
        """Return the first rows, at most so many."""
        return Batch(self.table.slice(0, rows), self.row_numbers[:rows])

    def split(self, rows: int) -> "list[Batch]":
        """Return the rows in order, at most so many at a time."""
        starts = range(0, len(self.row_numbers), rows)
        return [Batch(self.table.slice(at, rows), self.row_numbers[at : at + rows]) for at in starts]


class BatchReader(ABC):
    """Applies a function to all rows of a log, a few at a time, and adds up what it returns."""

    scan: LogScan

    @abstractmethod
    def head(self) -> Batch:
        """Return some rows, the first ones if there is an order."""

    @abstractmethod
    def count_rows(self) -> int | None:
        """Return the number of rows, if it can be known without reading them."""

    @abstractmethod
    def total(self, work: Callable[[Batch], Sum], columns: Sequence[str], progress: Progress | None) -> Sum:
        """Return the sum of what a function returns for all batches, which have these columns."""

    @abstractmethod
    def distinct(self, column: str) -> list[Any]:
        """Return the different values of a column, or keys of its maps, sorted."""
