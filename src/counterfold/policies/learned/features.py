"""Features: from contexts as users have them to the numbers that a policy was learnt from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Floats
from counterfold.base.errors import DataError
from counterfold.base.messages import list_names, shorten, show
from counterfold.base.validation import LARGEST, WHOLE, Checker
from counterfold.log.encoding import ColumnEncoding
from counterfold.log.encoding.base import Split, split_number
from counterfold.log.encoding.kinds import is_text
from counterfold.log.encoding.lists import spread_lists
from counterfold.log.encoding.numbers import convert_numbers
from counterfold.log.log import Log
from counterfold.log.times import MISSING, OUTSIDE, PLAIN, ZONED, read_moments
from counterfold.policies.learned.contexts import NamedColumns, count_rows


@dataclass(frozen=True, eq=False)
class Features:
    """The columns of a context: their names as users have them, how those are encoded that are no plain numbers.

    `columns` are the names of the numbers that they become. `are_named` is False if they came as a plain matrix.
    """

    names: list[str]
    columns: list[str]
    encodings: dict[str, ColumnEncoding]
    are_named: bool

    @classmethod
    def of(cls, log: Log) -> "Features":
        """Return the features of a log's context."""
        names = list(dict.fromkeys(log.context_sources))
        encodings = {name: one for name, one in log.encodings.items() if name in names}
        are_named = not names or names != [str(place) for place in range(len(names))] or bool(encodings)
        return cls(names, list(log.context_names), encodings, are_named)

    @property
    def is_sound(self) -> bool:
        """Say whether names, columns and encodings fit together; they may come from a file that is damaged."""
        are_texts = all(isinstance(one, str) for one in (*self.names, *self.columns, *self.encodings))
        are_encodings = all(isinstance(one, ColumnEncoding) for one in self.encodings.values())
        return are_texts and are_encodings and len(self.sources) == len(self.columns)

    @property
    def sources(self) -> list[str]:
        """Return which column of the users each of the `columns` comes from, in words: a matrix has no names."""
        several = [self.encodings[name].outputs if name in self.encodings else (name,) for name in self.names]
        named = zip(map(self.name_column, self.names), several, strict=True)
        return [name for name, outputs in named for _ in outputs]

    @property
    def shown(self) -> list[str]:
        """Return the `columns` as people read them in sums: what is 1 or 0 is a statement that holds or not."""
        told = [(name, split(0.5)) for name, split in zip(self.columns, self.splits, strict=True)]
        return [self.name_column(name) if split.holds_below else f"({split.words})" for name, split in told]

    @property
    def splits(self) -> list[Callable[[float], Split]]:
        """Return for each of the `columns` what a split of it at a threshold means."""
        found: list[Callable[[float], Split]] = []
        for name in self.names:
            one = self.encodings.get(name)
            if one is None:
                found.append(partial(split_number, self.name_column(name)))
            else:
                found += [partial(one.tell_split, place) for place in range(len(one.outputs))]
        return found

    def name_column(self, name: str) -> str:
        """Return the name of a column as people read it; one of a matrix has a number only."""
        return show(name) if self.are_named else f"column {name}"

    def encode(self, context: Any, check: Checker = WHOLE) -> Floats:
        """Return contexts as the numbers that were learnt from: a data frame or a mapping by names, or a matrix."""
        if not self.names:
            return np.empty((count_rows(context), 0))
        columns = NamedColumns.of(context)
        numbers = self._read_matrix(context) if columns is None else self._encode_table(columns, check)
        is_good = np.abs(numbers) <= LARGEST
        if not is_good.all():
            row, column = np.argwhere(~is_good)[0].tolist()
            got = f"got others in `{self.sources[column]}`, first at row {check.row(row)}"
            way = "Fill gaps as the log did that it was learnt from, which had none"
            raise DataError(f"`context` must be finite numbers, {got}. {way}.")
        return numbers

    def explain_strangers(self, context: Any, check: Checker) -> str | None:
        """Say so if contexts cannot be of the kind that was learnt from, because of the values of some text."""
        columns = NamedColumns.of(context)
        return None if columns is None else self._find_strangers(self._read_table(columns, check))

    def _find_strangers(self, table: pa.Table) -> str | None:
        reasons = (self.encodings[name].explain_strangers(table.column(name)) for name in self.encodings)
        return next(filter(None, reasons), None)

    def _read_table(self, columns: NamedColumns, check: Checker) -> pa.Table:
        table = spread_lists(columns.read(self.names), self.names, check)
        columns.require(table, self.names)
        return table

    def _encode_table(self, columns: NamedColumns, check: Checker) -> Floats:
        table = self._read_table(columns, check)
        reason = None if check.is_part else self._find_strangers(table)  # others may have values that are known
        if reason is not None:
            raise DataError(reason)
        parts = [self._encode_column(name, table.column(name), check) for name in self.names]
        return np.column_stack([column for part in parts for column in part])

    def _encode_column(self, name: str, column: pa.ChunkedArray, check: Checker) -> Sequence[Floats]:
        encoding = self.encodings.get(name)
        if encoding is None:
            return [convert_numbers(name, column, check)]
        return encoding.encode(read_dates(name, column, check) if encoding.holds_dates else column, check)

    def _read_matrix(self, context: Any) -> Floats:
        wanted = (
            f"a data frame with {len(self.names)} columns" if self.are_named else f"rows of {len(self.names)} numbers"
        )
        if self.are_named and self.encodings:
            raise DataError(f"`context` must be {wanted}, {list_names(self.names)}, got {shorten(context)}.")
        try:
            array = np.asarray(context, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.ndim != 2 or array.shape[1] != len(self.names):
            got = f"shape {array.shape}" if array.size or array.ndim == 2 else shorten(context)
            raise DataError(f"`context` must be {wanted}, got {got}.")
        return array


def read_dates(name: str, column: pa.ChunkedArray, check: Checker) -> pa.ChunkedArray:
    """Return a column of dates; text is read as such, as where files are read."""
    if not is_text(column.type):
        return column
    found = read_moments(name, column, check)
    is_good = np.isin(found.ways, [PLAIN, ZONED, OUTSIDE, MISSING])
    rule = "dates, as those that the policy was learnt from"
    replace(check, names={name: f"column `{show(name)}`"}).every(name, np.array(column.to_pylist()), is_good, rule)
    gaps = found.ways == MISSING
    moments = pa.array(np.where(gaps, 0, found.values).astype(np.int64), mask=gaps)
    return pa.chunked_array([moments.cast(pa.timestamp("us"))])
