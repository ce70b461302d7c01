"""From columns of a table to what a `Log` takes."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import capacity, messages
from counterfold.base.arrays import Floats, Ints
from counterfold.base.dictionaries import share_labels
from counterfold.base.errors import DataError
from counterfold.base.hashing import hash_numbers, hash_rows, hash_texts
from counterfold.base.validation import FIRST, WHOLE, Checker
from counterfold.log.encoding.json_texts import find_first_text, parse_json
from counterfold.log.encoding.kinds import is_list, is_numeric, is_text
from counterfold.log.encoding.lists import is_vector, name_elements, stack_lists
from counterfold.log.encoding.numbers import convert_numbers
from counterfold.log.labels import SEPARATORS
from counterfold.log.log_checks import ByLabel


def find_spread(table: pa.Table, name: str, least: int = 2) -> dict[str, str]:
    """Return {column: action} for columns named like `NAME.ACTION` or `NAME_ACTION`, if there is no column NAME."""
    if name in table.column_names:
        return {}
    for separator in SEPARATORS:
        start = f"{name}{separator}"
        spread = {column: column.removeprefix(start) for column in table.column_names if column.startswith(start)}
        if len(spread) >= least:
            return spread
    return {}


def numeric(table: pa.Table) -> list[str]:
    """Return the columns of plain numbers."""
    return [field.name for field in table.schema if is_numeric(field.type)]


def is_matrix(table: pa.Table, name: str) -> bool:
    """Say whether a name stands for a number per action: lists, structs, maps, JSON of these, or spread columns."""
    if name not in table.column_names:
        return True
    column = table.column(name)
    is_json = is_text(column.type) and find_first_text(column).startswith(("[", "{"))
    return is_json or bool(pa.types.is_nested(column.type))


def read_numbers(table: pa.Table, name: str, check: Checker = WHOLE) -> Floats:
    """Return a column of numbers, NaN where a value is missing; text is read if it is a number in every row."""
    return convert_numbers(name, table.column(name), check)


def read_labels(table: pa.Table, name: str, check: Checker = WHOLE) -> Any:
    """Return a column of labels, None where a value is missing; an ordered dictionary as it is, to keep its order."""
    column = table.column(name)
    plain = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    is_extension = isinstance(plain, pa.BaseExtensionType)
    is_nested = is_list(plain.storage_type) if is_extension else pa.types.is_nested(plain)  # bins of pandas are structs
    if is_nested:
        raise DataError(f"column `{name}` must be labels, got {column.type}.")
    if is_extension:
        return np.array([write_cell(cell) for cell in column.to_pylist()], dtype=object)
    if pa.types.is_dictionary(column.type) and column.type.ordered and not column.null_count:
        return column
    if column.null_count or not pa.types.is_primitive(column.type):
        return share_labels(column)
    return np.asarray(column.to_numpy())


def list_first_labels(table: pa.Table, name: str) -> list[Any]:
    """Return the different labels in the first rows of a column of any type; none of a column of lists or objects."""
    first = table.column(name).slice(0, FIRST)
    return [] if pa.types.is_nested(first.type) else [label for label in list_values(first) if label is not None]


def list_values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the different values of a column, each once."""
    plain = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if isinstance(plain, pa.BaseExtensionType):  # Arrow finds no distinct values of identifiers of 16 bytes
        return list(dict.fromkeys(map(write_cell, column.to_pylist())))
    return list(column.unique().to_pylist())


def write_cell(cell: Any) -> Any:
    """Return a value of an extension of Arrow, such as an identifier of 16 bytes or a text of JSON, as a label."""
    return cell if cell is None or isinstance(cell, bool) else str(cell)


def read_matrix(table: pa.Table, name: str, check: Checker = WHOLE, missing: float = 0.0) -> Any:
    """Return a matrix from a column of lists or structs, or JSON text of either, or from columns `NAME.ACTION`.

    Spread columns name the actions, so they come as a table; structs, maps and objects of JSON do so in no order, as
    readers of JSON sort fields as they like; lists come as an array. What an object does not name is `missing`.
    """
    wide = find_spread(table, name)
    if wide:
        return pa.table({action: read_numbers(table, column, check) for column, action in wide.items()})
    column = parse_json(table, name, check)
    if pa.types.is_map(column.type):
        if not is_numeric(column.type.item_type):
            raise DataError(f"column `{name}` must be maps to numbers, got {column.type}.")
        return _spread_maps(name, column, check, missing)
    if pa.types.is_struct(column.type):
        by_action = _spread_structs(name, column, check, missing)
        if not by_action:
            raise DataError(f"column `{name}` must name actions, got empty objects in all {len(column)} rows.")
        return ByLabel(tuple(by_action), np.column_stack(list(by_action.values())))
    if is_list(column.type):
        return stack_lists(name, column, check)
    raise DataError(f"column `{name}` must be lists of numbers, got {column.type}.")


def count_numbers(table: pa.Table, names: Iterable[str]) -> int:
    """Return how many numbers a row of some columns holds, once lists, structs and maps are written out."""
    import pyarrow.compute as pc

    total = 0
    for name in names:
        if name not in table.column_names:
            continue
        column = table.column(name)
        if pa.types.is_map(column.type):
            total += len(list_keys(column))
        elif pa.types.is_struct(column.type):
            fields = pa.table({"": column}).flatten()
            total += count_numbers(fields, fields.column_names)
        elif is_list(column.type):
            total += pc.max(pc.list_value_length(column)).as_py() or 0
        else:
            total += 1
    return total


def read_matrices(table: pa.Table, name: str, loggers: Iterable[str], check: Checker = WHOLE) -> dict[str, Any]:
    """Return a matrix for each logging policy, from columns `NAME.LOGGER` or from one column with objects of them all.

    Columns of numbers are `NAME.LOGGER.ACTION`; the labels of the `loggers` in the log tell where LOGGER ends.
    """
    if name in table.column_names:
        column = parse_json(table, name, check)
        if not pa.types.is_struct(column.type):
            raise DataError(f"column `{name}` must be objects from logger to probabilities, got {column.type}.")
        table = pa.table({name: column}).flatten()
    columns_of_loggers: dict[str, str] = {}
    for column, end in find_spread(table, name, least=1).items():
        start = column.removesuffix(end)
        separator = column[len(name)]
        label = end
        if is_numeric(table.column(column).type):  # the end is LOGGER.ACTION
            fitting = [logger for logger in loggers if end.startswith(f"{logger}{separator}")]
            label = max(fitting, key=len, default=end.partition(separator)[0])
        columns_of_loggers[label] = f"{start}{label}"
    return {label: read_matrix(table, column, check) for label, column in columns_of_loggers.items()}


def read_features(table: pa.Table, names: Iterable[str], check: Checker = WHOLE) -> pa.Table:
    """Return columns of numbers, and those of lists spread over one column per element."""
    columns: dict[str, Floats] = {}
    for name in names:
        if is_vector(table.column(name)):
            columns |= name_elements(table, name, check)
        else:
            columns[name] = read_numbers(table, name, check)
    return pa.table(columns)


def _spread_maps(name: str, column: pa.ChunkedArray, check: Checker, missing: float) -> ByLabel:
    """Return maps from action to number as a column for each action, `missing` where a map does not name it."""
    combined = column.combine_chunks()
    maps = combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined
    present = maps.is_valid().to_numpy(zero_copy_only=False)
    check.every(name, np.array([None] * len(maps)), present, "maps in every row")
    # The keys of a slice are those of all rows of the array that it is a part of: its own start at the first offset.
    offsets = maps.offsets.to_numpy()
    start = int(offsets[0])
    count = int(offsets[-1] - offsets[0])
    keys = maps.keys.slice(start, count).dictionary_encode()
    labels = tuple(str(label) for label in keys.dictionary.to_pylist())
    rows = np.repeat(np.arange(len(maps)), np.diff(offsets))
    places = keys.indices.to_numpy()
    _refuse_repeated_keys(name, rows, places, labels, check)
    if not check.is_part:  # what reads a few rows at a time knows how many
        capacity.require_matrix(f"column `{name}`", len(maps), len(labels), capacity.find_limit())
    dense = np.full((len(maps), len(labels)), missing)
    dense[rows, places] = maps.items.slice(start, count).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return ByLabel(labels, dense)


def _refuse_repeated_keys(name: str, rows: Ints, places: Ints, labels: Sequence[str], check: Checker) -> None:
    """Refuse maps that name an action more than once: it is unknown which of its numbers is meant."""
    cells, counts = np.unique(rows * len(labels) + places, return_counts=True)
    repeated = cells[counts > 1]
    if len(repeated):
        bad_rows = repeated // len(labels)
        label = messages.shorten(labels[repeated[0] % len(labels)])
        times = int(counts[counts > 1][0])
        where = f"{len(np.unique(bad_rows))} of {rows[-1] + 1} rows, first at row {check.row(int(bad_rows[0]))}"
        rule = "must be maps that name each action once"
        raise DataError(f"column `{name}` {rule}, got {label} {times} times in {where}.")


def list_keys(column: pa.ChunkedArray) -> list[Any]:
    """Return the different keys of maps, in no order; a slice may know keys of rows that are not its own."""
    keys = [chunk.keys for chunk in column.chunks]
    return list(pa.chunked_array(keys, column.type.key_type).unique().to_pylist())


def _spread_structs(name: str, column: pa.ChunkedArray, check: Checker, missing: float) -> dict[str, Floats]:
    """Return the fields of structs; a field without a value is `missing`, unless the whole struct is."""
    flat = pa.table({name: column}).flatten()
    repeated = [field for field, count in Counter(flat.column_names).items() if count > 1]
    if repeated:
        raise DataError(f"column `{name}` must name each action once, got {messages.list_some(repeated)} more often.")
    by_action: dict[str, Floats] = {}
    for field in flat.column_names:
        values = read_numbers(flat, field, check)
        if column.null_count == 0 and flat.column(field).null_count:  # NaN is no null, and stays
            values = np.where(flat.column(field).is_null().to_numpy(), missing, values)
        by_action[field.removeprefix(f"{name}.")] = values
    return by_action


def hash_values(table: pa.Table, name: str) -> Ints:
    """Return a hash for each value of a column of labels, -1 where it has none."""
    column = table.column(name)
    if pa.types.is_integer(column.type):
        is_present = column.is_valid().to_numpy()
        return np.where(is_present, hash_numbers(column.fill_null(0).to_numpy().astype(np.int64)), -1)
    if is_numeric(column.type):
        numbers = column.cast(pa.float64(), safe=False).to_numpy()
        return np.where(np.isnan(numbers), -1, hash_rows([numbers]))
    return np.concatenate([np.empty(0, dtype=np.intp), *map(_hash_chunk, column.chunks)])


MOST_LOOKED_UP = 1 << 16
"""The bins of whole numbers in a range of so many are looked up, which is faster than to search for them."""


def mark_bins(table: pa.Table, name: str, hashes: Ints, edges: Sequence[float]) -> Ints:
    """Return hashes of numbers whose last ten bits hold the number's bin, five bits, and five bits of the hash."""
    # Below the first edge and from the last one on all numbers are in one bin, so the bins of few numbers tell all.
    numbers = np.nan_to_num(table.column(name).cast(pa.float64(), safe=False).to_numpy())
    low = np.floor(edges[0]) - 1
    span = np.ceil(edges[-1]) - low + 1
    if span <= MOST_LOOKED_UP:
        bins = np.searchsorted(np.array(edges), low + np.arange(span + 1), side="right")
        places = bins[(np.clip(numbers, low, low + span) - low).astype(np.intp)]
    else:
        places = np.searchsorted(np.array(edges), numbers, side="right")
    marked = (hashes >> 10 << 10) | (places << 5) | (hashes & 31)
    return np.where(hashes < 0, -1, marked)


def _hash_chunk(chunk: pa.Array) -> Ints:
    """Return a hash for each label, -1 where it is missing or empty."""
    if pa.types.is_dictionary(chunk.type):
        places: Ints = chunk.indices.fill_null(len(chunk.dictionary)).to_numpy(zero_copy_only=False)
        return np.append(_hash_chunk(chunk.dictionary), -1)[places]
    texts = chunk.cast(pa.large_string()).fill_null("")
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return np.where(np.diff(ends) > 0, hash_texts(np.frombuffer(data or b"", dtype=np.uint8), ends), -1)


READERS: dict[str, Callable[[pa.Table, str, Checker], Any]] = {
    "numbers": read_numbers,
    "labels": read_labels,
    "matrix": read_matrix,
    "times": lambda table, name, _: table.column(name),  # a log reads them, whatever they are
}
"""How a column of each kind is read; only matrices can be wrong in a row that must be named."""
