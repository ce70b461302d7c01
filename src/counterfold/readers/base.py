"""Reader: one file format each, from a path to a table in memory."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import pyarrow as pa

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


class Reader(ABC):
    """Reads one format; `suffixes` are the endings of file names by which it is chosen, before any compression's."""

    suffixes: ClassVar[tuple[str, ...]]

    @abstractmethod
    def table(self, path: Path) -> "pa.Table":
        """Return the whole file as a table."""


def opened(path: Path) -> "pa.NativeFile":
    """Return the file as a stream, decompressed if its name ends in `.gz` or the like, in letters of any size."""
    import pyarrow as pa

    return pa.input_stream(path, compression=COMPRESSIONS.get(path.suffix.lower()))
