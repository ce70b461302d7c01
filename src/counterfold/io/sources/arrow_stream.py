"""Anything that hands out its rows by the Arrow stream protocol, such as a DuckDB relation or a DataFusion frame."""

from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from counterfold.io.sources._stream import Stream
from counterfold.io.sources.base import RowSource, SourceKind
from counterfold.io.sources.frame import Frame


@runtime_checkable
class Streaming(Protocol):
    """An object with the Arrow stream protocol."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a capsule with a stream of batches."""


class ArrowStream(SourceKind):
    """An object that returns a stream of its rows whenever it is asked, or once, as a reader of batches does."""

    @staticmethod
    def takes(value: Any) -> bool:
        return isinstance(value, Streaming) and not isinstance(value, type) and not Frame.takes(value)

    @staticmethod
    def open(value: Any) -> RowSource:
        name, can_repeat = f"the {type(value).__name__}", not isinstance(value, pa.RecordBatchReader)
        return Stream(name, lambda _: pa.RecordBatchReader.from_stream(value), can_repeat=can_repeat)
