"""Columns of text that would be numbers, had not some cells spoilt them: such a column is not lost without a word."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfold.base.arrays import Bools
from counterfold.base.messages import shorten
from counterfold.base.validation import WHOLE, Checker, is_number
from counterfold.log.encoding.kinds import is_text

FIRST = 1 << 14
"""How many of the first rows are looked at, the same on every engine."""

NUMBER = r"^\s*[-+$\x{20ac}\x{a3}]?(\d{1,3}(,\d{3})+(\.\d+)?|\d*[.,]?\d+|\d+[.,])([eE][-+]?\d+)?\s*%?\s*$"
"""Numbers as people write them, with a currency, a decimal comma or a percent sign."""


def find_spoilt_numbers(table: pa.Table, names: Iterable[str], check: Checker = WHOLE) -> dict[str, str]:
    """Return those columns of text most rows of which hold numbers, and what is wrong with each."""
    columns = {name: table.column(name).slice(0, FIRST) for name in names}
    texts = {name: _as_text(column) for name, column in columns.items()}
    return {name: why for name, column in texts.items() if column is not None and (why := _explain(column, check))}


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return a column of text, or of bytes that are not UTF-8 everywhere as far as they are; nothing for others."""
    if pa.types.is_binary(column.type):
        cells = [cell if cell is None else cell.decode(errors="replace") for cell in column.to_pylist()]
        return pa.chunked_array([pa.array(cells, pa.string())])
    return column if is_text(column.type) else None


def _explain(column: pa.ChunkedArray, check: Checker) -> str | None:
    """Return what makes a column text though most rows hold numbers; nothing if they do not."""
    there = column.is_valid().to_numpy()
    good = find_numbers(column) & there
    if 2 * good.sum() <= there.sum():
        return None
    odd = np.flatnonzero(there & ~good)
    if len(odd):
        place = int(odd[0])
        return f"it is text, though rows hold numbers, but not row {check.row(place)}: {shorten(column[place].as_py())}"
    texts = column.to_pylist()
    place = next((row for row, text in enumerate(texts) if not is_number(text)), int(np.argmax(there)))
    return f"it is text, though rows hold numbers, as row {check.row(place)}: {shorten(texts[place])}"


def find_numbers(column: pa.ChunkedArray) -> Bools:
    """Return which texts are numbers; each different one is looked at once."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    found = [
        pc.match_substring_regex(one.dictionary.cast(pa.string()), NUMBER).take(one.indices).to_pylist()
        for one in encoded.chunks
    ]
    return np.array([bool(one) for some in found for one in some], dtype=bool)
