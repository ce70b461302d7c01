"""Reader: one file format each, from a file to its rows, a few at a time."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}

BLOCK = 1 << 24
"""How many bytes of a text are read at a time."""

NO_CONTEXT = b"no context"
"""What says in the metadata of a column why it is not taken for context by itself."""

UNREADABLE = b"unreadable"
"""What says in the metadata of an empty column why its values could not be read, as a sentence."""

ROLE = b"role"
"""What marks a column in its metadata that a reader made for the role which it is called by."""

NOTES = b"counterfold notes"
"""What says in the metadata of a table how its rows were made, as JSON."""

ROWS, BYTES = 1 << 17, 1 << 26
"""How many rows are worked on at a time, unless they take more bytes than that."""


class Note(NamedTuple):
    """What a reader did that an answer must say, where `{count}` is for how many rows or lines, and what to do."""

    problem: str
    remedy: str


class Survey(NamedTuple):
    """What is known of all rows of a file before any is used: their columns, their number, and what they take decoded.

    In a text the type of a column is that of all its rows, so a file is read once to know it. `notes` are to be said
    with the answer, each with its count. A reader may hold rows `parsed` as it likes, so as not to parse them again.
    `common` is what must be the same in all files of one log, as it decides what their rows mean.
    """

    schema: "pa.Schema"
    rows: int
    size: int
    notes: Sequence[tuple[Note, int]] = ()
    parsed: "pa.Buffer | None" = None
    common: str = ""


class Piece(NamedTuple):
    """Some neighbouring rows of a file: the number of the first, and a function that reads them, a few at a time."""

    first: int
    tables: Callable[[], Iterator["pa.Table"]]


@dataclass(frozen=True)
class Reader(ABC):
    """Reads one format; `suffixes` are the endings of file names by which it is chosen, before any compression's.

    Tables that have all columns of one of the `signs` may be of this format, which is then suggested.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()
    signs: ClassVar[tuple[tuple[str, ...], ...]] = ()

    @abstractmethod
    def survey(self, file: Path) -> Survey:
        """Return what all rows of the file hold."""

    @abstractmethod
    def pieces(self, file: Path, survey: Survey, columns: Sequence[str]) -> Iterator[Piece]:
        """Yield these columns of all rows of the file, as pieces that may be read at the same time."""


def read_in_turn(tables: Iterable["pa.Table"], columns: Sequence[str]) -> Iterator[Piece]:
    """Yield tables that must be read one after the other."""
    first = 0
    for table in tables:
        yield Piece(first, partial(iter, [table.select(columns)]))
        first += len(table)


def leave_out(field: "pa.Field", reason: str) -> "pa.Field":
    """Return a column that is not taken for context by itself, with the reason."""
    return field.with_metadata({NO_CONTEXT: reason})


def cut_rows(table: "pa.Table") -> Iterator["pa.Table"]:
    """Yield the rows of a table so few at a time that they take little memory."""
    step = max(1, min(ROWS, len(table) * BYTES // max(table.nbytes, 1)))
    for start in range(0, len(table), step):
        yield table.slice(start, step)


def merge_types(name: str, one: "pa.DataType", other: "pa.DataType") -> "pa.DataType":
    """Return the type of a column some of whose rows have one type and some another."""
    import pyarrow as pa

    if one == other:
        return one
    if pa.types.is_dictionary(one) or pa.types.is_dictionary(other):
        plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (one, other)]
        return pa.dictionary(pa.int32(), merge_types(name, *plain))
    if pa.string() in (one, other) and (pa.types.is_temporal(one) or pa.types.is_temporal(other)):
        return pa.string()  # only some texts look like times
    several = [pa.schema([(name, kind)]) for kind in (one, other)]
    return pa.unify_schemas(several, promote_options="permissive").field(name).type


def open_stream(file: Path) -> "pa.NativeFile":
    """Return the file as a stream, decompressed if its name ends in `.gz` or the like, in letters of any size."""
    import pyarrow as pa

    return pa.input_stream(file, compression=COMPRESSIONS.get(file.suffix.lower()))
