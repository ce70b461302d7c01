"""Checksums of columns that depend on the values and their order, and not on how the rows are cut into batches."""

from collections.abc import Callable, Iterator
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import types

Checksums = dict[str, int]

Bytes = NDArray[np.uint8]


def add_rows(known: Checksums, table: pa.Table) -> None:
    """Go on with the checksum of each column by some more rows."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        for chunk in column.chunks:
            for place, content in list_bytes(name, chunk):
                known[place] = crc32(content.data, known.get(place, 0))


def list_bytes(place: str, chunk: pa.Array) -> Iterator[tuple[str, Bytes]]:
    """Yield the bytes of an array, by the place that they have in the column; those of unusual types are left out."""
    read = next((read for is_kind, read in READERS.items() if is_kind(chunk.type)), None)
    if read is not None:
        yield from read(place, chunk)


def _read_numbers(place: str, chunk: pa.Array) -> Iterator[tuple[str, Bytes]]:
    """Yield numbers of 8 bytes, NaN where there is none, so that it does not matter in which batch one is missing."""
    yield place, chunk.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).view(np.uint8)


def _read_times(place: str, chunk: pa.Array) -> Iterator[tuple[str, Bytes]]:
    yield from _read_numbers(place, chunk.cast(pa.int32() if chunk.type.bit_width == 32 else pa.int64()))


def _read_texts(place: str, chunk: pa.Array) -> Iterator[tuple[str, Bytes]]:
    """Yield the lengths of texts, and all of them behind each other."""
    yield from _read_numbers(f"{place}.length", pc.binary_length(chunk).fill_null(-1))
    chunk = chunk.cast(pa.large_binary())
    _, offsets, values = chunk.buffers()
    ends = np.frombuffer(offsets, np.int64)[chunk.offset :][: len(chunk) + 1]
    yield place, np.frombuffer(values or b"", np.uint8)[ends[0] : ends[-1]]


def _read_lists(place: str, chunk: pa.Array) -> Iterator[tuple[str, Bytes]]:
    yield from _read_numbers(f"{place}.length", pc.list_value_length(chunk).fill_null(-1))
    yield from list_bytes(f"{place}.element", pc.list_flatten(chunk))


def _read_structs(place: str, chunk: pa.Array) -> Iterator[tuple[str, Bytes]]:
    for number in range(chunk.type.num_fields):
        yield from list_bytes(f"{place}.{number}", pc.struct_field(chunk, number))


def _read_maps(place: str, chunk: pa.Array) -> Iterator[tuple[str, Bytes]]:
    pairs = pa.struct([("key", chunk.type.key_type), ("value", chunk.type.item_type)])
    yield from list_bytes(place, chunk.cast(pa.list_(pairs)))


def _read_dictionary(place: str, chunk: pa.Array) -> Iterator[tuple[str, Bytes]]:
    yield from list_bytes(place, chunk.dictionary_decode())


def is_time(kind: pa.DataType) -> bool:
    """Say whether a type is a date, a time or a duration, which are numbers; intervals in months and days are three."""
    return bool(types.is_temporal(kind)) and not types.is_interval(kind)


READERS: dict[Callable[[pa.DataType], bool], Callable[[str, pa.Array], Iterator[tuple[str, Bytes]]]] = {
    types.is_integer: _read_numbers,
    types.is_floating: _read_numbers,
    types.is_boolean: _read_numbers,
    types.is_decimal: _read_numbers,
    is_time: _read_times,
    types.is_string: _read_texts,
    types.is_large_string: _read_texts,
    types.is_binary: _read_texts,
    types.is_large_binary: _read_texts,
    types.is_dictionary: _read_dictionary,
    types.is_struct: _read_structs,
    types.is_map: _read_maps,
    types.is_list: _read_lists,
    types.is_large_list: _read_lists,
    types.is_fixed_size_list: _read_lists,
}
"""How the bytes of each type are found."""
