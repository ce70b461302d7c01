"""From columns of the context, of text, dates or with gaps, to numbers; the same on every engine.

All rows are summed up first (`ContextSummary`), then it is learnt from these sums how each column becomes numbers.
"""

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from counterfold.base.arrays import Floats
from counterfold.base.errors import DataError
from counterfold.base.validation import Checker
from counterfold.log.encoding.base import COLUMNS, LEVELS, ColumnEncoding, Summary
from counterfold.log.encoding.dates import DateSums
from counterfold.log.encoding.kinds import is_bytes, is_categorical, is_date, is_numeric, is_text, make_plain
from counterfold.log.encoding.levels import LevelCounts
from counterfold.log.encoding.numbers import NumberSums
from counterfold.log.encoding.spoilt_numbers import find_spoilt_numbers

__all__ = [
    "ColumnEncoding",
    "ContextSummary",
    "EncodedContext",
    "Part",
    "Summary",
    "choose_summary",
    "encode_table",
    "note_encodings",
    "read_frame",
]


REMEDY = "nothing need be done, unless they mean something else: then make numbers of them, or put them into `ignore`"


def choose_summary(name: str, column: pa.ChunkedArray) -> type[Summary]:
    """Return how a column is summed up, by its type; text most of which are numbers is read as such."""
    kind = column.type
    if is_text(kind) or is_bytes(kind):
        return NumberSums if find_spoilt_numbers(pa.table({name: column}), [name]) else LevelCounts
    if is_categorical(kind):
        return LevelCounts
    if is_date(kind):
        return DateSums
    if is_numeric(kind) or pa.types.is_null(kind):
        return NumberSums
    raise DataError(f"column `{name}` must be numbers, text or dates, got {kind}.")


@dataclass(frozen=True, eq=False)
class ContextSummary:
    """What some rows tell of each column of the context; what others tell can be added."""

    columns: Mapping[str, Summary]

    @classmethod
    def of(cls, kinds: Mapping[str, type[Summary]], table: pa.Table, check: Checker) -> Self:
        """Return what the rows of a table tell of its columns."""
        return cls({name: kind.of(name, table.column(name), check) for name, kind in kinds.items()})

    def __add__(self, other: "ContextSummary") -> "ContextSummary":
        return ContextSummary({name: one + other.columns[name] for name, one in self.columns.items()})

    @property
    def is_plain(self) -> bool:
        """Say whether all columns are numbers, none of which is missing."""
        return all(one.is_plain for one in self.columns.values())

    @property
    def levels(self) -> int:
        """Return how many values of a text may have a column each: fewer where there are many texts."""
        texts = sum(one.has_levels for one in self.columns.values())
        return max(2, min(LEVELS, COLUMNS // max(texts, 1)))

    def explain(self) -> dict[str, str]:
        """Return which columns are not taken for context by themselves, and why."""
        reasons = {name: one.explain_gaps() or one.explain(self.levels) for name, one in self.columns.items()}
        return {name: why for name, why in reasons.items() if why is not None}

    def without(self, names: Collection[str]) -> "ContextSummary":
        """Return the same without some columns."""
        return ContextSummary({name: one for name, one in self.columns.items() if name not in names})

    def learn(self) -> dict[str, ColumnEncoding]:
        """Return how each column becomes numbers."""
        return {name: one.learn(name, self.levels) for name, one in self.columns.items()}


def note_encodings(encodings: Sequence[ColumnEncoding]) -> list[tuple[str, str]]:
    """Return what was done to columns of the context, and what to do about it; nothing if they stayed as they were."""
    if not encodings:
        return []
    what = "; ".join(one.describe() for one in encodings)
    return [(f"columns of the context were made numbers: {what}", REMEDY)]


class Part(NamedTuple):
    """A column of the context as numbers: its name, and those that it became, by name."""

    source: str
    outputs: Sequence[str]
    values: Sequence[Floats]


@dataclass(frozen=True, eq=False)
class EncodedContext:
    """The context as numbers (n x d), the name of each column, and that of the column that it comes from.

    `encodings` are those of columns that did not stay as they were, by name.
    """

    values: Floats
    column_names: tuple[str, ...]
    sources: tuple[str, ...]
    encodings: Mapping[str, ColumnEncoding] = field(default_factory=dict)

    @classmethod
    def of(cls, parts: Sequence[Part], rows: int, encodings: Mapping[str, ColumnEncoding]) -> Self:
        """Return the context of so many rows from its columns."""
        sources = tuple(part.source for part in parts for _ in part.outputs)
        names = tell_apart([name for part in parts for name in part.outputs], sources)
        columns = [column for part in parts for column in part.values]
        values = np.column_stack(columns) if columns else np.empty((rows, 0))
        changed = {name: one for name, one in encodings.items() if one.outputs != (name,)}
        return cls(values, names, sources, changed)

    @property
    def fields(self) -> tuple[Floats, tuple[str, ...], tuple[str, ...], Mapping[str, ColumnEncoding]]:
        """Return all that is known, in order."""
        return self.values, self.column_names, self.sources, self.encodings

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001 (numpy's)
        return self.values


def tell_apart(names: Sequence[str], sources: Sequence[str]) -> tuple[str, ...]:
    """Return names, with a number behind one that is called like a column that stayed as it was, or like another.

    >>> tell_apart(["city=Paris", "city=Rome", "city=Paris"], ["city", "city", "city=Paris"])
    ('city=Paris #2', 'city=Rome', 'city=Paris')
    """
    taken = {name for name, source in zip(names, sources, strict=True) if name == source}
    found = []
    for name, source in zip(names, sources, strict=True):
        free, number = name, 2
        while name != source and free in taken:
            free, number = f"{name} #{number}", number + 1
        taken.add(free)
        found.append(free)
    return tuple(found)


def read_frame(value: Any) -> pa.Table | None:
    """Return a data frame as a table, without an index of pandas; nothing of anything else.

    A frame is what has the Arrow stream protocol; columns that hold text and numbers have no type there.
    """
    has_names = hasattr(value, "columns") or hasattr(value, "column_names")
    if not hasattr(value, "__arrow_c_stream__") or not has_names:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names of columns that are numbers, which become text
            table = pa.table(value)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, np.ma.MAError):
        return None
    names = list(map(str, value.column_names if hasattr(value, "column_names") else value.columns))
    if not set(names) <= set(table.column_names) or len(set(names)) < len(names):
        return None
    table = table.select(names)
    return table.cast(pa.schema([field.with_type(make_plain(field.type)) for field in table.schema]))


def encode_table(table: pa.Table, check: Checker) -> EncodedContext:
    """Return the columns of a table as numbers, as its own rows tell."""
    kinds = {name: choose_summary(name, table.column(name)) for name in table.column_names}
    encodings = ContextSummary.of(kinds, table, check).learn()
    parts = [Part(name, one.outputs, one.encode(table.column(name), check)) for name, one in encodings.items()]
    return EncodedContext.of(parts, table.num_rows, encodings)
