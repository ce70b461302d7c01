"""JSON texts: columns of text that hold lists or objects, as files do that have no such types."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import messages
from counterfold.base.errors import DataError
from counterfold.base.validation import Checker
from counterfold.log.encoding.kinds import is_text

PRINTED = " Write JSON, with double quotes and commas, as `json.dumps` does; text of Python or NumPy is none."
"""What to do with lists and dictionaries that were printed into a file."""


def find_first_text(column: pa.ChunkedArray) -> str:
    """Return the first text that is there, without spaces before it."""
    return str(next((cell.as_py() for cell in column if cell.is_valid), "")).lstrip()


def parse_json(table: pa.Table, name: str, check: Checker) -> pa.ChunkedArray:
    """Return a column; if it is of text, then the lists or objects that its JSON holds."""
    column = table.column(name)
    if not is_text(column.type):
        return column
    values = []
    for row, text in enumerate(column.to_pylist()):
        try:
            values.append(None if text is None else DECODER.decode(text))
        except RepeatedError as error:
            raise DataError(f"column `{name}` must name {error}, first at row {check.row(row)}.") from None
        except (json.JSONDecodeError, RecursionError):
            got, where = messages.shorten(text), f"first at row {check.row(row)}"
            hint = PRINTED if text.strip()[-1:] in {"]", "}"} else ""
            raise DataError(f"column `{name}` must be lists like [0.2, 0.8], got {got}, {where}.{hint}") from None
    try:
        maps = make_maps(values)
        return pa.chunked_array([pa.array(values) if maps is None else maps])
    except (pa.ArrowException, TypeError, ValueError):
        rule = "lists of numbers like [0.2, 0.8], or objects of them, alike in every row"
        is_alike = np.array([_fit_together(values[0], value) for value in values])
        shown = np.array([messages.shorten(value) for value in values])
        replace(check, names={name: f"column `{name}`"}).every(name, shown, is_alike, rule)
        raise DataError(f"column `{name}` must be {rule}.") from None


def _fit_together(*values: Any) -> bool:
    """Say whether Arrow finds one type for some values."""
    try:
        pa.array(values)
    except (pa.ArrowException, TypeError, ValueError):
        return False
    return True


class RepeatedError(ValueError):
    """An object of JSON names something more than once."""


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; of a key that comes twice, Python would keep the last one alone."""
    key, count = Counter(key for key, _ in pairs).most_common(1)[0] if pairs else ("", 0)
    if count > 1:
        raise RepeatedError(f"each action once in a row, got {messages.shorten(key)} {count} times")
    return dict(pairs)


DECODER = json.JSONDecoder(parse_int=float, object_pairs_hook=_refuse_repeated)
"""Reads JSON, in which whole numbers are numbers like all others."""


def make_maps(objects: Sequence[Any]) -> pa.MapArray | None:
    """Return objects from action to number as maps, which take no room for what they do not name; else nothing.

    >>> make_maps([{"a": 0.5, "b": 0.5}, {"c": 1.0}]).type
    MapType(map<string, double>)
    """
    if not all(isinstance(one, dict | None) for one in objects) or not any(objects):
        return None
    pairs = [[pair for pair in (one or {}).items() if pair[1] is not None] for one in objects]
    if not all(isinstance(number, float | bool) for some in pairs for _, number in some):
        return None
    ends = np.cumsum([0, *map(len, pairs)], dtype=np.int32)
    offsets = pa.array(ends, mask=np.array([*(one is None for one in objects), False]))
    keys, numbers = ([pair[place] for some in pairs for pair in some] for place in (0, 1))
    return pa.MapArray.from_arrays(offsets, pa.array(keys, pa.string()), pa.array(map(float, numbers), pa.float64()))
