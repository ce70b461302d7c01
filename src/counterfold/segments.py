"""Cuts: how columns become segments of the rows, such as one for each device, or five for an age."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from counterfold import messages
from counterfold.arrays import Floats, Ints
from counterfold.checks import Checker, freeze
from counterfold.encoding.kinds import is_categorical, is_date, is_numeric
from counterfold.encoding.levels import encode_chunks, limit_counts, read_chunk
from counterfold.errors import DataError, ParameterError
from counterfold.hashing import sample_least
from counterfold.indices import align_rows

MOST = 50
"""Of more different values the largest ones are segments, and all others are one together."""

PARTS, FEW = 5, 10
"""Numbers are cut into so many parts, unless there are but a few different ones, which are segments themselves."""

SAMPLE = 1 << 16
"""About so many numbers, which a hash chooses, tell where to cut."""

OTHER, MISSING = "(other)", "(missing)"
"""What values are called that are too many, and rows that have none."""

SPEC = re.compile(r"(.+):(\d+)")


class By(NamedTuple):
    """A column whose values are segments, and into how many parts its numbers are cut, if that was said."""

    column: str
    parts: int | None

    @classmethod
    def of(cls, text: str, columns: Iterable[str]) -> "By":
        """Return what a text such as "device" or "age:5" names; a column that is called so comes first."""
        found = None if text in columns else SPEC.fullmatch(text)
        if found is None:
            return cls(text, None)
        if not 2 <= int(found[2]) <= MOST:
            shown = messages.show(text)
            raise ParameterError(f"`by` must cut numbers into 2 to {MOST} parts, as in `age:5`, got `{shown}`.")
        return cls(found[1], int(found[2]))


class Segmentation(NamedTuple):
    """A column as segments: how it is cut, and the segment of each row."""

    cut: "Cut"
    codes: Ints


@dataclass(frozen=True, eq=False)
class Cut:
    """How a column is cut: at `edges`, or by its values, of which `merged` are in one segment together."""

    column: str
    labels: tuple[str, ...]
    edges: Floats | None
    merged: int = 0

    def encode(self, column: pa.ChunkedArray) -> Ints:
        """Return the segment of each row."""
        places = {label: place for place, label in enumerate(self.labels)}
        missing, other = places.get(MISSING, 0), places.get(OTHER, 0)
        if self.edges is not None:
            numbers = read_numbers(column)
            return np.where(np.isnan(numbers), missing, np.searchsorted(self.edges, numbers))
        found = [np.empty(0, dtype=np.intp)]
        for values, codes in list_values(column):
            known = [missing if one is None else places.get(one, other) for one in values]
            found.append(np.array([*known, missing], dtype=np.intp)[codes])
        return np.concatenate(found)

    @property
    def note(self) -> str | None:
        """Say what was put together, if anything was."""
        if not self.merged:
            return None
        return f"`{self.column}` has {MOST + self.merged} values; the {MOST} largest are segments, all others are one"


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """What some rows tell of a column that is to be cut; that of others can be added.

    `counts` are the rows of each value, unless there are too many; `numbers` are those of a sample of the rows.
    """

    rows: int
    missing: int
    counts: Mapping[str, int] | None
    numbers: Floats
    row_numbers: Ints
    is_ordered: bool

    @classmethod
    def of(cls, column: pa.ChunkedArray, row_numbers: Ints) -> "ColumnSummary":
        """Return what some rows tell."""
        rows, nothing = len(column), np.empty(0)
        if is_number(column.type):
            numbers = read_numbers(column)
            there = np.flatnonzero(~np.isnan(numbers))
            kept = there[sample_least(row_numbers[there], SAMPLE)]
            counts = count_numbers(numbers[there])
            return cls(rows, rows - len(there), counts, numbers[kept], row_numbers[kept], is_ordered=True)
        counts = Counter()
        for values, codes in list_values(column):
            times = np.bincount(codes, minlength=len(values) + 1).tolist()
            counts.update({one: time for one, time in zip(values, times, strict=False) if one is not None and time})
        missing, is_ordered = rows - sum(counts.values()), is_date(column.type)
        return cls(rows, missing, limit_counts(counts), nothing, nothing.astype(np.intp), is_ordered)

    def __add__(self, other: "ColumnSummary") -> "ColumnSummary":
        counts = None
        if self.counts is not None and other.counts is not None:
            counts = limit_counts(Counter(self.counts) + Counter(other.counts))
        row_numbers = np.concatenate([self.row_numbers, other.row_numbers])
        kept, numbers = sample_least(row_numbers, SAMPLE), np.concatenate([self.numbers, other.numbers])
        rows, missing = self.rows + other.rows, self.missing + other.missing
        return ColumnSummary(rows, missing, counts, numbers[kept], row_numbers[kept], self.is_ordered)

    def learn(self, by: By) -> Cut:
        """Return how the column is cut, once all rows told."""
        name, present = messages.show(by.column), self.rows - self.missing
        if not present:
            raise DataError(f"`by` column `{name}` must hold values, got none in all {self.rows} rows.")
        has_numbers, gaps = len(self.numbers) > 0, (MISSING,) if self.missing else ()
        if by.parts is not None and not has_numbers:
            raise ParameterError(f"`by` must cut a column of numbers into parts, got `{name}:{by.parts}` of others.")
        is_few = self.counts is not None and len(self.counts) <= FEW
        if has_numbers and (by.parts is not None or not is_few):
            edges = find_edges(self.numbers, by.parts or PARTS)
            return Cut(by.column, (*name_parts(edges), *gaps), edges)
        known = self.counts
        if known is None or (len(known) > MOST and 2 * len(known) > present):
            got = "as many as an identifier has" if known is None else f"{len(known)} in {self.rows} rows"
            way = "Name one that many rows share"
            raise DataError(f"`by` column `{name}` must have few different values, got {got}. {way}.")
        ranked = sorted(known, key=lambda one: (-known[one], one))
        kept, merged = ranked[:MOST], len(ranked[MOST:])
        kept = sorted(kept, key=float if has_numbers else str) if self.is_ordered else kept
        return Cut(by.column, (*kept, *((OTHER,) if merged else ()), *gaps), None, merged)


@dataclass(frozen=True, eq=False)
class BySummary:
    """What some rows tell of all columns that are to be cut; that of others can be added."""

    columns: tuple[ColumnSummary, ...]

    @classmethod
    def of(cls, several: Sequence[By], table: pa.Table, row_numbers: Ints | None = None) -> "BySummary":
        """Return what the rows of a table tell."""
        numbers = np.arange(table.num_rows) if row_numbers is None else row_numbers
        return cls(tuple(ColumnSummary.of(table.column(one.column), numbers) for one in several))

    def __add__(self, other: "BySummary") -> "BySummary":
        return BySummary(tuple(one + two for one, two in zip(self.columns, other.columns, strict=True)))

    def learn(self, several: Sequence[By]) -> tuple[Cut, ...]:
        """Return how each column is cut."""
        return tuple(summary.learn(by) for summary, by in zip(self.columns, several, strict=True))


def is_number(kind: pa.DataType) -> bool:
    """Say whether a column is of numbers that can be cut into parts."""
    return is_numeric(kind) and not pa.types.is_boolean(kind)


def require_values(name: str, kind: pa.DataType) -> None:
    """Refuse a column of lists or of anything else whose values are no segments."""
    if not (is_numeric(kind) or is_categorical(kind) or is_date(kind)):
        rule = "hold text, categories, numbers, booleans or dates"
        raise DataError(f"`by` column `{messages.show(name)}` must {rule}, got {kind}.")


def read_numbers(column: pa.ChunkedArray) -> Floats:
    """Return numbers, NaN where there is none."""
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def list_values(column: pa.ChunkedArray) -> list[tuple[list[str | None], Ints]]:
    """Return the different values of each chunk as texts, and the place of each row's; dates by their months."""
    if is_number(column.type):
        numbers = read_numbers(column)
        known, codes = np.unique(numbers, return_inverse=True)
        return [([None if np.isnan(one) else write_number(one) for one in known.tolist()], codes)]
    if is_date(column.type):
        seconds = column.cast(pa.timestamp("s", getattr(column.type, "tz", None)), safe=False)
        months = np.asarray(seconds.cast(pa.int64()).to_numpy(), dtype="datetime64[s]").astype("datetime64[M]")
        known, codes = np.unique(months, return_inverse=True)
        return [([None if np.isnat(one) else str(one) for one in known], codes)]
    column = column.cast(pa.string()) if pa.types.is_boolean(column.type) else column
    return [read_chunk(one) for one in encode_chunks(column)]


def write_number(number: float) -> str:
    """Return a number as text, a whole one without a point."""
    return str(int(number)) if number == np.floor(number) and abs(number) < 1e15 else repr(number)


def count_numbers(numbers: Floats) -> Mapping[str, int] | None:
    """Return the rows of each number, or nothing if these are more than a few."""
    known, counts = np.unique(numbers, return_counts=True)
    return None if len(known) > FEW else dict(zip(map(write_number, known.tolist()), counts.tolist(), strict=True))


def find_edges(numbers: Floats, parts: int) -> Floats:
    """Return where numbers are cut into parts of equally many rows, or fewer parts where many are equal.

    >>> find_edges(np.arange(10.0), 5)
    array([1., 3., 5., 7.])
    """
    shares = np.arange(1, parts) / parts
    edges = np.unique(np.quantile(numbers, shares, method="inverted_cdf"))
    return freeze(edges[edges < numbers.max()])


def name_parts(edges: Floats) -> tuple[str, ...]:
    """Return what the parts between edges are called, by as many digits as tell them apart.

    >>> name_parts(np.array([30.0, 45.5]))
    ('up to 30', '30 to 45.5', 'above 45.5')
    """
    if not len(edges):
        return ("all",)
    texts = next(
        found
        for digits in range(4, 18)
        if len(set(found := [f"{one:.{digits}g}" for one in edges.tolist()])) == len(edges)
    )
    between = (f"{low} to {high}" for low, high in pairwise(texts))
    return (f"up to {texts[0]}", *between, f"above {texts[-1]}")


def resolve_by(texts: Sequence[str], columns: Sequence[str]) -> tuple[By, ...]:
    """Return the columns that texts name, each once."""
    found = tuple(By.of(one, columns) for one in texts)
    twice = [name for name, count in Counter(one.column for one in found).items() if count > 1]
    if twice:
        raise ParameterError(f"`by` must name each column once, got `{messages.show(twice[0])}` more than once.")
    return found


def read_segments(given: Any, rows: int, index: Any, check: Checker) -> tuple[Segmentation, ...]:
    """Return the segments of a log in memory, from columns by their names; or as they are, if they are known."""
    if given is None or isinstance(given, tuple):
        return given or ()
    if not hasattr(given, "items"):
        rule = "a mapping of names to columns, such as {'device': device}"
        raise ParameterError(f"`by` must be {rule}, got {messages.shorten(given)}.")
    values = {str(name): as_column(str(name), align_rows("by", one, index, check)) for name, one in given.items()}
    several, found = resolve_by(list(values), []), []
    for by, (name, column) in zip(several, values.items(), strict=True):
        if len(column) != rows:
            shown = messages.show(name)
            raise DataError(f"`by` column `{shown}` must have one entry per row ({rows}), got {len(column)}.")
        require_values(by.column, column.type)
        cut = ColumnSummary.of(column, np.arange(rows)).learn(by)
        found.append(Segmentation(cut, freeze(cut.encode(column))))
    return tuple(found)


def as_column(name: str, value: Any) -> pa.ChunkedArray:
    """Return values of any kind as a column of Arrow; objects of several kinds as their texts."""
    if hasattr(value, "__arrow_c_stream__"):
        return pa.chunked_array(value)
    if np.ndim(value) != 1:
        raise DataError(
            f"`by` column `{messages.show(name)}` must be one value per row, got {messages.shorten(value)}."
        )
    try:
        found = value if isinstance(value, (pa.Array, pa.ChunkedArray)) else pa.array(value, from_pandas=True)
    except (TypeError, ValueError, pa.ArrowException):
        found = pa.array([None if one is None else str(one) for one in value])
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
