"""Readers: from a file to a table, one file for each format.

A path is read by the reader whose suffix it has; anything else that speaks Arrow (pandas, polars, pyarrow, DuckDB
relations) is taken as it is.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterfold import messages, registry
from counterfold.errors import DataError
from counterfold.readers.base import COMPRESSIONS, Reader

if TYPE_CHECKING:
    import pyarrow as pa


def read_table(source: Any) -> "pa.Table":
    """Return a file, a data frame or a mapping of columns as an Arrow table."""
    import pyarrow as pa

    if isinstance(source, (str, PathLike)):
        reader = find_reader(Path(source))
        with explain_errors(Path(source), reader):
            table = reader.table(Path(source))
        if not table.column_names or table.num_rows == 0:
            raise DataError(f"`{Path(source)}` must hold at least 2 rows, got none.")
        return drop_index(table)
    try:
        table = pa.table(source)
    except (TypeError, ValueError, pa.ArrowInvalid) as error:
        raise DataError(f"`source` must be a path or a data frame, got {type(source).__name__}: {error}") from None
    return drop_index(table)


def drop_index(table: "pa.Table") -> "pa.Table":
    """Return the table without an index of pandas, if its columns have different names."""
    repeated = [name for name, count in Counter(table.column_names).items() if count > 1]
    if repeated:
        raise DataError(f"columns must have different names, got {messages.join_choices(repeated)} more than once.")
    return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])


@contextmanager
def explain_errors(path: Path, reader: Reader) -> Iterator[None]:
    """Turn what is wrong with a file into one sentence."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise DataError(f"`{path}` could not be read as {type(reader).__name__}: {reason}.") from error


def find_reader(path: Path) -> Reader:
    """Return what reads a file that is there, by the end of its name."""
    if not path.exists():
        raise DataError(f"`{path}` must be a file, but there is none.")
    readers: list[Reader] = [registry.find("readers", name)() for name in registry.names("readers")]
    endings = [ending.lower() for ending in path.suffixes if ending.lower() not in COMPRESSIONS][-1:]
    endings = [".parquet"] if path.is_dir() else endings
    fitting = [reader for reader in readers if set(endings) & set(reader.suffixes)]
    if not fitting:
        known = ", ".join(suffix for reader in readers for suffix in reader.suffixes)
        raise DataError(f"`{path}` must end in one of {known}, got `{''.join(path.suffixes) or path.name}`.")
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"`{path}` must not be empty, got 0 bytes.")
    return fitting[0]
