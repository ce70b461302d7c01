"""From maps of actions to numbers, which name few of many actions each, to a matrix with a column per action."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import capacity
from counterfold.base.arrays import Ints
from counterfold.base.errors import DataError
from counterfold.base.messages import shorten
from counterfold.base.validation import Checker
from counterfold.log.log_checks import ByLabel


def spread_maps(name: str, column: pa.ChunkedArray, check: Checker, missing: float) -> ByLabel:
    """Return maps from action to number as a column for each action, `missing` where a map does not name it."""
    whole = column.combine_chunks()
    maps = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    present = maps.is_valid().to_numpy(zero_copy_only=False)
    check.every(name, np.array([None] * len(maps)), present, "maps in every row")
    offsets = maps.offsets.to_numpy()
    start, count = int(offsets[0]), int(offsets[-1] - offsets[0])  # a slice keeps the entries of other rows
    keys = maps.keys.slice(start, count).dictionary_encode()
    labels = tuple(str(label) for label in keys.dictionary.to_pylist())
    row, place = np.repeat(np.arange(len(maps)), np.diff(offsets)), keys.indices.to_numpy()
    refuse_repeated_keys(name, row, place, labels, check)
    if not check.is_part:  # what reads a few rows at a time knows how many
        capacity.require_matrix(f"column `{name}`", len(maps), len(labels), capacity.find_limit())
    dense = np.full((len(maps), len(labels)), missing)
    dense[row, place] = maps.items.slice(start, count).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return ByLabel(labels, dense)


def list_keys(column: pa.ChunkedArray) -> list[Any]:
    """Return the different keys of maps, in no order; a slice may know keys of rows that are not its own."""
    keys = [chunk.keys for chunk in column.chunks]
    return list(pa.chunked_array(keys, column.type.key_type).unique().to_pylist())


def refuse_repeated_keys(name: str, row: Ints, place: Ints, labels: Sequence[str], check: Checker) -> None:
    """Refuse maps that name an action more than once: nobody knows which of its numbers is meant."""
    cells, counts = np.unique(row * len(labels) + place, return_counts=True)
    again = cells[counts > 1]
    if len(again):
        bad, times = again // len(labels), int(counts[counts > 1][0])
        got = f"{shorten(labels[again[0] % len(labels)])} {times} times"
        rows = f"{len(np.unique(bad))} of {row[-1] + 1} rows, first at row {check.row(int(bad[0]))}"
        raise DataError(f"column `{name}` must be maps that name each action once, got {got} in {rows}.")
