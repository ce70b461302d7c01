"""Features: from contexts as users have them to the numbers that a policy was learnt from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.arrays import Floats
from counterfold.checks import LARGEST, WHOLE, Checker
from counterfold.encoding import ColumnEncoding, read_frame
from counterfold.encoding.base import Split, split_number
from counterfold.encoding.lists import spread_lists
from counterfold.errors import DataError
from counterfold.log import Log
from counterfold.messages import list_names, shorten, show


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
        are_named = names != [str(place) for place in range(len(names))] or bool(encodings)
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
        table = self._read_table(context)
        numbers = self._read_matrix(context) if table is None else self._encode_table(table, check)
        if not (np.abs(numbers) <= LARGEST).all():
            row, column = np.argwhere(~(np.abs(numbers) <= LARGEST))[0].tolist()
            name, place, way = (
                self.sources[column],
                check.row(row),
                "Fill gaps as the log did that it was learnt from, which had none",
            )
            raise DataError(f"`context` must be finite numbers, got others in `{name}`, first at row {place}. {way}.")
        return numbers

    def _read_table(self, context: Any) -> pa.Table | None:
        if isinstance(context, Mapping):
            try:
                return pa.table({str(name): column for name, column in context.items()})
            except (pa.ArrowException, TypeError, ValueError) as error:
                reason = " ".join(str(error).split())
                raise DataError(
                    f"`context` must be columns of one length, but reading them failed: {reason}."
                ) from None
        return read_frame(context)

    def _encode_table(self, table: pa.Table, check: Checker) -> Floats:
        table = spread_lists(table, self.names, check)
        missing = [name for name in self.names if name not in table.column_names]
        if missing:
            found = list_names(table.column_names) if table.column_names else "none"
            raise DataError(
                f"`context` must have column `{show(missing[0])}`, which the policy was learnt with, got {found}."
            )
        parts = [self._encode_column(name, table.column(name), check) for name in self.names]
        columns = [column for part in parts for column in part]
        return np.column_stack(columns) if columns else np.empty((table.num_rows, 0))

    def _encode_column(self, name: str, column: pa.ChunkedArray, check: Checker) -> list[Floats]:
        if name in self.encodings:
            return list(self.encodings[name].encode(column, check))
        try:
            return [np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)]
        except pa.ArrowException:
            raise DataError(f"`context` column `{show(name)}` must be numbers, got {column.type}.") from None

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
