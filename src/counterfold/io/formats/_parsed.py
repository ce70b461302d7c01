"""Decisions as they are parsed: once, in columns of Arrow, to be read as often as one likes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from counterfold.io.formats.base import Survey

NOTHING: Mapping[str, Any] = MappingProxyType({})

NUMBERS, WORDS = pa.map_(pa.string(), pa.float64()), pa.map_(pa.string(), pa.string())

PARSED = pa.schema(
    {
        "action": pa.string(),
        "reward": pa.float64(),
        "propensity": pa.float64(),
        "kept": pa.float64(),
        "logging_probs": NUMBERS,
        "available": pa.map_(pa.string(), pa.bool_()),
        "embedding": pa.list_(pa.float64()),
        "numbers": NUMBERS,
        "words": WORDS,
    }
)
"""What decisions are between the one time that they are parsed and all the times that they are read."""


class Decision(NamedTuple):
    """One row of a log, as far as a text tells; `numbers` and `words` are its features by name.

    `kept` is the probability with which it came into the text, where others were dropped.
    """

    action: str
    reward: float | None
    propensity: float | None = None
    logging_probs: Mapping[str, float] | None = None
    available: Sequence[str] | None = None
    kept: float | None = None
    embedding: Sequence[float] | None = None
    numbers: Mapping[str, float] = NOTHING
    words: Mapping[str, str] = NOTHING


def make_batch(several: Sequence[Decision]) -> pa.RecordBatch:
    """Return some decisions in columns."""
    columns: dict[str, Sequence[Any]] = dict(zip(Decision._fields, zip(*several, strict=True), strict=True))
    columns["available"] = [None if one is None else dict.fromkeys(one, True) for one in columns["available"]]
    arrays = [
        make_maps(columns[one.name], one.type) if pa.types.is_map(one.type) else pa.array(columns[one.name], one.type)
        for one in PARSED
    ]
    return pa.record_batch(arrays, schema=PARSED)


def make_maps(several: Sequence[Mapping[str, object] | None], kind: pa.DataType) -> pa.MapArray:
    """Return mappings as maps of Arrow."""
    ends = np.cumsum([0, *(len(one or ()) for one in several)], dtype=np.int32)
    offsets = pa.array(ends, mask=np.array([*(one is None for one in several), False]))
    keys = pa.array([key for one in several for key in one or ()], pa.string())
    values = pa.array([value for one in several for value in (one or {}).values()], kind.item_type)
    return pa.MapArray.from_arrays(offsets, keys, values)


def read_parsed(survey: Survey, place: int, wanted: pa.Schema, missing: float | None) -> Iterator[pa.Table]:
    """Yield some columns of the decisions that are at a place."""
    batch = pa.ipc.open_file(survey.parsed).get_batch(place)
    numbers, words = (Features.of(batch.column(name)) for name in ("numbers", "words"))
    columns = []
    for one in wanted:
        if one.name in PARSED.names:
            column = batch.column(one.name).cast(one.type)
        elif one.type == pa.string():
            column = words.take(one.name)
            column = column.fill_null(numbers.take(one.name).cast(pa.string())) if column.null_count else column
        else:
            column = numbers.take(one.name)
            column = column if missing is None else column.fill_null(missing)
        columns.append(column)
    yield pa.table(columns, schema=wanted)


@dataclass(frozen=True, eq=False)
class Features:
    """The features of some decisions: the decision and the value of each, in the order of their names' codes."""

    rows: int
    codes: Mapping[str, int]
    starts: Sequence[int]
    owners: np.typing.NDArray[np.intp]
    values: pa.Array

    @classmethod
    def of(cls, maps: pa.MapArray) -> "Features":
        """Return the features in maps from name to value."""
        keys = maps.keys.dictionary_encode()
        places = keys.indices.to_numpy()
        order = np.argsort(places, kind="stable")
        names = keys.dictionary.to_pylist()
        starts = np.searchsorted(places[order], np.arange(len(names) + 1))
        owners = np.repeat(np.arange(len(maps)), np.diff(maps.offsets.to_numpy()))[order]
        codes = {name: code for code, name in enumerate(names)}
        return cls(len(maps), codes, starts.tolist(), owners, maps.items.take(pa.array(order)))

    def take(self, name: str) -> pa.Array:
        """Return the values of one feature, null in the decisions that lack it."""
        if name not in self.codes:
            return pa.nulls(self.rows, self.values.type)
        start, end = self.starts[self.codes[name]], self.starts[self.codes[name] + 1]
        entries = np.full(self.rows, -1)
        entries[self.owners[start:end]] = np.arange(start, end)
        return self.values.take(pa.array(entries, mask=entries < 0))
