"""Columns of days or points in time: days since the first one, the day of the week and the hour."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Bools, Floats
from counterfold.base.errors import DataError
from counterfold.base.messages import show
from counterfold.base.validation import Checker
from counterfold.log.encoding.base import MISSING, ColumnEncoding, Split, Summary, split_number
from counterfold.log.encoding.kinds import is_date

if TYPE_CHECKING:
    from counterfold.log.records import EncodingRecord

PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
"""How many units of Arrow's points in time a day has."""

THURSDAY = 3
"""The day of the week with which 1970 began, if Monday is 0."""

PARTS = ("days since the first", "weekday", "hour")

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class DateEncoding(ColumnEncoding):
    """Days since the `first`, and the day of the week and the hour if they `vary`; means where a date is missing."""

    first: float
    vary: tuple[bool, ...]
    fill: tuple[float, ...]
    holds_dates = True

    @property
    def outputs(self) -> tuple[str, ...]:
        known = [f"{self.name}: {part}" for part, varies in zip(PARTS, self.vary, strict=True) if varies]
        return (*known, self.indicator) if self.missing else tuple(known)

    @property
    def labels(self) -> tuple[str, ...]:
        return ("there", "missing") if self.missing else ()

    def encode(self, column: pa.ChunkedArray, check: Checker) -> Sequence[Floats]:
        parts, gaps = split_dates(self._require_dates(column))
        parts[0] -= self.first
        filled = np.where(gaps, np.array(self.fill)[:, None], parts)
        known = [part for part, varies in zip(filled, self.vary, strict=True) if varies]
        return [*known, gaps.astype(np.float64)] if self.missing else known

    def _require_dates(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return a column of dates, which may be missing everywhere if some were before."""
        if pa.types.is_null(column.type) and self.missing:
            return column.cast(pa.timestamp("us"))
        if not is_date(column.type):
            got = "none" if pa.types.is_null(column.type) else column.type
            raise DataError(f"column `{show(self.name)}` must be dates, got {got}.")
        return column

    def restore(self, columns: Sequence[Floats], rows: int) -> pa.Array:
        moments = np.round((columns[0] + self.first) * PER_DAY["ms"]).astype(np.int64)  # finer ones may be rounded off
        gaps = columns[-1] == 1 if self.missing else np.zeros(rows, dtype=bool)
        return pa.array(moments, mask=gaps).cast(pa.timestamp("ms"))

    def tell_value_split(self, place: int, threshold: float) -> Split:
        part = [number for number, varies in enumerate(self.vary) if varies][place]
        name, last = show(self.name), int(np.floor(threshold))
        if part == 0:
            moment = write_moment(self.first + threshold, self.vary[2])
            return Split(f"{name} is {moment} or before", f"{name} is after {moment}")
        if self.missing:  # gaps have the mean, which is no weekday and no hour
            return split_number(show(self.outputs[place]), threshold)
        if part == 1:
            days = f"{WEEKDAYS[0]} to {WEEKDAYS[last]}" if last else WEEKDAYS[0]
            return Split(f"{name} is on {days}", f"{name} is not on {days}")
        return Split(f"{name} is before {last + 1}:00", f"{name} is not before {last + 1}:00")

    def describe(self) -> str:
        known = [part for part, varies in zip(PARTS, self.vary, strict=True) if varies]
        gaps = f", {self.gaps}" if self.missing else ""
        return f"`{self.name}` by {', '.join(known)}{gaps}"

    def to_dict(self) -> "EncodingRecord":
        return {"kind": "dates", "missing": self.missing, "first_day": self.first}


@dataclass(frozen=True, eq=False)
class DateSums(Summary):
    """The ends and the sums of the days since 1970, the days of the week and the hours (3 each)."""

    rows: int
    missing: int
    low: Floats
    high: Floats
    total: Floats

    @classmethod
    def of(cls, name: str, column: pa.ChunkedArray, check: Checker) -> Self:
        parts, gaps = split_dates(column)
        known = parts[:, ~gaps]
        ends = known.min(axis=1, initial=np.inf), known.max(axis=1, initial=-np.inf)
        return cls(len(gaps), int(gaps.sum()), *ends, known.sum(axis=1))

    def __add__(self, other: "DateSums") -> "DateSums":
        ends = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return DateSums(self.rows + other.rows, self.missing + other.missing, *ends, self.total + other.total)

    def explain(self, levels: int) -> str | None:
        return MISSING if self.missing == self.rows else None

    def learn(self, name: str, levels: int) -> DateEncoding:
        if self.missing == self.rows:
            raise DataError(f"`context` column `{name}` must hold dates, got none in all {self.rows} rows.")
        fill = self.total / (self.rows - self.missing) - [self.low[0], 0, 0]
        vary = (True, *(self.low < self.high).tolist()[1:])
        return DateEncoding(name, self.rows, self.missing, float(self.low[0]), vary, tuple(fill.tolist()))


def write_moment(day: float, has_hours: bool) -> str:  # noqa: FBT001 (what a date has)
    """Return a day since 1970 as a date, and the time of day where dates have one.

    >>> write_moment(19_723.5, False), write_moment(19_723.5, True)
    ('2024-01-01', '2024-01-01 12:00')
    """
    moment = np.datetime64(0, "m") + np.timedelta64(int(np.floor(day * 1440)), "m")
    return str(moment.astype("datetime64[m]" if has_hours else "datetime64[D]")).replace("T", " ")


def split_dates(column: pa.ChunkedArray) -> tuple[Floats, Bools]:
    """Return the days since 1970, the days of the week and the hours (3 x n), and where a date is missing.

    Points in time with a time zone are read in UTC. Whole days are split off first, so that the unit makes no
    difference.
    """
    kind = column.type
    gaps = column.is_null().to_numpy()
    if pa.types.is_date32(kind):
        units, per_day = column.cast(pa.int32()), 1
    else:
        units, per_day = column.cast(pa.int64()), PER_DAY["ms" if pa.types.is_date64(kind) else kind.unit]
    days, rest = np.divmod(units.cast(pa.int64()).fill_null(0).to_numpy(), per_day)
    return np.stack([days + rest / per_day, (days + THURSDAY) % 7, rest * 24 // per_day]).astype(
        np.float64
    ), np.asarray(gaps)
