"""Lazy frames of polars."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from counterfold.io.formats.base import ROWS
from counterfold.io.sources._stream import Stream
from counterfold.io.sources.base import RowSource, SourceKind


class LazyFrame(SourceKind):
    """A frame that polars computes by its streaming engine, in every pass anew."""

    @staticmethod
    def takes(value: Any) -> bool:
        return any(
            (one.__module__.partition(".")[0], one.__name__) == ("polars", "LazyFrame") for one in type(value).__mro__
        )

    @staticmethod
    def open(value: Any) -> RowSource:
        return Stream("the LazyFrame", lambda columns: read(value if columns is None else value.select(columns)))


def read(frame: Any) -> pa.RecordBatchReader:
    """Return the rows of a frame as they are computed."""

    def list_batches() -> Iterator[pa.RecordBatch]:
        for part in frame.collect_batches(chunk_size=ROWS, maintain_order=True, engine="streaming"):
            yield from part.to_arrow().to_batches()

    return pa.RecordBatchReader.from_batches(frame.collect_schema().to_frame().to_arrow().schema, list_batches())
