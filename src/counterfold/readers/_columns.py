"""From columns of a table to what a `Log` takes."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from counterfold import checks, words
from counterfold.arrays import Floats
from counterfold.errors import DataError

SEPARATORS = (".", "_")
"""What may stand between a name and an action where a matrix is spread over columns, as in `target.red`."""


def require(table: pa.Table, names: Iterable[str], *, matrices: Iterable[str] = ()) -> None:
    """Require each of these columns, of which matrices may be spread; suggest the nearest name otherwise."""
    for name in names:
        if name not in table.column_names and not (name in matrices and spread(table, name)):
            known = table.column_names
            raise DataError(f"column `{name}` must be there.{words.nearest(name, known)} Found: {', '.join(known)}.")


def spread(table: pa.Table, name: str) -> dict[str, str]:
    """Return {column: action} for columns named like `NAME.ACTION` or `NAME_ACTION`, if there is no column NAME."""
    if name in table.column_names:
        return {}
    for separator in SEPARATORS:
        start = f"{name}{separator}"
        found = {column: column.removeprefix(start) for column in table.column_names if column.startswith(start)}
        if len(found) > 1:
            return found
    return {}


def is_numeric(kind: pa.DataType) -> bool:
    """Say whether a type is a plain number or boolean."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(test(kind) for test in tests)


def numeric(table: pa.Table, taken: Iterable[str]) -> list[str]:
    """Return the numeric columns that are not taken."""
    return [field.name for field in table.schema if is_numeric(field.type) and field.name not in set(taken)]


def allowed(names: Sequence[str], action: str, reward: str) -> list[str]:
    """Return the context columns that the user chose, unless one gives the answer away."""
    for role, name in (("action", action), ("reward", reward)):
        if name in names:
            raise DataError(f"`context` must not hold column `{name}`, which is the {role}.")
    return list(names)


def is_list(kind: pa.DataType) -> bool:
    """Say whether a type is a list of any sort; writers differ in which one they choose."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def numbers(table: pa.Table, name: str) -> Floats:
    """Return a column of numbers, NaN where a value is missing."""
    column = table.column(name)
    if not is_numeric(column.type):
        raise DataError(f"column `{name}` must be numbers, got {column.type}.")
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def labels(table: pa.Table, name: str) -> NDArray[Any]:
    """Return a column of labels, None where a value is missing."""
    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        kind = column.type if pa.types.is_nested(column.type) else "bytes that are not UTF-8"
        raise DataError(f"column `{name}` must be labels, got {kind}.")
    if column.null_count or not pa.types.is_primitive(column.type):
        return np.array(column.to_pylist(), dtype=object)
    return np.asarray(column.to_numpy())


def matrix(table: pa.Table, name: str) -> Any:
    """Return a matrix from a list column, a struct column, a text column of JSON lists, or columns `NAME.ACTION`.

    A struct and spread columns name the actions, so they come as a table; lists come as an array.
    """
    wide = spread(table, name)
    if wide:
        return pa.table({action: numbers(table, column) for column, action in wide.items()})
    column = table.column(name)
    if pa.types.is_struct(column.type):
        parts = table.select([name]).flatten()
        return pa.table({part.removeprefix(f"{name}."): numbers(parts, part) for part in parts.column_names})
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        return _stacked(name, _parsed(name, column.to_pylist()))
    if is_list(column.type):
        return _stacked(name, column)
    raise DataError(f"column `{name}` must be lists of numbers, got {column.type}.")


def features(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """Return context columns, those of lists spread over one column per element."""
    columns: dict[str, Floats] = {}
    for name in names:
        if name in table.column_names and is_list(table.column(name).type):
            elements = matrix(table, name).T
            columns |= {f"{name}.{place}": element for place, element in enumerate(elements)}
        else:
            columns[name] = numbers(table, name)
    return pa.table(columns)


def _parsed(name: str, texts: Sequence[str | None]) -> pa.ChunkedArray:
    lists = []
    for row, text in enumerate(texts):
        try:
            lists.append(None if text is None else json.loads(text))
        except json.JSONDecodeError:
            raise DataError(
                f"column `{name}` must be lists like [0.2, 0.8], got {text!r}, first at row {row}."
            ) from None
    try:
        return pa.chunked_array([pa.array(lists, pa.list_(pa.float64()))])
    except (pa.ArrowInvalid, TypeError):
        raise DataError(f"column `{name}` must be lists of numbers like [0.2, 0.8].") from None


def _stacked(name: str, column: pa.ChunkedArray) -> Floats:
    """Return lists of one length as a matrix."""
    import pyarrow.compute as pc

    lengths = pc.list_value_length(column).fill_null(-1).to_numpy()
    width = int(lengths[0]) if len(lengths) else 0
    checks.every(name, np.array([None] * len(lengths)), lengths >= 0, "lists in every row")
    checks.every(name, lengths, lengths == width, f"lists of one length, {width} as in row 0")
    values = pc.list_flatten(column)
    if not is_numeric(values.type):
        raise DataError(f"column `{name}` must be lists of numbers, got {column.type}.")
    flat = values.cast(pa.float64(), safe=False).to_numpy()
    return np.asarray(flat, dtype=np.float64).reshape(len(lengths), width)


READ: dict[str, Callable[[pa.Table, str], Any]] = {
    "action": labels,
    "group": labels,
    "reward": numbers,
    "propensity": numbers,
    "logging_probs": matrix,
    "available": matrix,
}
"""How the column of each role is read."""
