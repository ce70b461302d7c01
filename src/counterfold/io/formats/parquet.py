"""Parquet files."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from counterfold.io.formats.base import BYTES, ROWS, Piece, Reader, Survey

WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 8}
"""How many bytes a number takes when it is decoded, whatever it takes in the file."""


class Parquet(Reader):
    """A Parquet file; texts that it holds once each stay so in memory, as dictionaries."""

    suffixes = (".parquet", ".pq")

    def survey(self, file: Path) -> Survey:
        metadata = pq.read_metadata(file)
        require_safe(file, metadata)
        require_consistent(metadata)
        with open_file(file, metadata, list_texts(metadata)) as opened:
            return Survey(opened.schema_arrow, metadata.num_rows, sum(map(decoded_size, list_groups(metadata))))

    def pieces(self, file: Path, survey: Survey, columns: Sequence[str]) -> Iterator[Piece]:
        first, metadata = 0, pq.read_metadata(file)
        texts = list_texts(metadata)
        for number, group in enumerate(list_groups(metadata)):
            yield Piece(first, partial(read_group, file, metadata, texts, number, columns))
            first += group.num_rows


def require_safe(file: Path, metadata: Any) -> None:
    """Refuse a file whose end is damaged so that the process would end as soon as one asks for a column of a row group.

    Reading the first row is safe, and what is to be buffered before it makes pyarrow look at all row groups.
    """
    with pq.ParquetFile(file, metadata=metadata, pre_buffer=True) as opened:
        for name in dict.fromkeys(opened.schema_arrow.names):
            next(opened.iter_batches(1, columns=[name], use_threads=False), None)


def require_consistent(metadata: Any) -> None:
    """Refuse a file whose end contradicts itself, before anybody relies on it."""
    groups = list_groups(metadata)
    if metadata.num_rows != sum(group.num_rows for group in groups) or any(group.num_rows < 0 for group in groups):
        raise pa.ArrowInvalid(f"it says that it holds {metadata.num_rows} rows, and its row groups say otherwise")
    if any(group.num_columns != metadata.num_columns for group in groups):
        raise pa.ArrowInvalid(f"it says that it has {metadata.num_columns} columns, and a row group says otherwise")
    for group, number in product(groups, range(metadata.num_columns)):
        chunk, column = group.column(number), metadata.schema.column(number)
        if (chunk.path_in_schema, chunk.physical_type) != (column.path, column.physical_type):
            raise pa.ArrowInvalid(f"column `{column.path}` is called `{chunk.path_in_schema}` in a row group")
        if column.max_repetition_level == 0 and chunk.num_values != group.num_rows:
            said = f"{chunk.num_values} values of column `{column.path}` in {group.num_rows} rows"
            raise pa.ArrowInvalid(f"it says that it holds {said}")


def list_groups(metadata: Any) -> list[Any]:
    """Return what is known of each row group."""
    return [metadata.row_group(number) for number in range(metadata.num_row_groups)]


def list_chunks(group: Any) -> list[Any]:
    """Return what is known of each column of a row group."""
    return [group.column(number) for number in range(group.num_columns)]


def list_texts(metadata: Any) -> list[str]:
    """Return the columns that hold each of their texts once, in any row group."""
    chunks = (chunk for group in list_groups(metadata) for chunk in list_chunks(group))
    kept = {chunk.path_in_schema for chunk in chunks if is_dictionary(chunk)}
    return [one.name for one in metadata.schema.to_arrow_schema() if one.type == pa.string() and one.name in kept]


def open_file(file: Path, metadata: Any, texts: Sequence[str]) -> pq.ParquetFile:
    """Return the file, whose pages are compared with their checksums, if they have any, and whose texts stay so."""
    return pq.ParquetFile(file, metadata=metadata, read_dictionary=texts, page_checksum_verification=True)


def is_dictionary(chunk: Any) -> bool:
    """Say whether a column holds each of its texts once."""
    is_text = chunk.physical_type == "BYTE_ARRAY" and "." not in chunk.path_in_schema
    return is_text and any("DICTIONARY" in one for one in chunk.encodings)


def decoded_size(group: Any) -> int:
    """Return about how many bytes the rows of a group take in memory."""
    size = 0
    for chunk in list_chunks(group):
        if is_dictionary(chunk):
            size += 4 * chunk.num_values + chunk.total_uncompressed_size
        elif chunk.physical_type in WIDTHS:
            size += WIDTHS[chunk.physical_type] * chunk.num_values
        else:
            size += max(16 * chunk.num_values, chunk.total_uncompressed_size)
    return size


def read_group(
    file: Path, metadata: Any, texts: Sequence[str], number: int, columns: Sequence[str]
) -> Iterator[pa.Table]:
    """Yield the rows of a row group; each call opens the file, since threads must not share one, but not its end."""
    group = metadata.row_group(number)
    few = max(1, min(ROWS, group.num_rows * BYTES // max(decoded_size(group), 1)))
    with open_file(file, metadata, texts) as opened:
        if group.num_rows <= few:
            tables: Iterable[pa.Table] = [opened.read_row_group(number, columns, use_threads=False)]
        else:
            batches = opened.iter_batches(few, row_groups=[number], columns=columns, use_threads=False)
            tables = (pa.Table.from_batches([batch]) for batch in batches)
        count, ranges = 0, find_ranges(group, columns)
        for table in tables:
            require_ranges(table, ranges)
            count += len(table)
            yield table.select(columns)
    if count != group.num_rows:
        raise pa.ArrowInvalid(f"row group {number} must hold {group.num_rows} rows, got {count}; write the file again")


def find_ranges(group: Any, columns: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest number of columns, as far as the file says."""
    known = {chunk.path_in_schema: chunk.statistics for chunk in list_chunks(group) if chunk.physical_type in WIDTHS}
    told = {name: known[name] for name in columns if known.get(name) is not None and known[name].has_min_max}
    numbers = {name: one for name, one in told.items() if one.logical_type.type in {"NONE", "INT"}}
    return {name: (one.min, one.max) for name, one in numbers.items()}  # dates may be none that Python has


def require_ranges(table: pa.Table, ranges: dict[str, tuple[float, float]]) -> None:
    """Require numbers within the range that the file says they have; damage rarely leaves them there."""
    for name, (least, most) in ranges.items():
        kind = table.schema.field(name).type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            low, high = find_ends(table.column(name))
            if low is not None and (low < least or high > most):
                rule = f"column `{name}` must be from {least} to {most}, as the file itself says"
                raise pa.ArrowInvalid(f"{rule}, got {low} to {high}; the file is damaged, so fetch or write it again")


def find_ends(column: pa.ChunkedArray) -> tuple[Any, Any]:
    """Return the least and the greatest number of a column, if there is any; pyarrow takes ten times as long."""
    numbers = column.drop_null().to_numpy()
    return (np.fmin.reduce(numbers).item(), np.fmax.reduce(numbers).item()) if len(numbers) else (None, None)
