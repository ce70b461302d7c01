"""What a column of Arrow holds, by its type alone."""

import pyarrow as pa

PLAIN = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
"""Types of text that few operations take, and what they become."""


def make_plain(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column is read as: views of texts, alone or in a dictionary, are plain texts.

    >>> make_plain(pa.dictionary(pa.int8(), pa.string_view(), ordered=True))
    DictionaryType(dictionary<values=string, indices=int8, ordered=1>)
    """
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, make_plain(kind.value_type), kind.ordered)
    return PLAIN.get(kind, kind)


def is_numeric(kind: pa.DataType) -> bool:
    """Say whether a type is a plain number or boolean."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(test(kind) for test in tests)


def is_list(kind: pa.DataType) -> bool:
    """Say whether a type is a list of any sort; writers differ in which one they choose."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def is_text(kind: pa.DataType) -> bool:
    """Say whether a type is text of any sort, which may be in a dictionary."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_bytes(kind: pa.DataType) -> bool:
    """Say whether a type is bytes of any sort; some writers do not say that theirs are text."""
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(test(kind) for test in tests)


def is_date(kind: pa.DataType) -> bool:
    """Say whether a type is a day, or a point in time."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def is_categorical(kind: pa.DataType) -> bool:
    """Say whether a type is text, or a dictionary of anything that is written as a short text."""
    if not pa.types.is_dictionary(kind):
        return is_text(kind)
    plain = kind.value_type
    return bool(is_text(plain) or is_numeric(plain) or is_date(plain))
