"""Logs larger than one machine, on Spark."""

import pickle
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from counterfold import errors
from counterfold.arrays import Ints
from counterfold.engines.base import Batch, Engine, Sum
from counterfold.errors import DataError, ParameterError
from counterfold.pool import one_blas_thread
from counterfold.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa

FILE, ROW = "__counterfold_file", "__counterfold_row"
"""Columns that tell where a row comes from."""

HEAD, AT_ONCE, MERGED = 1 << 14, 1 << 17, 32
"""How many of the first rows are looked at, how many are worked on at a time, and how many sums one task adds up."""


@dataclass(frozen=True, eq=False)
class Spark(Engine):
    """The function runs inside `mapInArrow` on every partition, and a second one adds up what the first returns.

    `frame` is a Spark DataFrame. A row's number is its place in the file that it was read from, after the rows of the
    files before; rows that come from no file are numbered by partition. So a partition that is computed again, because
    a worker was lost, gives the same sums.
    """

    frame: Any
    offsets: dict[str, int] | None

    @classmethod
    def of(cls, source: Any) -> "Spark":
        """Return the engine for a Spark DataFrame, the name of a table, or a path."""
        with explained():
            frame = source if hasattr(source, "mapInArrow") else _frame(str(source))
            numbered, offsets = _numbered(frame)
            return cls(numbered, offsets)

    def head(self) -> "pa.Table":
        """Return the first rows."""
        with explained():
            table = self.frame.drop(FILE, ROW).limit(HEAD).toArrow()
        if table.num_rows == 0:
            raise DataError("the log must hold at least 2 rows, got none.")
        return table

    def rows(self) -> int | None:
        """Return the number of rows."""
        with explained():
            return int(self.frame.count())

    def total(self, work: Callable[[Batch], Sum], columns: Sequence[str], progress: Progress | None) -> Sum:
        """Return the sum over all partitions, added up by tasks of which each takes several."""
        del progress  # Spark shows its own
        several = self.frame.select([_quoted(name) for name in (*columns, FILE, ROW)])
        with explained():
            parts = several.mapInArrow(_summing(work, self.offsets), "key long, sum binary")
            level = max(1, -(-parts.rdd.getNumPartitions() // MERGED)) if hasattr(parts, "rdd") else 1
            if level > 1:
                grouped = parts.selectExpr("key", f"cast(key / {MERGED} as long) as level", "sum")
                parts = grouped.repartition(level, "level").select("key", "sum").mapInArrow(_adding, parts.schema)
            found = parts.repartition(1).mapInArrow(_adding, parts.schema).toArrow()
        if found.num_rows == 0:
            raise DataError("the log must hold at least 2 rows, got none.")
        result: Sum = pickle.loads(found.column("sum")[0].as_py())  # noqa: S301 (our own bytes)
        return result

    def distinct(self, column: str) -> list[Any]:
        """Return the different values of a column, or keys of its maps, sorted."""
        with explained():
            is_map = self.frame.schema[column].dataType.typeName() == "map"
            values = f"explode(map_keys({_quoted(column)}))" if is_map else _quoted(column)
            found = self.frame.selectExpr(values).distinct().toArrow().column(0).to_pylist()
        return sorted(value for value in found if value is not None)


def _summing(
    work: Callable[[Batch], Sum], offsets: dict[str, int] | None
) -> Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]:
    """Return what is done with the batches of a partition: one row with the partition's number and its sum."""

    def summing(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        from pyspark import TaskContext

        found: Any = None
        with one_blas_thread():
            for table in gathered(batches):
                some = Batch(table.drop_columns([FILE, ROW]), numbers_of(table, offsets))
                part = work(some)
                found = part if found is None else found + part
        if found is not None:
            yield _record(TaskContext.get().partitionId(), found)

    return summing


def _adding(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """Add up sums in the order of their keys, so that it does not matter which arrived first."""
    rows = [(row["key"], row["sum"]) for batch in batches for row in batch.to_pylist()]
    found: Any = None
    for _, packed in sorted(rows):
        part = pickle.loads(packed)  # noqa: S301 (our own bytes)
        found = part if found is None else found + part
    if found is not None:
        yield _record(min(key for key, _ in rows), found)


def _record(key: int, found: Any) -> "pa.RecordBatch":
    import pyarrow as pa

    return pa.record_batch({"key": pa.array([key], pa.int64()), "sum": pa.array([pickle.dumps(found)], pa.binary())})


def gathered(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.Table"]:
    """Yield the rows of small batches in larger ones."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= AT_ONCE:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting = []
    if any(map(len, waiting)):
        yield pa.Table.from_batches(waiting).combine_chunks()


def numbers_of(table: "pa.Table", offsets: dict[str, int] | None) -> Ints:
    """Return the numbers of rows in the log from their places in files."""
    places: Ints = table.column(ROW).to_numpy().astype(np.intp)
    if offsets is None or len(offsets) == 1:
        return places
    files = table.column(FILE).combine_chunks().dictionary_encode()
    first = np.array([offsets[name] for name in files.dictionary.to_pylist()], dtype=np.intp)
    return np.asarray(places + first[files.indices.to_numpy()], dtype=np.intp)


def _frame(source: str) -> Any:
    """Return the table of a name, or the files of a path."""
    from pyspark.sql import SparkSession

    session = SparkSession.active() if SparkSession.getActiveSession() else SparkSession.builder.getOrCreate()
    ending = source.rsplit("/", 1)[-1].lower()
    if ending.endswith((".csv", ".csv.gz")):
        return session.read.csv(source, header=True, inferSchema=True)
    if ending.endswith((".json", ".jsonl", ".ndjson")):
        return session.read.json(source)
    if "/" in source or ending.endswith((".parquet", ".pq")):
        return session.read.parquet(source)
    return session.table(source)


def _numbered(frame: Any) -> tuple[Any, dict[str, int] | None]:
    """Return the frame with the place of each row, and how many rows come before each file's."""
    from pyspark.errors import AnalysisException

    try:
        placed = frame.selectExpr("*", f"_metadata.file_path as {FILE}", f"_metadata.row_index as {ROW}")
        counts = placed.groupBy(FILE).agg({ROW: "max"}).toArrow().to_pydict()
    except AnalysisException:
        return frame.selectExpr("*", f"'' as {FILE}", f"monotonically_increasing_id() as {ROW}"), None
    offsets, done = {}, 0
    for name, last in sorted(zip(*counts.values(), strict=True)):
        offsets[name] = done
        done += last + 1
    return placed, offsets


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@contextmanager
def explained() -> Iterator[None]:
    """Turn what is wrong with Spark, or what a function found wrong with the data, into one sentence."""
    needs = "`engine` 'spark' needs pyspark: pip install 'counterfold[spark]'."
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException, PySparkRuntimeError
    except ModuleNotFoundError:
        raise ParameterError(needs) from None
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            yield
    except PySparkRuntimeError as error:
        if "JAVA_GATEWAY_EXITED" not in str(error):
            raise
        raise ParameterError("`engine` 'spark' needs Java 17 or later, which could not be started.") from None
    except (PySparkException, Py4JError) as error:
        ours = re.search(r"counterfold\.errors\.(\w+): (.*)", str(error))
        if ours:
            raise getattr(errors, ours.group(1), DataError)(ours.group(2).strip()) from None
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise DataError(f"Spark could not read the log: {reason}.") from error
