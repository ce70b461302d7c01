"""Reader: one file format each, from a path to a table in memory, or to pieces of one that fit."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 24
"""How many bytes of a text are read at a time."""

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}

PACKED = 4
"""How many times larger a packed text is taken to be when it is not."""


class Piece(NamedTuple):
    """Some neighbouring rows of a file: the number of the first, and a function that reads them, a few at a time."""

    first: int
    tables: Callable[[], Iterator["pa.Table"]]


class Reader(ABC):
    """Reads one format; `suffixes` are the endings of file names by which it is chosen, before any compression's."""

    suffixes: ClassVar[tuple[str, ...]]

    @abstractmethod
    def table(self, path: Path) -> "pa.Table":
        """Return the whole file as a table."""

    @abstractmethod
    def pieces(self, path: Path, columns: Sequence[str] | None) -> Iterator[Piece]:
        """Yield all rows of the file, or some columns of them, as pieces that may be read at the same time."""

    def size(self, path: Path) -> int:
        """Return about how many bytes the rows take in memory."""
        return path.stat().st_size * (PACKED if path.suffix.lower() in COMPRESSIONS else 1)

    def rows(self, path: Path) -> int | None:
        """Return the number of rows, if it can be known without reading them."""
        return None


def read_in_turn(batches: Iterable["pa.RecordBatch"], columns: Sequence[str] | None) -> Iterator[Piece]:
    """Yield batches that must be read one after the other."""
    import pyarrow as pa

    first = 0
    for batch in batches:
        table = pa.Table.from_batches([batch])
        yield Piece(first, partial(iter, [table.select(columns) if columns is not None else table]))
        first += len(table)


def open_stream(path: Path) -> "pa.NativeFile":
    """Return the file as a stream, decompressed if its name ends in `.gz` or the like, in letters of any size."""
    import pyarrow as pa

    return pa.input_stream(path, compression=COMPRESSIONS.get(path.suffix.lower()))
