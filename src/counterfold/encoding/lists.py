"""Lists: columns that hold several numbers in each row, such as embeddings."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from counterfold.arrays import Floats
from counterfold.checks import Checker
from counterfold.encoding.kinds import is_list, is_numeric
from counterfold.errors import DataError


def find_list(name: str, table: pa.Table) -> str | None:
    """Return the column of lists whose element is called so, as in a context, if no column is.

    >>> find_list("embedding.1", pa.table({"embedding": [[0.5, 0.5]]}))
    'embedding'
    """
    column, _, place = name.rpartition(".")
    return column if place.isdecimal() and name not in table.column_names and column in table.column_names else None


def spread_lists(table: pa.Table, names: Iterable[str], check: Checker) -> pa.Table:
    """Return a table with a column for each of these names that is an element of a column of lists."""
    found = {column for name in names if (column := find_list(name, table)) is not None}
    for column in sorted(one for one in found if is_list(table.schema.field(one).type)):
        for place, element in enumerate(stack_lists(column, table.column(column), check).T):
            table = table.append_column(f"{column}.{place}", pa.array(element))
    return table


def stack_lists(name: str, column: pa.ChunkedArray, check: Checker) -> Floats:
    """Return lists of one length as a matrix."""
    import pyarrow.compute as pc

    lengths = pc.list_value_length(column).fill_null(-1).to_numpy()
    width = int(lengths[0]) if len(lengths) else 0
    if column.null_count:
        check.every(name, np.array([None] * len(lengths)), lengths >= 0, "lists in every row")
    if len(lengths):
        check.every(name, lengths, lengths == width, f"lists of one length, {width} as in row {check.row(0)}")
    values = pc.list_flatten(column)
    if not is_numeric(values.type):
        raise DataError(f"column `{name}` must be lists of numbers, got {column.type}.")
    flat = values.cast(pa.float64(), safe=False).to_numpy()
    return np.asarray(flat, dtype=np.float64).reshape(len(lengths), width)
