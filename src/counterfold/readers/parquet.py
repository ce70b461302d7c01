"""Parquet files, and folders of them."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from counterfold.readers.base import Piece, Reader

ROWS, BYTES = 1 << 17, 1 << 26
"""How many rows of a row group are read at a time, unless they take more bytes than that."""


class Parquet(Reader):
    """A Parquet file, or a folder of them read in the order of their names."""

    suffixes = (".parquet", ".pq")

    def table(self, path: Path) -> pa.Table:
        return pq.read_table(path)

    def pieces(self, path: Path, columns: Sequence[str] | None) -> Iterator[Piece]:
        first, schema = 0, None
        for file, metadata in self._files(path):
            if schema is None:
                with pq.ParquetFile(file, metadata=metadata) as opened:
                    schema = opened.schema_arrow
            for number in range(metadata.num_row_groups):
                yield Piece(first, partial(_row_group, file, metadata, number, columns, schema))
                first += metadata.row_group(number).num_rows

    def rows(self, path: Path) -> int:
        return sum(metadata.num_rows for _, metadata in self._files(path))

    def size(self, path: Path) -> int:
        files = [metadata for _, metadata in self._files(path)]
        return sum(one.row_group(number).total_byte_size for one in files for number in range(one.num_row_groups))

    def _files(self, path: Path) -> Iterator[tuple[str, Any]]:
        """Yield each file with what is known of it."""
        import pyarrow.dataset

        for file in sorted(pyarrow.dataset.dataset(path, format="parquet").files):
            yield file, pq.read_metadata(file)


def _row_group(
    file: str, metadata: Any, number: int, columns: Sequence[str] | None, schema: pa.Schema
) -> Iterator[pa.Table]:
    """Yield the rows of a row group; each call opens the file, since threads must not share one, but not its end."""
    with pq.ParquetFile(file, metadata=metadata) as opened:
        group = metadata.row_group(number)
        few = max(1, min(ROWS, group.num_rows * BYTES // max(group.total_byte_size, 1)))
        if group.num_rows <= few:
            yield _conform(opened.read_row_group(number, columns, use_threads=False), columns, schema)
            return
        for batch in opened.iter_batches(few, row_groups=[number], columns=columns, use_threads=False):
            yield _conform(pa.Table.from_batches([batch]), columns, schema)


def _conform(table: pa.Table, columns: Sequence[str] | None, schema: pa.Schema) -> pa.Table:
    """Return the columns as the first file of a folder has them; other files may lack some, or store them otherwise."""
    wanted = schema if columns is None else pa.schema([schema.field(name) for name in columns])
    if table.schema.equals(wanted):
        return table
    found = [
        table.column(one.name).cast(one.type) if one.name in table.column_names else pa.nulls(len(table), one.type)
        for one in wanted
    ]
    return pa.table(found, schema=wanted)
