"""From columns as users have them to the values that are segments, and to numbers that can be cut."""

from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import messages
from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import DataError
from counterfold.log.encoding.kinds import is_categorical, is_date, is_numeric
from counterfold.log.encoding.levels import encode_chunks, read_chunk


def is_number(kind: pa.DataType) -> bool:
    """Say whether a column is of numbers that can be cut into parts."""
    return is_numeric(kind) and not pa.types.is_boolean(kind)


def require_values(name: str, kind: pa.DataType) -> None:
    """Refuse a column of lists or of anything else whose values are no segments."""
    if not (is_numeric(kind) or is_categorical(kind) or is_date(kind)):
        rule = "hold text, categories, numbers, booleans or dates"
        raise DataError(f"`by` column `{messages.show(name)}` must {rule}, got {kind}.")


def as_column(name: str, value: Any) -> pa.ChunkedArray:
    """Return values of any kind as a column of Arrow; objects of several kinds as their texts."""
    if hasattr(value, "__arrow_c_stream__"):
        return pa.chunked_array(value)
    if np.ndim(value) != 1:
        raise DataError(
            f"`by` column `{messages.show(name)}` must be one value per row, got {messages.shorten(value)}."
        )
    try:
        found = value if isinstance(value, (pa.Array, pa.ChunkedArray)) else pa.array(value, from_pandas=True)
    except (TypeError, ValueError, pa.ArrowException):
        found = pa.array([None if one is None else str(one) for one in value])
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def read_numbers(column: pa.ChunkedArray) -> Floats:
    """Return numbers, NaN where there is none."""
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def list_values(column: pa.ChunkedArray) -> list[tuple[list[str | None], Ints]]:
    """Return the different values of each chunk as texts, and the place of each row's; dates by their months."""
    if is_number(column.type):
        numbers = read_numbers(column)
        known, codes = np.unique(numbers, return_inverse=True)
        return [([None if np.isnan(one) else write_number(one) for one in known.tolist()], codes)]
    if is_date(column.type):
        seconds = column.cast(pa.timestamp("s", getattr(column.type, "tz", None)), safe=False)
        months = np.asarray(seconds.cast(pa.int64()).to_numpy(), dtype="datetime64[s]").astype("datetime64[M]")
        known, codes = np.unique(months, return_inverse=True)
        return [([None if np.isnat(one) else str(one) for one in known], codes)]
    column = column.cast(pa.string()) if pa.types.is_boolean(column.type) else column
    return [read_chunk(one) for one in encode_chunks(column)]


def write_number(number: float) -> str:
    """Return a number as text, a whole one without a point."""
    return str(int(number)) if number == np.floor(number) and abs(number) < 1e15 else repr(number)
