"""Files larger than memory, on the cores of this machine."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa

from counterfold.base import capacity
from counterfold.base.errors import DataError
from counterfold.base.progress import Progress
from counterfold.base.threads import Pool
from counterfold.engines.base import Source, is_on_spark
from counterfold.engines.passes.batch_engine import BatchEngine
from counterfold.engines.passes.batches import HEAD, HEAD_BYTES
from counterfold.engines.passes.drawing import Drawn
from counterfold.estimators.sums import Sum, add_known
from counterfold.io.formats.base import Piece
from counterfold.io.schema.batches import Batch
from counterfold.io.schema.preparation import Preparation
from counterfold.io.schema.same_context import ContextGroups
from counterfold.io.schema.scan import LogScan
from counterfold.io.sources.base import RowSource
from counterfold.log.log import Log


@dataclass(frozen=True, eq=False)
class Local(BatchEngine):
    """Pieces of a source are read and worked on by several threads, and added up in their order.

    Memory holds a few pieces per thread, whatever the number of rows, and the sums do not depend on the threads.
    """

    scan: LogScan
    rows: RowSource
    pool: Pool
    drawn: Drawn | None = None
    groups: ContextGroups | None = None

    @classmethod
    def of(cls, source: Source, pool: Pool) -> Self:
        scan: Any = source  # which is not in memory, as `can_read` says
        return cls(scan, scan.opened, pool)

    @classmethod
    def can_read(cls, source: Source) -> bool:
        return not isinstance(source, Log) and not is_on_spark(source)

    @classmethod
    def is_best_for(cls, source: Source) -> bool:
        if isinstance(source, Log) or not cls.can_read(source):
            return False
        rows = source.opened
        limit = capacity.find_room() if rows.is_in_memory else capacity.find_limit()
        return capacity.estimate_need(rows.rows, rows.size) > limit

    def find_schema(self) -> pa.Schema:
        return self.rows.schema

    def count_rows(self) -> int:
        return self.rows.rows

    def read_heads(self, preparations: Sequence[Preparation]) -> list[Batch]:
        found: list[list[Batch]] = [[] for _ in preparations]
        with closing(self.rows.pieces(None)) as pieces:
            for batch in (batch for piece in pieces for batch in read_batches(piece)):
                for head, preparation in zip(found, preparations, strict=True):
                    if not is_enough(head):
                        head.append(preparation.prepare(batch))
                if all(map(is_enough, found)):
                    break
        return [join_batches(head) for head in found]

    def total(self, work: Callable[[Batch], Sum], columns: Sequence[str], progress: Progress | None) -> Sum:
        def work_on(piece: Piece) -> tuple[Sum | None, int]:
            found: Sum | None = None
            row_count = 0
            for batch in read_batches(piece):
                found, row_count = add_known(found, work(batch)), row_count + batch.table.num_rows
            return found, row_count

        total: Sum | None = None
        done, count = 0, self.rows.rows
        with closing(self.rows.pieces(columns)) as pieces, closing(self.pool.stream(work_on, pieces)) as results:
            for found, row_count in results:
                total, done = add_known(total, found), done + row_count
                if progress:
                    progress(done, max(count, done))
        self.rows.require_unchanged()
        if total is None or done != count:
            raise DataError(f"{self.rows.name} must hold {count} rows, as at first, got {done}.")
        return total


def is_enough(head: Sequence[Batch]) -> bool:
    """Say whether the first rows of a log tell what its columns hold."""
    return sum(len(one.table) for one in head) >= HEAD or sum(one.table.nbytes for one in head) >= HEAD_BYTES


def join_batches(batches: Sequence[Batch]) -> Batch:
    """Return the rows of several batches as one."""
    tables, row_numbers = zip(*batches, strict=True)
    return Batch(pa.concat_tables(tables), np.concatenate(row_numbers))


def read_batches(piece: Piece) -> Iterator[Batch]:
    """Yield the rows of a piece, with their numbers."""
    first = piece.first
    for table in piece.tables():
        if table.num_rows:
            yield Batch(table, np.arange(first, first + table.num_rows))
        first += table.num_rows
