"""Columns of numbers: a missing one is filled in with the mean, and a second column says where."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Floats
from counterfold.base.errors import DataError, MissingNumbersError
from counterfold.base.validation import WHOLE, Checker
from counterfold.log.encoding.base import MISSING, ColumnEncoding, Summary
from counterfold.log.encoding.kinds import is_bytes, is_numeric, is_text

if TYPE_CHECKING:
    from counterfold.log.records import EncodingRecord

FILL = "Fill it in, or leave the column out (`ignore`, --ignore)"


@dataclass(frozen=True)
class NumberEncoding(ColumnEncoding):
    """Numbers as they are, with `fill` in place of those that are missing."""

    fill: float = np.nan

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.name, self.indicator) if self.missing else (self.name,)

    @property
    def labels(self) -> tuple[str, ...]:
        return ("there", "missing") if self.missing else ()

    @property
    def is_number(self) -> bool:
        return True

    def encode(self, column: pa.ChunkedArray, check: Checker) -> Sequence[Floats]:
        values = convert_numbers(self.name, column, check)
        gaps = np.isnan(values)
        if self.missing:
            return np.where(gaps, self.fill, values), gaps.astype(np.float64)
        if gaps.any():
            place = int(np.argmax(gaps))
            rows = f"{int(gaps.sum())} of {len(gaps)} rows, first at row {check.row(place)}"
            raise MissingNumbersError(f"`context` column `{self.name}` must be finite, got nan in {rows}. {FILL}.")
        return (values,)

    def restore(self, columns: Sequence[Floats], rows: int) -> pa.Array:
        return pa.array(np.where(columns[1], np.nan, columns[0]) if self.missing else columns[0])

    def describe(self) -> str:
        return f"`{self.name}` by its mean where it is missing ({self.missing} of {self.rows} rows)"

    def to_dict(self) -> "EncodingRecord":
        return {"kind": "numbers", "missing": self.missing, "filled_with": self.fill}


@dataclass(frozen=True)
class NumberSums(Summary):
    """The number of rows, of missing ones and of finite ones, and the sum of these."""

    rows: int
    missing: int
    finite: int
    total: float

    @property
    def is_plain(self) -> bool:
        return not self.missing

    @classmethod
    def of(cls, name: str, column: pa.ChunkedArray, check: Checker) -> Self:
        values = convert_numbers(name, column, check)
        finite = values[np.isfinite(values)]
        return cls(len(values), int(np.isnan(values).sum()), len(finite), float(finite.sum()))

    def __add__(self, other: "NumberSums") -> "NumberSums":
        rows, missing = self.rows + other.rows, self.missing + other.missing
        return NumberSums(rows, missing, self.finite + other.finite, self.total + other.total)

    def explain(self, levels: int) -> str | None:
        return MISSING if self.rows and self.missing == self.rows else None

    def learn(self, name: str, levels: int) -> NumberEncoding:
        if self.rows and self.missing == self.rows:
            raise DataError(f"`context` column `{name}` must hold numbers, got none in all {self.rows} rows.")
        return NumberEncoding(name, self.rows, self.missing, self.total / max(self.finite, 1))


def convert_numbers(name: str, column: pa.ChunkedArray, check: Checker = WHOLE) -> Floats:
    """Return a column of numbers, NaN where a value is missing; text is read if it is a number in every row."""
    column = decode_dictionary(column)
    if is_text(column.type) or is_bytes(column.type):
        named = replace(check, names={name: f"column `{name}`"})
        return named.floats(name, np.array(column.to_pylist(), dtype=object), ndim=1)
    if not is_numeric(column.type) and not pa.types.is_null(column.type):
        raise DataError(f"column `{name}` must be numbers, got {column.type}.")
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def decode_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a dictionary; any other column as it is."""
    if not pa.types.is_dictionary(column.type):
        return column
    return pa.chunked_array([pa.array(column.to_pylist())])  # polars' dictionaries cannot be cast
