"""Lists: columns that hold several numbers in each row, such as embeddings, or texts of such lists, as in CSV."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Floats
from counterfold.base.errors import DataError
from counterfold.base.messages import show
from counterfold.base.validation import Checker
from counterfold.log.encoding.json_texts import find_first_text, parse_json
from counterfold.log.encoding.kinds import is_list, is_numeric, is_text


def find_list(name: str, table: pa.Table) -> str | None:
    """Return the column of lists whose element is called so, as in a context, if no column is.

    >>> find_list("embedding.1", pa.table({"embedding": [[0.5, 0.5]]}))
    'embedding'
    """
    column, _, place = name.rpartition(".")
    return column if place.isdecimal() and name not in table.column_names and column in table.column_names else None


def is_vector(column: pa.ChunkedArray) -> bool:
    """Say whether a column holds lists, or texts that look like them."""
    return is_list(column.type) or (is_text(column.type) and find_first_text(column).startswith("["))


def spread_lists(table: pa.Table, names: Iterable[str], check: Checker) -> pa.Table:
    """Return a table with a column for each of these names that is an element of a column of lists.

    >>> spread_lists(pa.table({"embedding": ["[0.5, 0.25]"]}), ["embedding.1"], Checker()).column_names
    ['embedding', 'embedding.1']
    """
    several = list(dict.fromkeys(names))
    lists = {name: column for name in several if (column := find_list(name, table)) is not None}
    for column in dict.fromkeys(lists.values()):
        missing = [name for name, one in lists.items() if one == column]
        found = read_elements(table, column, missing, check)
        refuse_columns_beside(column, [name for name in several if name in found and name not in missing])
        for name in missing:
            table = table.append_column(name, pa.array(found[name]))
    return table


def read_elements(table: pa.Table, column: str, names: Iterable[str], check: Checker) -> dict[str, Floats]:
    """Return all elements of a column of lists, which must have those with certain names; no rows tell of any."""
    if not table.num_rows:
        return {name: np.empty(0) for name in names}
    if not is_vector(table.column(column)):
        name, got = next(iter(names)), table.column(column).type
        rule = f"there, or column `{show(column)}` must be lists of numbers that have it as an element"
        raise DataError(f"column `{show(name)}` must be {rule}, got {got}.")
    found = name_elements(table, column, check)
    for name in names:
        if name not in found:
            rule = f"lists with an element `{show(name)}`"
            raise DataError(f"column `{show(column)}` must be {rule}, got shorter ones.")
    return found


def refuse_columns_beside(column: str, names: Iterable[str]) -> None:
    """Refuse columns that are called like elements of a column of lists: nobody knows which of both is meant."""
    for name in names:
        rule = f"left out or renamed, as it is called like an element of the lists of column `{show(column)}`"
        raise DataError(f"column `{show(name)}` must be {rule}.")


def name_elements(table: pa.Table, name: str, check: Checker) -> dict[str, Floats]:
    """Return the elements of a column of lists of one length, named as in a context: `embedding.3`."""
    column = parse_json(table, name, check)
    if not is_list(column.type):
        raise DataError(f"column `{name}` must be lists of numbers, got {column.type}.")
    return {f"{name}.{place}": element for place, element in enumerate(stack_lists(name, column, check).T)}


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
