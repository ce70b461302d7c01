"""Logs larger than one machine, on Spark."""

import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Ints
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.progress import Progress
from counterfold.base.threads import Pool, limit_blas
from counterfold.engines._spark_errors import explain_errors
from counterfold.engines.base import Source, is_on_spark
from counterfold.engines.passes.batch_engine import BatchEngine
from counterfold.engines.passes.batches import HEAD
from counterfold.engines.passes.drawing import Drawn
from counterfold.estimators.sums import Sum, add_known
from counterfold.io.files.paths import has_path
from counterfold.io.formats import build_reader, find_ending, list_readers
from counterfold.io.formats.csv import Csv, find_delimiter
from counterfold.io.formats.json_lines import JsonLines
from counterfold.io.formats.parquet import Parquet
from counterfold.io.schema.batches import Batch
from counterfold.io.schema.preparation import Preparation
from counterfold.io.schema.same_context import ContextGroups
from counterfold.io.schema.scan import LogScan
from counterfold.log.log import Log

FILE, ROW = "__counterfold_file", "__counterfold_row"
"""Columns that tell where a row comes from: its file, or else its partition, and its place there."""

FAIL = {"mode": "FAILFAST"}
"""Rows of texts that cannot be read are refused, and not filled with nothing."""

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What is done with the batches of a partition."""

AT_ONCE, MERGED = 1 << 17, 32
"""How many rows are worked on at a time, and how many sums one task adds up."""


@dataclass(frozen=True, eq=False)
class Spark(BatchEngine):
    """Reads a log with Spark: `total` runs its function in `mapInArrow` on every partition, and further tasks add up.

    `frame` is a Spark DataFrame of `count` rows. A row's number is its place in the Parquet file that it was read from,
    after the rows of the files before, of which `offsets` tells; rows that come from none are numbered by partition. So
    a partition that is computed again, because a worker was lost, gives the same sums.
    """

    scan: LogScan
    frame: Any
    offsets: dict[str, int]
    count: int
    drawn: Drawn | None = None
    groups: ContextGroups | None = None

    @classmethod
    def of(cls, source: Source, pool: Pool) -> Self:
        scan: Any = source  # which is not in memory, as `can_read` says
        with explain_errors():
            frame = _open_frame(scan) if isinstance(scan.source, (str, PathLike)) else scan.source
            return cls(scan, *_number_rows(frame))

    @classmethod
    def can_read(cls, source: Source) -> bool:
        return not isinstance(source, Log) and (isinstance(source.source, (str, PathLike)) or cls.is_best_for(source))

    @classmethod
    def is_best_for(cls, source: Source) -> bool:
        return not isinstance(source, Log) and is_on_spark(source)

    def find_schema(self) -> pa.Schema:
        with explain_errors():
            return self.frame.drop(FILE, ROW).limit(0).toArrow().schema

    def count_rows(self) -> int:
        return self.count

    def read_heads(self, preparations: Sequence[Preparation]) -> list[Batch]:
        if self.count == 0:
            raise DataError("the log must hold at least 2 rows, got none.")
        first = self._read_first(self.frame)
        return [one.prepare(first) if not one.dropped else self._read_left(one) for one in preparations]

    def _read_left(self, preparation: Preparation) -> Batch:
        """Return the first rows that a preparation leaves."""
        schema = _find_prepared_schema(self.frame, preparation)
        return self._read_first(_map_rows(self.frame, _make_preparing_task(preparation, self.offsets), schema))

    def _read_first(self, frame: Any) -> Batch:
        """Return the first rows of a frame."""
        with explain_errors():
            return make_batch(frame.limit(HEAD).toArrow(), self.offsets)

    def total(self, work: Callable[[Batch], Sum], columns: Sequence[str], progress: Progress | None) -> Sum:
        with explain_errors():
            frame = self.frame.select([_quote(name) for name in (*columns, FILE, ROW)])
            sums = _map_rows(frame, _make_sum_task(work, self.offsets), "key long, sum binary")
            level = -(-_count_partitions(sums) // MERGED)
            if level > 1:
                grouped = sums.selectExpr("key", f"cast(key / {MERGED} as long) as level", "sum")
                sums = grouped.repartition(level, "level").select("key", "sum").mapInArrow(_add_sums, sums.schema)
            found = sums.repartition(1).mapInArrow(_add_sums, sums.schema).toArrow()
        if found.num_rows == 0:
            raise DataError("the log must hold at least 2 rows, got none.")
        if is_here(self.scan):
            self.scan.opened.require_unchanged()
        result: Sum = pickle.loads(found.column("sum")[0].as_py())  # noqa: S301 (our own bytes)
        return result


def _map_rows(frame: Any, task: Task, schema: Any) -> Any:
    """Return what a task makes of every partition; Spark hands it no columns with dots in their names."""
    names = frame.columns

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return task(pa.RecordBatch.from_arrays(batch.columns, names=names) for batch in batches)

    return frame.toDF(*(f"column_{place}" for place in range(len(names)))).mapInArrow(run, schema)


def _make_sum_task(work: Callable[[Batch], Sum], offsets: dict[str, int]) -> Task:
    """Return what is done with the batches of a partition: one row with the partition's number and its sum."""

    def sum_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        with limit_blas():
            found: Sum | None = None
            for table in merge_batches(batches):
                found = add_known(found, work(make_batch(table, offsets)))
        if found is not None:
            yield _pack_sum(TaskContext.get().partitionId(), found)

    return sum_partition


def _make_preparing_task(preparation: Preparation, offsets: dict[str, int]) -> Task:
    """Return what prepares the batches of a partition."""

    def prepare_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in merge_batches(batches):
            yield from preparation.prepare(Batch(table, number_rows(table, offsets))).table.to_batches()

    return prepare_partition


def _find_prepared_schema(frame: Any, preparation: Preparation) -> Any:
    """Return the columns of a frame once it is prepared."""
    from pyspark.sql.types import DoubleType, StructField, StructType

    made = [StructField(name, DoubleType()) for name in preparation.made]
    return StructType([*frame.schema.fields, *made])


def _add_sums(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add up sums in the order of their keys, so that it does not matter which arrived first."""
    rows = [(row["key"], row["sum"]) for batch in batches for row in batch.to_pylist()]
    if rows:
        total = reduce(add, (pickle.loads(packed) for _, packed in sorted(rows)))  # noqa: S301 (our own bytes)
        yield _pack_sum(min(key for key, _ in rows), total)


def _pack_sum(key: int, found: Any) -> pa.RecordBatch:
    return pa.record_batch({"key": pa.array([key], pa.int64()), "sum": pa.array([pickle.dumps(found)], pa.binary())})


def merge_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows of small batches in larger ones."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= AT_ONCE:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting = []
    if any(map(len, waiting)):
        yield pa.Table.from_batches(waiting).combine_chunks()


def make_batch(table: pa.Table, offsets: dict[str, int]) -> Batch:
    """Return rows with their numbers in the log."""
    return Batch(table.drop_columns([FILE, ROW]), number_rows(table, offsets))


def number_rows(table: pa.Table, offsets: dict[str, int]) -> Ints:
    """Return the numbers of rows in the log, from their places in files or partitions.

    Partitions may differ from those that were counted; two rows of the same number just stay together.
    """
    files = table.column(FILE).combine_chunks().dictionary_encode()
    first = np.array([offsets.get(name, 0) for name in files.dictionary.to_pylist()], dtype=np.intp)
    places = table.column(ROW).to_numpy().astype(np.intp)
    return np.asarray(places + first[files.indices.to_numpy()])


def _open_frame(scan: LogScan) -> Any:
    """Return the files of a path, or the table of a name."""
    from pyspark.sql import SparkSession

    place, separator = str(scan.source), ","
    reader = build_reader(scan.format) if scan.format else list_readers().get(find_ending(Path(place)))
    if is_here(scan):
        files: Any = scan.opened
        place, reader = str(files.path.absolute()), files.reader  # Java may run in another folder
    if not isinstance(reader, Csv | JsonLines | Parquet | None):
        raise ParameterError(f"`engine` must be 'memory' or 'local' for files of {type(reader).__name__}, got 'spark'.")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # that workers find what is installed here
    session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    if is_here(scan):
        with files.explain(files.parts[0]):
            separator = find_delimiter(files.parts[0].file) if isinstance(reader, Csv) else separator
    elif reader is None and "/" not in place:
        return session.table(place)
    if isinstance(reader, Csv):
        return session.read.csv(place, inferSchema=True, sep=separator, header=True, escape='"', multiLine=True, **FAIL)
    if isinstance(reader, JsonLines):
        return session.read.json(place, **FAIL)
    return session.read.option("parquet.page.verify-checksum.enabled", "true").parquet(place)


def is_here(scan: LogScan) -> bool:
    """Say whether a log is a file or folder of this machine, and not of one that only the workers see."""
    return isinstance(scan.source, (str, PathLike)) and has_path(scan.source)


def _number_rows(frame: Any) -> tuple[Any, dict[str, int], int]:
    """Return the frame with the place of each row, how many rows come before each file's, and their number."""
    from pyspark.errors import AnalysisException

    try:
        placed, found = _count_rows(frame, "_metadata.file_path", "_metadata.row_index")
    except AnalysisException:
        partition, place = "lpad(spark_partition_id(), 10, '0')", f"monotonically_increasing_id() & {(1 << 33) - 1}"
        placed, found = _count_rows(frame, partition, place)
    offsets, done, count = {}, 0, 0
    for name, last, rows in found:
        offsets[name] = done
        done, count = done + last + 1, count + rows
    return placed, offsets, count


def _count_rows(frame: Any, file: str, place: str) -> tuple[Any, list[tuple[str, int, int]]]:
    """Return the frame with two more columns, and each file's name, last place and number of rows in the frame."""
    from pyspark.sql import functions

    placed = frame.selectExpr("*", f"{file} as {FILE}", f"{place} as {ROW}")
    counts = placed.groupBy(FILE).agg(functions.max(ROW), functions.count("*")).toArrow()
    return placed, sorted(zip(*(column.to_pylist() for column in counts.columns), strict=True))


def _count_partitions(frame: Any) -> int:
    """Return the number of partitions, or 1 where Spark Connect does not tell."""
    from pyspark.errors import PySparkNotImplementedError

    try:
        return int(frame.rdd.getNumPartitions())
    except (AttributeError, PySparkNotImplementedError):
        return 1


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
