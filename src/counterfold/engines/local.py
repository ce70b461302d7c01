"""Files larger than memory, on the cores of this machine."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from counterfold import capacity, readers
from counterfold.engines.base import Source, measure_file
from counterfold.engines.passes.batch_engine import BatchEngine
from counterfold.engines.passes.batches import HEAD, HEAD_BYTES, Batch
from counterfold.errors import DataError
from counterfold.log import Log
from counterfold.pool import Pool
from counterfold.progress import Progress
from counterfold.readers.base import Piece, Reader
from counterfold.sums import Sum, add_known
from counterfold.tables.scan import LogScan


@dataclass(frozen=True, eq=False)
class Local(BatchEngine):
    """Pieces of a file are read and worked on by several threads, and added up in their order.

    Memory holds a few pieces per thread, whatever the size of the file, and the sums do not depend on the threads.
    """

    scan: LogScan
    path: Path
    reader: Reader
    pool: Pool

    @classmethod
    def of(cls, source: Source, pool: Pool) -> Self:
        scan: Any = source  # which is a path, as `can_read` says
        path = Path(scan.source)
        return cls(scan, path, readers.find_reader(path), pool)

    @classmethod
    def can_read(cls, source: Source) -> bool:
        return not isinstance(source, Log) and isinstance(source.source, (str, PathLike))

    @classmethod
    def is_best_for(cls, source: Source) -> bool:
        if isinstance(source, Log) or not cls.can_read(source):
            return False
        rows, size = measure_file(source.source)
        return capacity.estimate_need(rows, size / rows) > capacity.find_limit()

    def head(self) -> Batch:
        found: list[pa.Table] = []
        with closing(self._pieces(None)) as pieces:
            for table, _ in (batch for piece in pieces for batch in self._batches(piece)):
                found.append(readers.drop_index(table))
                is_enough = sum(map(len, found)) >= HEAD or sum(one.nbytes for one in found) >= HEAD_BYTES
                if is_enough or table.schema != found[0].schema:
                    break
        if not found:
            raise DataError(f"`{self.path}` must hold at least 2 rows, got none.")
        table = pa.concat_tables([one for one in found if one.schema == found[0].schema])
        return Batch(table, np.arange(table.num_rows))

    def count_rows(self) -> int | None:
        with readers.explain_errors(self.path, self.reader):
            return self.reader.rows(self.path)

    def total(self, work: Callable[[Batch], Sum], columns: Sequence[str], progress: Progress | None) -> Sum:
        def work_on(piece: Piece) -> tuple[Sum | None, int]:
            found: Sum | None = None
            row_count = 0
            for batch in self._batches(piece):
                found, row_count = add_known(found, work(batch)), row_count + batch.table.num_rows
            return found, row_count

        total: Sum | None = None
        done, count = 0, self.count_rows() or 0
        with closing(self._pieces(columns)) as pieces, closing(self.pool.stream(work_on, pieces)) as results:
            for found, row_count in results:
                total, done = add_known(total, found), done + row_count
                if progress:
                    progress(done, max(count, done))
        if total is None:
            raise DataError(f"`{self.path}` must hold at least 2 rows, got none.")
        return total

    def distinct(self, column: str) -> list[Any]:
        found: set[Any] = set()
        for batch in (batch for piece in self._pieces([column]) for batch in self._batches(piece)):
            for chunk in batch.table.column(column).chunks:
                found.update((chunk.keys if pa.types.is_map(chunk.type) else chunk).unique().to_pylist())
        return sorted(value for value in found if value is not None)

    def _pieces(self, columns: Sequence[str] | None) -> Generator[Piece]:
        with readers.explain_errors(self.path, self.reader):
            yield from self.reader.pieces(self.path, columns)

    def _batches(self, piece: Piece) -> Iterator[Batch]:
        first = piece.first
        with readers.explain_errors(self.path, self.reader):
            for table in piece.tables():
                if table.num_rows:
                    yield Batch(table, np.arange(first, first + table.num_rows))
                first += table.num_rows
