"""Data sets of pyarrow: folders with partitions anywhere, and what libraries for Delta or Iceberg tables hand out."""

from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from counterfold.io.files.folders import NAMED
from counterfold.io.formats.base import ROWS, leave_out
from counterfold.io.sources._stream import Stream, explain
from counterfold.io.sources.base import RowSource, SourceKind


class Dataset(SourceKind):
    """A data set, whose files are read again in every pass."""

    @staticmethod
    def takes(value: Any) -> bool:
        return isinstance(value, ds.Dataset)

    @staticmethod
    def open(value: Any) -> RowSource:
        return stream_dataset(value, "the data set")


def stream_dataset(dataset: ds.Dataset, name: str) -> Stream:
    """Return the rows of a data set; what only the names of its folders say is no context by itself."""
    is_counted = isinstance(dataset, ds.FileSystemDataset) and isinstance(dataset.format, ds.ParquetFileFormat)
    with explain(name, str):
        keys = list_keys(dataset)

    def mark(field: pa.Field) -> pa.Field:
        return leave_out(field, NAMED) if field.name in keys else field

    return Stream(
        name,
        lambda columns: dataset.scanner(columns, batch_size=ROWS, batch_readahead=4, fragment_readahead=2).to_reader(),
        count_rows=dataset.count_rows if is_counted else None,  # the ends of files tell
        mark_fields=mark,
    )


def list_keys(dataset: ds.Dataset) -> set[str]:
    """Return the columns that the names of folders make, which are known of every file."""
    several = [set(ds.get_partition_keys(one.partition_expression)) for one in dataset.get_fragments()]
    return set.intersection(*several) if several else set()
