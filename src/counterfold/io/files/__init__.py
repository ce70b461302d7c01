"""Files: the rows of a file or folder, the same whoever reads them."""

import json
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Self

import pyarrow as pa

from counterfold.base.cached import cached_property
from counterfold.base.errors import DataError
from counterfold.io.files.folders import Part, key_fields, list_parts, refuse_copies
from counterfold.io.files.paths import State, find_path
from counterfold.io.files.schemas import conform, join_schemas, list_fields, read_names, require_distinct
from counterfold.io.files.signatures import require_kind
from counterfold.io.formats import find_reader
from counterfold.io.formats.base import NOTES, Note, Piece, Reader, Survey, cut_rows

COPY = "evaluate a copy that nobody writes to"


@dataclass(frozen=True, eq=False)
class Files:
    """The files of a log, as they were when they were first seen; every reading requires that they still are.

    All files have the same columns, of types that hold the values of all. One that lacks a column has no values there,
    and names of folders like `day=7` make columns, too.
    """

    path: Path
    reader: Reader
    parts: Sequence[Part]
    is_in_memory = False

    @property
    def name(self) -> str:
        """Return what errors call the files."""
        return f"`{self.path}`"

    @classmethod
    def of(cls, source: str | PathLike[str], format_: str | None = None) -> Self:
        """Return the files that a path names, of a format that their names tell unless it is given."""
        path = find_path(source)
        parts = list_parts(path)
        readers = {type(reader): reader for reader in (find_reader(part.file, format_) for part in parts)}
        if len(readers) > 1:
            kinds = " and ".join(kind.__name__ for kind in readers)
            raise DataError(f"`{path}` must hold files of one format, got {kinds}.")
        for part in parts:
            require_kind(part.file)
        [reader] = readers.values()
        return cls(path, reader, parts)

    @cached_property
    def surveys(self) -> Sequence[Survey]:
        """Return what is known of each file."""
        found = []
        for part in self.parts:
            with self.explain(part):
                found.append(self.reader.survey(part.file))
                read_names(found[-1].schema)
            require_distinct(found[-1].schema.names)
        refuse_copies(part for part, survey in zip(self.parts, found, strict=True) if survey.rows)
        self._require_common(found)
        self.require_unchanged()
        return found

    def _require_common(self, surveys: Sequence[Survey]) -> None:
        """Require that files whose rows mean something only together were made alike."""
        first, parts = surveys[0], zip(self.parts, surveys, strict=True)
        other = next(((part, survey) for part, survey in parts if survey.common != first.common), None)
        if other is not None:
            got = f"{first.common} in `{self.parts[0].file.name}`, and {other[1].common} in `{other[0].file.name}`"
            raise DataError(f"files of {self.name} must hold decisions of one kind, got {got}; join them to one file.")

    @cached_property
    def schema(self) -> pa.Schema:
        """Return the columns of all files, and their types."""
        with self.explain(self.parts[0]):
            merged = join_schemas([pa.schema(list_fields(survey.schema)) for survey in self.surveys])
        keys = [one for one in key_fields(self.parts) if one.name not in merged.names]
        notes = self.notes
        return pa.schema([*merged, *keys], metadata={NOTES: json.dumps(notes)} if notes else None)

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return sum(survey.rows for survey in self.surveys)

    @property
    def size(self) -> int:
        """Return about how many bytes the rows take in memory."""
        return sum(survey.size for survey in self.surveys)

    @property
    def notes(self) -> list[tuple[str, str]]:
        """Return what was done to make rows of the files, and what that means for a user."""
        counts: Counter[Note] = Counter()
        for note, count in (pair for survey in self.surveys for pair in survey.notes):
            counts[note] += count
        return [(note.problem.format(count=f"{count:,}"), note.remedy) for note, count in counts.items()]

    def table(self) -> pa.Table:
        """Return all rows."""
        self._require_rows()
        tables = [table for piece in self.pieces(None) for table in piece.tables()]
        self.require_unchanged()
        return pa.concat_tables(tables)

    def pieces(self, columns: Sequence[str] | None) -> Generator[Piece]:
        """Yield all rows, or some columns of them, as pieces that may be read at the same time."""
        self._require_rows()
        names = self.schema.names if columns is None else columns
        wanted = pa.schema([self.schema.field(name) for name in names], metadata=self.schema.metadata)
        starts = accumulate((survey.rows for survey in self.surveys), initial=0)
        for part, survey, start in zip(self.parts, self.surveys, starts, strict=False):
            there = [name for name in survey.schema.names if name in names]
            with self.explain(part):
                for first, tables in self.reader.pieces(part.file, survey, there):
                    yield Piece(start + first, partial(self._read, part, Piece(first, tables), wanted))

    def _read(self, part: Part, piece: Piece, wanted: pa.Schema) -> Iterator[pa.Table]:
        """Yield the rows of a piece, checked, with the same columns in every file."""
        with self.explain(part):
            for table in piece.tables():
                table.validate(full=True)
                yield from cut_rows(conform(table, wanted, part.keys))

    def require_unchanged(self) -> None:
        """Require that all files are what they were."""
        for part in self.parts:
            if State.of(part.file) != part.state:
                raise DataError(f"`{part.file}` must not change while it is read, but it did; {COPY}.")
        if not self.path.is_file() and [one.file for one in list_parts(self.path)] != [one.file for one in self.parts]:
            raise DataError(f"`{self.path}` must not change while it is read, but its files did; {COPY}.")

    def _require_rows(self) -> None:
        if not self.schema.names or self.rows == 0:
            raise DataError(f"`{self.path}` must hold at least 2 rows, got none.")

    @contextmanager
    def explain(self, part: Part) -> Iterator[None]:
        """Turn what is wrong with a file into one sentence."""
        try:
            yield
        except MemoryError:
            raise  # it is the machine's, not the file's
        except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
            if State.of(part.file) != part.state:
                reason = f"it changed while it was read; {COPY}"
            raise DataError(f"`{part.file}` could not be read as {type(self.reader).__name__}: {reason}.") from error
