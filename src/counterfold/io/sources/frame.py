"""Data frames and other columns in memory."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import messages
from counterfold.base.errors import CounterfoldError, DataError
from counterfold.io.files.schemas import conform, list_fields, require_distinct
from counterfold.io.formats.base import UNREADABLE, Piece, cut_rows, leave_out, read_in_turn
from counterfold.io.sources.base import SourceKind

LIBRARIES = {"pandas": "DataFrame", "polars": "DataFrame"}
"""Libraries whose frames of this name hold all their rows in memory."""

ROWS_BY_NAME = "columns by name, or a list of rows that are dictionaries, got a dictionary of dictionaries"
TO_DICT = "Give the data frame itself, or what `.to_dict('list')` or `.to_dict('records')` makes of it"
OBP = "Give bandit feedback of obp as `cf.from_obp(feedback)`"
ONCE = "Of what can be read only once, such as a generator, give the function that makes it"


NO_TYPE = (TypeError, ValueError, OverflowError, pa.ArrowException)
"""What is raised where Arrow has no type for values."""


@dataclass(frozen=True, eq=False)
class Frame(SourceKind):
    """A frame of pandas or polars, a table of pyarrow, a mapping of columns, or a list of rows by column."""

    content: pa.Table
    name = "`source`"
    is_in_memory = True

    @staticmethod
    def takes(value: Any) -> bool:
        kind = type(value)
        is_known = any(LIBRARIES.get(one.__module__.partition(".")[0]) == one.__name__ for one in kind.__mro__)
        return is_known or isinstance(value, (pa.Table, pa.RecordBatch, Mapping)) or are_rows(value)

    @staticmethod
    def open(value: Any) -> "Frame":
        try:
            table = read_frame(value)
            table.validate(full=True)
        except CounterfoldError:
            raise
        except NO_TYPE as error:
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


def are_rows(value: Any) -> bool:
    """Say whether a value is a list of rows, each of which names its columns."""
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(one, Mapping) for one in value)


def read_frame(value: Any) -> pa.Table:
    """Return all columns as a table; what Arrow has no type for is empty, and says so if it is needed."""
    if are_rows(value):
        names = dict.fromkeys(name for row in value for name in row)
        value = {name: [row.get(name) for row in value] for name in names}
    is_pandas = hasattr(value, "iloc") and hasattr(value, "columns")
    if is_pandas:
        require_distinct(list(map(str, value.columns)))
        value = densify(value)
    elif isinstance(value, Mapping) and any(isinstance(one, Mapping) for one in value.values()):
        raise DataError(f"`source` must be {ROWS_BY_NAME}. {TO_DICT}.")
    try:
        return pa.table(value)
    except NO_TYPE:
        odd = find_odd_columns(value.items()) if is_pandas or isinstance(value, Mapping) else {}
        if not odd:
            raise
    rest = value.drop(columns=list(odd)) if is_pandas else {name: one for name, one in value.items() if name not in odd}
    table = pa.table(rest)
    for field in odd.values():
        table = table.append_column(field, pa.nulls(len(table)))
    return table


def densify(frame: Any) -> Any:
    """Return a frame of pandas whose sparse columns, which Arrow does not know, are written out."""
    sparse = {name: kind.subtype for name, kind in frame.dtypes.items() if type(kind).__name__ == "SparseDtype"}
    return frame.astype(sparse) if sparse else frame


def find_odd_columns(columns: Iterable[tuple[Any, Any]]) -> dict[Any, pa.Field]:
    """Return the columns that Arrow has no type for, each with what is wrong with it."""
    odd = {}
    for name, column in columns:
        try:
            pa.array(column)
        except NO_TYPE:
            if np.ndim(np.asarray(column, dtype=object)) == 1:
                odd[name] = explain_odd(str(name), column)
    return odd


def explain_odd(name: str, column: Iterable[Any]) -> pa.Field:
    """Return an empty column in place of one that Arrow has no type for."""
    there = (one for one in column if one is not None and not (isinstance(one, float) and np.isnan(one)))
    kinds = sorted({type(one).__name__ for one in there})
    got = " and ".join(kinds[:3])
    if len(kinds) > 1:
        rule, why = f"one kind of values, got {got}", f"it holds several kinds of values, {got}"
        way = "make it one kind, numbers by `pandas.to_numeric` or text by `.astype(str)`"
    elif kinds == ["int"]:
        rule, why = "whole numbers of 64 bits at most, got larger ones", "it holds whole numbers of more than 64 bits"
        way = "make them floats by `.astype(float)`, or text by `.astype(str)`"
    else:
        rule, why = f"numbers, text, dates or lists of these, got {got}", f"it holds values of the kind {got}"
        way = "write them as numbers or text"
    field = leave_out(pa.field(name, pa.null()), why)
    sentence = f"column `{messages.show(name)}` must hold {rule}; {way}."
    return field.with_metadata({**field.metadata, UNREADABLE: sentence})
