"""Parquet files, and folders of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from counterfold.readers.base import Reader

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Parquet(Reader):
    """A Parquet file, or a folder of them read in the order of their names."""

    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    def table(self, path: Path) -> "pa.Table":
        """Return all row groups."""
        import pyarrow.parquet

        return pyarrow.parquet.read_table(path)
