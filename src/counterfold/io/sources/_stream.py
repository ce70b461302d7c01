"""Stream: rows that are asked for anew in every pass, so that they need not fit into memory."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from counterfold.base import capacity
from counterfold.base.cached import cached_property
from counterfold.base.errors import CounterfoldError, DataError
from counterfold.io.files.schemas import conform, list_fields, read_names, require_distinct
from counterfold.io.formats.base import BYTES, ROWS, Piece, cut_rows, read_in_turn
from counterfold.io.sources._checksums import Checksums, add_rows

ONCE = "can be read only once and does not fit into memory: give a function that returns a fresh one"
SAME = "make it return the same rows in the same order (order by a column without ties), or write them to a file"


class Look(NamedTuple):
    """What a first look found: how many rows there are and about what they take, and all of them if they are few."""

    schema: pa.Schema
    rows: int
    size: int
    content: pa.Table | None


def keep_field(one: pa.Field) -> pa.Field:
    """Return a column as it is."""
    return one


@dataclass(frozen=True, eq=False)
class Stream:
    """Rows of a query, a data set or whatever else hands them out by Arrow, a few at a time.

    `open_reader` starts at the first row again, and need return only the named columns, if any are named; `count_rows`
    tells their number if that is much faster than reading them. Few rows are kept by the first look, and never asked
    for again. Many are read once more in every pass, and must be the same ones each time, in the same order: their
    number and a checksum of each column are compared. `reword` makes what a library says fit to be shown, and
    `mark_fields` marks columns that are not context by themselves.
    """

    name: str
    open_reader: Callable[[Sequence[str] | None], AbstractContextManager[pa.RecordBatchReader]]
    count_rows: Callable[[], int] | None = None
    reword: Callable[[str], str] = str
    can_repeat: bool = True
    mark_fields: Callable[[pa.Field], pa.Field] = keep_field
    checksums: Checksums = field(default_factory=dict)
    is_in_memory = False

    @cached_property
    def look(self) -> Look:
        """Return what reading the first rows tells, or all of them if they are few."""
        kept: list[pa.Table] = []
        rows = size = 0
        with self._open(None) as reader:
            schema = self._tidy(reader.schema)
            for table in (tables := self._read(reader, schema)):
                rows, size = rows + len(table), size + table.nbytes
                if capacity.estimate_need(rows, size) > capacity.find_limit():
                    break
                kept.append(table)
            else:
                nothing = pa.table([pa.chunked_array([], one.type) for one in schema], schema=schema)
                return Look(schema, rows, size, pa.concat_tables([nothing, *kept]))
            kept.clear()
            if not self.can_repeat:
                raise DataError(f"{self.name} {ONCE}.")
            count = rows if self.count_rows else rows + sum(map(len, tables))
        if self.count_rows:
            with self.explain():
                count = self.count_rows()
        return Look(schema, count, size * count // rows, None)

    @contextmanager
    def _open(self, columns: Sequence[str] | None) -> Iterator[pa.RecordBatchReader]:
        with ExitStack() as stack:
            with self.explain():
                reader = stack.enter_context(self.open_reader(columns))
            yield reader

    def _tidy(self, schema: pa.Schema) -> pa.Schema:
        """Return the columns as they are used, if they can be."""
        with self.explain():
            read_names(schema)
        require_distinct(schema.names)
        return pa.schema([self.mark_fields(one) for one in list_fields(schema)])

    @property
    def schema(self) -> pa.Schema:
        """Return the columns, and their types."""
        return self.look.schema

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.look.rows

    @property
    def size(self) -> int:
        """Return about how many bytes the rows take in memory."""
        return self.look.size

    def table(self) -> pa.Table:
        """Return all rows."""
        self._require_rows()
        if self.look.content is not None:
            return self.look.content
        return pa.concat_tables([table for piece in self.pieces(None) for table in piece.tables()])

    def pieces(self, columns: Sequence[str] | None) -> Generator[Piece]:
        """Yield all rows, or some columns of them; they must be those that were there before."""
        self._require_rows()
        names = self.look.schema.names if columns is None else columns
        if self.look.content is not None:
            yield from read_in_turn(cut_rows(self.look.content.select(names)), names)
            return
        wanted = pa.schema([self.look.schema.field(name) for name in names])
        with self._open(names) as reader:
            yield from read_in_turn(self._read(reader, wanted), names)

    def _require_rows(self) -> None:
        if self.rows == 0:
            raise DataError(f"{self.name} must hold at least 2 rows, got none.")

    def _read(self, reader: pa.RecordBatchReader, wanted: pa.Schema) -> Generator[pa.Table]:
        """Yield the rows, checked; at the end, compare them with those of another time."""
        count, found = 0, Checksums()
        for few in merge_batches(self._batches(reader)):
            with self.explain():
                table = pa.Table.from_batches(few)
                table.validate(full=True)
                table = conform(table, wanted, {})
            add_rows(found, table)
            count += len(table)
            yield from cut_rows(table)
        known = {place: self.checksums.setdefault(place, one) for place, one in found.items()}
        self._require_same(count, are_equal=known == found)

    def _batches(self, reader: pa.RecordBatchReader) -> Generator[pa.RecordBatch]:
        """Yield all batches that the reader has."""
        while True:
            with self.explain():
                batch = next(reader, None)
            if batch is None:
                return
            yield batch

    def _require_same(self, count: int, *, are_equal: bool) -> None:
        """Require as many rows as the first look found, if it is over, and columns that have not changed."""
        known = self.__dict__.get("look")
        if known is not None and count != known.rows:
            raise DataError(f"{self.name} must return the same rows every time, got {known.rows} and {count}; {SAME}.")
        if not are_equal:
            what = "other rows, or another order of them, the second time"
            raise DataError(f"{self.name} must return the same rows every time, got {what}; {SAME}.")

    def require_unchanged(self) -> None:
        """Require nothing more than every pass does at its end."""

    def explain(self) -> AbstractContextManager[None]:
        """Turn whatever a library or a function of the user raises into one sentence."""
        return explain(self.name, self.reword)


@contextmanager
def explain(name: str, reword: Callable[[str], str]) -> Iterator[None]:
    """Turn whatever a library or a function of the user raises into one sentence, without secrets."""
    try:
        yield
    except (CounterfoldError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 (of libraries and users, which may raise anything)
        text = reword(str(error)).strip() or type(error).__name__
        reason = text.splitlines()[0].partition(". Detail:")[0]  # behind which pyarrow writes more for its authors
        raise DataError(f"{name} could not be read: {reason.rstrip('.!')}.") from None


def merge_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Yield batches together that are small alone: some databases hand out a thousand rows at a time."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= ROWS or sum(one.nbytes for one in waiting) >= BYTES:
            yield waiting
            waiting = []
    if any(map(len, waiting)):
        yield waiting
