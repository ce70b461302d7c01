"""Comma-, semicolon- or tab-separated text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from counterfold.base import messages
from counterfold.io.formats.base import BLOCK, Piece, Reader, Survey, leave_out, open_stream, read_in_turn

DELIMITERS = ",\t;|"
"""What may separate fields; the header tells which one does."""

NOT_TEXT = "it is not text in UTF-8; save the file as UTF-8"
"""Why a column of bytes is not taken for context."""

EXCEL = re.compile(rb'(\xef\xbb\xbf)?\s*"?sep=.?"?\s*[\r\n]', re.IGNORECASE)
"""A first line that tells Excel what separates fields; Spark cannot leave it out."""

QUOTED = re.compile(rb'"[^"]*"')

UNEVEN = re.compile(r"CSV parse error: (Row #\d+: )?Expected")
"""How pyarrow says that a line has another number of fields than the first one."""

WIDER = {pa.null(): pa.int64(), pa.int64(): pa.float64(), pa.float64(): pa.string(), pa.string(): pa.binary()}
"""The next type to try where some rows of a column are not of one; all others are followed by text."""


class Csv(Reader):
    """Text with a header line.

    A column is of the narrowest type that all its rows have. `NA`, `null` and the like are missing values unless they
    are in quotes.
    """

    suffixes = (".csv", ".tsv", ".txt")

    def survey(self, file: Path) -> Survey:
        try:
            with self._open(file, {}) as batches:
                schema = batches.schema
            return self._count(file, schema)
        except pa.ArrowInvalid as error:
            if UNEVEN.match(str(error)):
                raise pa.ArrowInvalid(Uneven.of(file).describe()) from None
            if "CSV conversion error" not in str(error):
                raise
        return self._count(file, self._widen(file, schema))

    def _count(self, file: Path, schema: pa.Schema) -> Survey:
        rows = size = 0
        for table in self._tables(file, schema):
            rows, size = rows + len(table), size + table.nbytes
        fields = [leave_out(one, NOT_TEXT) if one.type == pa.binary() else one for one in schema]
        return Survey(pa.schema(fields), rows, size)

    def _widen(self, file: Path, schema: pa.Schema) -> pa.Schema:
        """Return the columns with types that all rows have, not only the first ones."""
        kinds = list(schema.types)
        for table in self._tables(file, pa.schema([(name, pa.binary()) for name in schema.names])):
            for place, column in enumerate(table.columns):
                while not has_type(column, kinds[place]):
                    kinds[place] = WIDER.get(kinds[place], pa.string())
        return pa.schema(list(zip(schema.names, kinds, strict=True)))

    def pieces(self, file: Path, survey: Survey, columns: Sequence[str]) -> Iterator[Piece]:
        return read_in_turn(self._tables(file, survey.schema, columns), columns)

    def _tables(self, file: Path, schema: pa.Schema, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        with self._open(file, dict(zip(schema.names, schema.types, strict=True)), columns) as batches:
            yield from (pa.Table.from_batches([batch]) for batch in batches)

    def _open(
        self, file: Path, types: Mapping[str, pa.DataType], columns: Sequence[str] | None = None
    ) -> pa.csv.CSVStreamingReader:
        return pa.csv.open_csv(
            open_stream(file),
            pa.csv.ReadOptions(block_size=BLOCK),
            make_options(file),
            pa.csv.ConvertOptions(
                column_types=dict(types),
                include_columns=columns,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )


def make_options(file: Path) -> pa.csv.ParseOptions:
    """Return how the fields of a file are told apart."""
    return pa.csv.ParseOptions(delimiter=find_delimiter(file), newlines_in_values=True)


@dataclass(frozen=True)
class Uneven:
    """The lines of a file that have another number of fields than the header: how many, of how many, and the first."""

    separator: str
    count: int
    lines: int
    first: pa.csv.InvalidRow

    @classmethod
    def of(cls, file: Path) -> Self:
        """Return the lines of a file that could not be read; threads would not know their numbers."""
        options, count, first = make_options(file), 0, None

        def note(line: pa.csv.InvalidRow) -> str:
            nonlocal count, first
            count, first = count + 1, first or line
            return "skip"

        options.invalid_row_handler = note
        # as Latin-1, any bytes are text: pyarrow prints a traceback where a line for the handler is not UTF-8
        reading = pa.csv.ReadOptions(use_threads=False, encoding="latin1")
        with pa.csv.open_csv(open_stream(file), reading, options) as batches:
            even = sum(len(batch) for batch in batches)
        return cls(options.delimiter, count, even + count, first)

    def describe(self) -> str:
        """Say what is wrong, and what to do."""
        wanted, got, number, latin = self.first
        text = latin.encode("latin1").decode(errors="replace")
        where = f"line {number}, `{messages.show(text)}`"
        if self.count > self.lines / 2:
            rule = f"the first line must name all columns, but has {wanted} of them, and {where}, has {got}"
            return f"{rule}; take away what stands above the names of the columns, or add the names that are missing"
        rule = f"all lines must have {wanted} fields, as the first one has, got {self.count} of {self.lines} others"
        way = f"put quotes around texts that hold `{messages.show(self.separator)}`, or take these lines away"
        return f"{rule}; the first is {where}, with {got}; {way}"


def has_type(column: pa.ChunkedArray, kind: pa.DataType) -> bool:
    """Say whether all texts of a column can be read as a type."""
    if kind in (pa.null(), pa.binary()):
        return bool(kind == pa.binary() or column.null_count == len(column))
    try:
        pc.utf8_trim_whitespace(column.cast(pa.string())).cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def find_delimiter(file: Path) -> str:
    """Return what separates the fields of a file."""
    with open_stream(file) as stream:
        return choose_delimiter(stream.read(1 << 16))


def choose_delimiter(start: bytes) -> str:
    """Return what separates the names in the header, in UTF-8, and as many fields of the next line; else a comma."""
    if EXCEL.match(start):
        raise pa.ArrowInvalid("its first line `sep=...` is a remark for Excel and no header; take that line away")
    header, *rest = re.split(rb"[\r\n]+", QUOTED.sub(b"", start.lstrip()), maxsplit=2)
    names, fields = header.decode(), rest[0].decode(errors="replace") if rest else ""
    return max(DELIMITERS, key=lambda one: (names.count(one) == fields.count(one) > 0, names.count(one)))
