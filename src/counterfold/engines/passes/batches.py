"""BatchReader, which reads all of a log batch by batch; PreparedRows: its rows as one of its rewards needs them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from counterfold.base.progress import Progress
from counterfold.estimators.sums import Sum
from counterfold.io.schema.batches import Batch, LogRows, Pass
from counterfold.io.schema.preparation import Preparation
from counterfold.io.schema.scan import LogScan
from counterfold.log.assignment import FIRST

HEAD, HEAD_BYTES = FIRST, 1 << 27
"""How many of the first rows tell what the columns hold, unless they take more bytes."""


class BatchReader(ABC):
    """Applies a function to all rows of a log, a few at a time, and adds up what it returns."""

    scan: LogScan

    @abstractmethod
    def find_schema(self) -> pa.Schema:
        """Return the columns of the log, and their types."""

    @abstractmethod
    def count_rows(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def read_heads(self, preparations: Sequence[Preparation]) -> list[Batch]:
        """Return some rows, the first ones if there is an order, of those that each preparation leaves."""

    @abstractmethod
    def total(self, work: Callable[[Batch], Sum], columns: Sequence[str], progress: Progress | None) -> Sum:
        """Return the sum of what a function returns for all batches, which have these columns."""


@dataclass(frozen=True, eq=False)
class PreparedRows(LogRows):
    """The rows of a long log with one of its rewards, without those that are left out; `head` are the first ones."""

    scan: LogScan
    preparation: Preparation
    head: Batch
    row_count: int
    is_whole: ClassVar[bool] = False

    @property
    def first(self) -> Batch:
        return self.head.first(HEAD)

    @property
    def count(self) -> int:
        return self.row_count

    def ask(self, label: str, work: Callable[[Batch], Any], columns: Sequence[str]) -> Pass:
        """Return a pass over these rows, as one over the rows of the source."""
        prepare = self.preparation.prepare  # workers of Spark get nothing else of these rows

        def prepare_and_work(batch: Batch) -> Any:
            left = prepare(batch)
            return work(left.select(columns)) if len(left.row_numbers) else None

        return Pass(label, prepare_and_work, self.preparation.list_sources(columns))
