"""Columns of text that would be numbers, had not some cells spoilt them: such a column is not lost without a word."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfold.arrays import Bools
from counterfold.messages import shorten
from counterfold.tables.columns import is_text

FIRST = 1 << 14
"""How many of the first rows are looked at, the same on every engine."""

NUMBER = r"^\s*[-+$\x{20ac}\x{a3}]?(\d[\d.,]*|[.,]\d+)([eE][-+]?\d+)?\s*%?\s*$"
"""Numbers as people write them, with a currency, a decimal comma or a percent sign."""


def find_spoilt_numbers(table: pa.Table, names: Iterable[str]) -> dict[str, str]:
    """Return those columns of text most rows of which hold numbers, and what is wrong with each."""
    texts = [name for name in names if is_text(table.schema.field(name).type)]
    return {name: why for name in texts if (why := _explain(table.column(name).slice(0, FIRST)))}


def _explain(column: pa.ChunkedArray) -> str | None:
    """Return what makes a column text though most rows hold numbers; nothing if they do not."""
    there = column.is_valid().to_numpy()
    good = find_numbers(column) & there
    if 2 * good.sum() <= there.sum():
        return None
    odd = np.flatnonzero(there & ~good)
    where = f", but not row {odd[0]}: {shorten(column[int(odd[0])].as_py())}" if len(odd) else ""
    return f"it is text, though rows hold numbers{where}"


def find_numbers(column: pa.ChunkedArray) -> Bools:
    """Return which texts are numbers; each different one is looked at once."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    found = [pc.match_substring_regex(one.dictionary, NUMBER).take(one.indices).to_pylist() for one in encoded.chunks]
    return np.array([bool(one) for some in found for one in some], dtype=bool)
