"""From columns of Arrow to arrays of labels, without a text of its own for every row."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfold.base.arrays import Ints


def read_array(value: Any) -> NDArray[Any]:
    """Return labels as an array; those of Arrow's dictionaries are not written out row by row."""
    import pyarrow as pa

    is_coded = isinstance(value, pa.ChunkedArray) and pa.types.is_dictionary(value.type)
    return share_labels(value) if is_coded else np.asarray(value)


def share_labels(column: Any) -> NDArray[Any]:
    """Return an Arrow column as an array in which equal texts are one object, so that a long one takes room but once.

    What is missing is None.

    >>> import pyarrow as pa
    >>> share_labels(pa.chunked_array([["red", "blue", None]]))
    array(['red', 'blue', None], dtype=object)
    """
    import pyarrow as pa

    is_coded = pa.types.is_dictionary(column.type)
    chunks = [chunk if is_coded else chunk.dictionary_encode() for chunk in column.chunks]
    return np.concatenate(list(_share_chunks(chunks)) or [np.empty(0, dtype=object)])


def _share_chunks(chunks: Iterable[Any]) -> Iterator[NDArray[Any]]:
    """Yield dictionaries of Arrow as arrays: of numbers if they hold these alone, else of objects that all share."""
    import pyarrow as pa

    shared: dict[Any, Any] = {}
    known, distinct = None, np.empty(0, dtype=object)
    for chunk in chunks:
        if known is None or not known.equals(chunk.dictionary):  # chunks often have one dictionary
            known = chunk.dictionary
            distinct = np.empty(len(known) + 1, dtype=object)
            distinct[:-1] = [shared.setdefault(label, label) for label in known.to_pylist()]
        if pa.types.is_primitive(known.type) and not (known.null_count or chunk.null_count):
            yield known.to_numpy(zero_copy_only=False)[chunk.indices.to_numpy()]
        else:
            codes: Ints = chunk.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
            yield distinct[codes]
