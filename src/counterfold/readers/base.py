"""Reader: one file format each, from a path to a table in memory."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import pyarrow as pa


class Reader(ABC):
    """Reads one format; `suffixes` are the endings of file names by which it is chosen, before any compression's."""

    suffixes: ClassVar[tuple[str, ...]]

    @abstractmethod
    def table(self, path: Path) -> "pa.Table":
        """Return the whole file as a table."""
