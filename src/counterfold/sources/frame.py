"""Data frames and other columns in memory."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from counterfold import messages
from counterfold.errors import DataError
from counterfold.files.schemas import conform, list_fields, require_distinct
from counterfold.readers.base import Piece, cut_rows, read_in_turn
from counterfold.sources.base import SourceKind

LIBRARIES = {"pandas": "DataFrame", "polars": "DataFrame"}
"""Libraries whose frames of this name hold all their rows in memory."""

OBP = "Give bandit feedback of obp as `cf.from_obp(feedback)`"
ONCE = "Of what can be read only once, such as a generator, give the function that makes it"


@dataclass(frozen=True, eq=False)
class Frame(SourceKind):
    """A frame of pandas or polars, a table of pyarrow, or a mapping of columns."""

    content: pa.Table
    name = "`source`"
    is_in_memory = True

    @staticmethod
    def takes(value: Any) -> bool:
        kind = type(value)
        is_known = any(LIBRARIES.get(one.__module__.partition(".")[0]) == one.__name__ for one in kind.__mro__)
        return is_known or isinstance(value, (pa.Table, pa.RecordBatch, Mapping))

    @staticmethod
    def open(value: Any) -> "Frame":
        try:
            table = pa.table(value)
            table.validate(full=True)
        except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
            refuse_odd_columns(value)
            rule = "`source` must be a path, a data frame or a query"
            once = f" {ONCE}." if hasattr(value, "__next__") else ""
            once = f" {OBP}." if isinstance(value, Mapping) and "pscore" in value else once
            raise DataError(f"{rule}, got {type(value).__name__}: {str(error).rstrip('.')}.{once}") from None
        require_distinct(table.column_names)
        return Frame(conform(table, pa.schema(list_fields(table.schema)), {}))

    @property
    def schema(self) -> pa.Schema:
        """Return the columns, and their types."""
        return self.content.schema

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.content.num_rows)

    @property
    def size(self) -> int:
        """Return how many bytes the columns take."""
        return int(self.content.nbytes)

    def table(self) -> pa.Table:
        """Return all rows."""
        return self.content

    def pieces(self, columns: Sequence[str] | None) -> Generator[Piece]:
        """Yield slices of the table."""
        if not self.rows:
            raise DataError(f"{self.name} must hold at least 2 rows, got none.")
        names = self.content.column_names if columns is None else columns
        yield from read_in_turn(cut_rows(self.content.select(names)), names)

    def require_unchanged(self) -> None:
        """Require nothing: nobody can change a table of Arrow."""


def refuse_odd_columns(value: Any) -> None:
    """Refuse a frame of pandas with two columns of one name, or with one that holds several kinds of values."""
    if not hasattr(value, "iloc"):
        return
    require_distinct(list(map(str, value.columns)))
    for name, column in value.items():
        try:
            pa.array(column, from_pandas=True)
        except (TypeError, ValueError, OverflowError, pa.ArrowException):
            kinds = " and ".join(sorted({type(one).__name__ for one in column.dropna()})[:3])
            way = "make it one kind, as by `.astype(str)`, or drop it"
            raise DataError(
                f"column `{messages.show(name)}` must hold one kind of values, got {kinds}; {way}."
            ) from None
