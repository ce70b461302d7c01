"""Functions that return a fresh stream of rows whenever they are called."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from counterfold.base.errors import DataError
from counterfold.base.messages import shorten
from counterfold.io.sources._stream import Stream
from counterfold.io.sources.arrow_stream import ArrowStream, Streaming
from counterfold.io.sources.base import RowSource, SourceKind
from counterfold.io.sources.frame import Frame


class Function(SourceKind):
    """A function of no arguments that returns a reader of batches, or anything else with the Arrow stream protocol."""

    @staticmethod
    def takes(value: Any) -> bool:
        return callable(value) and not ArrowStream.takes(value) and not Frame.takes(value)

    @staticmethod
    def open(value: Any) -> RowSource:
        name = f"the function `{value.__name__}`" if hasattr(value, "__name__") else f"the {type(value).__name__}"
        return Stream(name, lambda _: call(name, value))


def call(name: str, function: Callable[[], Any]) -> pa.RecordBatchReader:
    """Return the rows that a function hands out now."""
    found = function()
    if not isinstance(found, Streaming):
        rule = "must return a RecordBatchReader or an object with the Arrow stream protocol"
        raise DataError(f"{name} {rule}, got {shorten(found)}.")
    return pa.RecordBatchReader.from_stream(found)
