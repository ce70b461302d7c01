"""Times: when decisions were made, from dates, timestamps, text of either, or numbers."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfold import messages
from counterfold.arrays import Floats
from counterfold.checks import FIRST, LARGEST, NUMBER, Checker, freeze
from counterfold.errors import DataError

UNITS = {1e6: "seconds", 1e3: "milliseconds", 1.0: "microseconds", 1e-3: "nanoseconds"}
"""The units in which numbers may count from 1970 on, by how many microseconds each has."""

FIRST_NUMBER, LAST_NUMBER = 946_684_800e6, 4_102_444_800e6
"""Numbers are times if they lie in 2000 to 2099 in some unit, here microseconds; others tell the order alone."""

MOST = 0.5
"""Numbers are times if more than this share of the first ones are; then all must be."""

FROM, TO = 31_536_000e6, 7_258_118_400e6
"""Times before 1971 or after 2199 stand for missing ones, or were made by reading numbers in a wrong unit."""

ZONE = re.compile(r".{10,}(Z|[+-]\d\d(:?\d\d)?)", re.ASCII)
"""Text of a time with a zone; the hyphens of a day alone are no zone."""

MISSING = ("", "NaT", "nan", "None", "null")
"""Text that stands for a missing time."""

KINDS = "dates, timestamps, text such as 2024-01-31 or 2024-01-31T12:30:00Z, or numbers"
COMPLETE = " Leave out rows without one, write when they were decided, or name the column in `ignore`."
ZONES = " Either all times have a zone, or none has."
WHOLE_DAYS = " Write the year first, and the day with the time."
WRONG_UNIT = " Were seconds read as milliseconds, or does it stand for a missing time?"


@dataclass(frozen=True, eq=False)
class Times:
    """When each decision was made: microseconds since 1970 in UTC, or numbers that tell the order alone.

    Times without a zone are taken as they are written. Microseconds of all days from 1971 to 2199 are whole numbers
    that a float holds exactly.
    """

    values: Floats
    has_days: bool


class Clock(NamedTuple):
    """How times are written, as the first rows tell: as numbers in a `unit`, if in any, or as text with a zone.

    Numbers are a calendar's if they are days such as 20240131.
    """

    is_number: bool = False
    unit: float | None = None
    has_zone: bool = False
    is_calendar: bool = False

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> "Clock":
        """Return how the times of a column are written that begins like this one."""
        try:
            first = normalise(column.slice(0, FIRST)).drop_null()
        except TypeError:  # whoever reads the column says what it is
            return cls()
        if not len(first) or pa.types.is_timestamp(first.type):
            return cls()
        if pa.types.is_string(first.type) and not NUMBER.fullmatch(first[0].as_py()):
            return cls(has_zone=ZONE.fullmatch(first[0].as_py()) is not None)
        numbers = np.array([float(one) for one in first.to_pylist() if NUMBER.fullmatch(str(one))])
        numbers = np.clip(numbers, -LARGEST, LARGEST)
        if np.isfinite(read_days(numbers)).mean() > MOST:
            return cls(is_number=True, is_calendar=True)
        inside = [np.mean((numbers * unit >= FIRST_NUMBER) & (numbers * unit < LAST_NUMBER)) for unit in UNITS]
        return cls(is_number=True, unit=list(UNITS)[int(np.argmax(inside))] if max(inside) > MOST else None)


def as_column(value: Any) -> pa.ChunkedArray:
    """Return times of any kind as a column of Arrow; objects of Python as their text, which is ISO for dates."""
    if isinstance(value, pa.Array):
        return pa.chunked_array([value])
    if hasattr(value, "__arrow_c_stream__"):
        return pa.chunked_array(value)
    if not hasattr(value, "dtype") or value.dtype == object:
        value = np.array([None if one is None else str(one) for one in value], dtype=object)
    elif isinstance(value, np.ndarray) and value.dtype.kind == "M":
        value = value.astype("datetime64[us]")
    found = pa.array(value, from_pandas=True)
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def is_date(kind: pa.DataType) -> bool:
    """Say whether a type is a date or a timestamp."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def holds_dates(column: pa.ChunkedArray) -> bool:
    """Say whether a column holds dates or timestamps, or texts of which the first one is of that kind."""
    if is_date(column.type):
        return True
    first = [one.as_py() for one in column.slice(0, FIRST) if one.is_valid][:1]
    return any(isinstance(one, str) and is_written_date(one.strip()) for one in first)


def normalise(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return times as timestamps, as text without spaces around it, or as floats; refuse any other type."""
    if pa.types.is_dictionary(column.type):
        column = pa.chunked_array([pa.array(column.to_pylist(), column.type.value_type)])
    kind = column.type
    if is_date(kind):
        return column.cast(pa.timestamp("us", kind.tz if pa.types.is_timestamp(kind) else None), safe=False)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        numbers = column.cast(pa.float64(), safe=False)
        return pc.if_else(pc.is_nan(numbers), None, numbers)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        raise TypeError(str(kind))
    texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
    return pc.if_else(pc.is_in(texts, pa.array(MISSING)), None, texts)


def read_times(value: Any, rows: int, check: Checker, clock: Clock | None = None) -> Times | None:
    """Return when each row was decided, if that is given, written as a clock tells, or else as the first rows do."""
    if value is None or isinstance(value, Times):
        return value
    try:
        column = as_column(value)
        clock = Clock.of(column) if clock is None else clock
        column = normalise(column)
    except (TypeError, ValueError, pa.ArrowException):
        got = str(value.type) if isinstance(value, (pa.Array, pa.ChunkedArray)) else messages.shorten(value)
        raise DataError(f"{check.called('time')} must be {KINDS}, got {got}.") from None
    if len(column) != rows:
        raise DataError(f"{check.called('time')} must have one entry per row ({rows}), got {len(column)}.")
    if column.null_count:
        nothing = np.full(rows, "nothing")
        check.every("time", nothing, column.is_valid().to_numpy(), "a date or time in every row", COMPLETE)
    if clock.is_number:
        return read_numbers(column, clock, check)
    stamps = parse_texts(column, clock, check) if pa.types.is_string(column.type) else column
    values = stamps.cast(pa.int64()).to_numpy().astype(np.float64)
    good = (values >= FROM) & (values < TO)
    if not good.all():
        check.every("time", values.astype("datetime64[us]").astype(str), good, "in 1971 to 2199", WRONG_UNIT)
    return Times(freeze(values), has_days=True)


def read_numbers(column: pa.ChunkedArray, clock: Clock, check: Checker) -> Times:
    """Return times that are numbers: in a unit, or in order alone."""
    numbers = check.numbers("time", column.to_numpy(), len(column))
    if clock.is_calendar:
        days = read_days(numbers)
        check.every("time", numbers, np.isfinite(days), "days such as 20240131, as in the first rows", COMPLETE)
        return Times(freeze(days), has_days=True)
    if clock.unit is None:
        return Times(numbers, has_days=False)
    values = np.floor(numbers * clock.unit)
    good = (values >= FIRST_NUMBER) & (values < LAST_NUMBER)
    check.every("time", numbers, good, f"{UNITS[clock.unit]} from 2000 to 2099, as in the first rows", COMPLETE)
    return Times(freeze(values), has_days=True)


def read_days(numbers: Floats) -> Floats:
    """Return the microseconds of days from 2000 to 2099 that are written as 20240131, NaN where a number is none.

    >>> np.isfinite(read_days(np.array([20240229.0, 20230229.0, 20241301.0, 7.0])))
    array([ True, False, False, False])
    """
    year, rest = np.divmod(np.clip(numbers, 0, 1e9), 10_000)
    month, day = np.divmod(rest, 100)
    good = (year >= 2000) & (year < 2100) & (month >= 1) & (month <= 12) & (day >= 1) & (day % 1 == 0)
    months = np.where(good, (year - 1970) * 12 + month - 1, 0).astype(np.intp).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(good, day - 1, 0).astype(np.intp)
    good &= days.astype("datetime64[M]") == months
    return np.where(good, days.astype("datetime64[us]").astype(np.float64), np.nan)


def parse_texts(column: pa.ChunkedArray, clock: Clock, check: Checker) -> pa.ChunkedArray:
    """Return texts as timestamps; all have a zone, or none has, as in the first rows."""
    kind = pa.timestamp("ns", "UTC" if clock.has_zone else None)
    try:
        return column.cast(kind).cast(pa.timestamp("us", kind.tz), safe=False)
    except pa.ArrowInvalid:
        texts = np.array(column.to_pylist(), dtype=object)
        known = {text: can_cast(text, kind) for text in set(texts.tolist())}
        good = np.array([known[text] for text in texts])
        example = "2024-01-31T12:30:00Z" if clock.has_zone else "2024-01-31 or 2024-01-31T12:30:00"
        other = pa.timestamp("ns", None if clock.has_zone else "UTC")
        hint = ZONES if any(can_cast(text, other) for text, is_good in known.items() if not is_good) else WHOLE_DAYS
        shown = np.array(list(map(messages.shorten, texts)))
        check.every("time", shown, good, f"text such as {example}, in 1971 to 2199", hint)
        raise  # what the whole column cannot be, some text of it cannot be


def can_cast(text: str, kind: pa.DataType) -> bool:
    """Say whether a text can be read."""
    try:
        pa.scalar(text).cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def is_written_date(text: str) -> bool:
    """Say whether a text is a date or a timestamp, with a zone or without one."""
    return any(can_cast(text, pa.timestamp("ns", zone)) for zone in (None, "UTC"))
