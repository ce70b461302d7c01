"""Contexts: their columns by name, as users give them; only those are read that a policy looks at."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from counterfold.base.errors import DataError
from counterfold.base.messages import list_names, shorten, show
from counterfold.log.encoding import read_frame
from counterfold.log.encoding.kinds import make_plain
from counterfold.log.indices import find_index


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """The `names` of the columns of contexts; `get` returns the column at a place among these, not read yet."""

    names: list[str]
    get: Callable[[int], Any]

    @classmethod
    def of(cls, context: Any) -> "NamedColumns | None":
        """Return the columns of a mapping or a data frame; nothing of anything else."""
        if isinstance(context, Mapping):
            return cls(list(map(str, context)), list(context.values()).__getitem__)
        if find_index(context) is not None and hasattr(context, "columns"):  # columns of pandas may hold anything
            return cls(list(map(str, context.columns)), lambda place: context.iloc[:, place])
        table = context if isinstance(context, pa.Table) else read_frame(context)
        return None if table is None else cls(table.column_names, table.column)

    def read(self, wanted: Collection[str]) -> pa.Table:
        """Return the columns that are wanted, each whole if an element of its lists is."""
        places = [place for place, name in enumerate(self.names) if is_wanted(name, wanted)]
        names = [self.names[place] for place in places]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"`context` must have column `{show(twice)}` once, got it {names.count(twice)} times.")
        columns = {self.names[place]: read_column(self.names[place], self.get(place)) for place in places}
        if len(set(map(len, columns.values()))) > 1:
            lengths = ", ".join(f"{len(column)} in `{show(name)}`" for name, column in columns.items())
            raise DataError(f"`context` must be columns of one length, got {lengths}.")
        return pa.table(columns)

    def require(self, table: pa.Table, wanted: Collection[str]) -> None:
        """Require all columns that are wanted in what was read of these."""
        missing = next((name for name in wanted if name not in table.column_names), None)
        if missing is not None:
            rule = f"must have column `{show(missing)}`, which the policy was learnt with"
            raise DataError(f"`context` {rule}, got {list_names(self.names) or 'none'}.")


def is_wanted(column: str, names: Collection[str]) -> bool:
    """Say whether a column is among some names, or one of these is an element of its lists.

    >>> is_wanted("embedding", ["age", "embedding.1"]), is_wanted("age.1", ["age"])
    (True, False)
    """
    return any(name == column or name.startswith(f"{column}.") for name in names)


def read_column(name: str, values: Any) -> pa.ChunkedArray:
    """Return a column as Arrow has it."""
    called = f"`context` column `{show(name)}`"
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise DataError(f"{called} must be a list of values, also for one row, got {shorten(values)}.")
    try:
        found = values if isinstance(values, pa.ChunkedArray) else pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise DataError(f"{called} must be values of one kind, got {shorten(list(values)[:5])}.") from None
    column = found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
    return column.cast(make_plain(column.type))


def count_rows(context: Any) -> int:
    """Return how many rows there are, which need not have any column."""
    rows: Any = next(iter(context.values()), None) if isinstance(context, Mapping) else context
    if isinstance(rows, (str, bytes)) or not hasattr(rows, "__len__"):
        raise DataError(f"`context` must have rows, which are counted, got {shorten(context)}.")
    return len(rows)
