"""Moments: times of any kind as microseconds, which may be missing; and lengths of time."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfold.arrays import Bools, Ints
from counterfold.encoding.kinds import is_numeric, is_text
from counterfold.errors import ParameterError
from counterfold.messages import shorten

UNITS = {"seconds": 1e6, "milliseconds": 1e3, "microseconds": 1.0, "nanoseconds": 1e-3}
"""How many microseconds each unit has that numbers may be in."""

FIRST_NUMBER, LAST_NUMBER = 946_684_800e6, 4_102_444_800e6
"""Numbers are times if they lie in 2000 to 2099 in some unit, here microseconds."""

FIRST_TIME, LAST_TIME = 31_536_000 * 10**6, 7_258_118_400 * 10**6
"""Times before 1971 or after 2199 stand for missing ones, or were made by reading numbers in a wrong unit."""

ABSENT = ["", "nat", "nan", "na", "none", "null"]
"""Text, in small letters, that stands for a missing time."""

ZONED = r"\d[T ]\d.*(Z|z|[+-]\d\d(:?\d\d)?)$"
"""Text of a time with a zone."""

LENGTH = re.compile(r"\s*(\d+(?:\.\d*)?)\s*(w|weeks?|d|days?|h|hours?|m|min|minutes?|s|sec|seconds?)\s*", re.IGNORECASE)
SECONDS = {"w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1}

KINDS = "a date, a timestamp, text such as 2024-01-31 or 2024-01-31T12:30:00Z, or a number of seconds since 1970"


class Moments(NamedTuple):
    """Microseconds since 1970 of some rows, in which of them there are any, and where they cannot be read.

    `kinds` tell for each way in which times may be written which rows have such.
    """

    values: Ints
    is_there: Bools
    is_bad: Bools
    kinds: dict[str, Bools]


def read_moments(column: pa.ChunkedArray) -> Moments:
    """Return the times of a column."""
    if pa.types.is_dictionary(column.type):
        column = pa.chunked_array([pa.array(column.to_pylist(), column.type.value_type)])
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        return _read_stamps(column)
    if is_text(column.type):
        return _read_texts(column)
    if pa.types.is_null(column.type) or (is_numeric(column.type) and not pa.types.is_boolean(column.type)):
        return _read_numbers(column)
    is_there = column.is_valid().to_numpy()
    return Moments(np.zeros(len(column), dtype=np.int64), is_there, is_there, {})


def _read_stamps(column: pa.ChunkedArray) -> Moments:
    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    is_there = column.is_valid().to_numpy()
    values = _as_microseconds(column.cast(pa.timestamp("us", zone), safe=False))
    is_bad = is_there & ((values < FIRST_TIME) | (values >= LAST_TIME))
    return Moments(values, is_there, is_bad, {"without a zone" if zone is None else "with a zone": is_there})


def _read_numbers(column: pa.ChunkedArray) -> Moments:
    numbers = np.asarray(column.cast(pa.float64(), safe=False).to_numpy())
    is_there, values = ~np.isnan(numbers), np.zeros(len(numbers))
    kinds: dict[str, Bools] = {}
    for name, unit in UNITS.items():
        kinds[f"in {name} since 1970"] = inside = (numbers * unit >= FIRST_NUMBER) & (numbers * unit < LAST_NUMBER)
        values[inside] = numbers[inside] * unit
    is_good = np.any(list(kinds.values()), axis=0)
    return Moments(values.astype(np.int64), is_there, is_there & ~is_good, kinds)


def _read_texts(column: pa.ChunkedArray) -> Moments:
    texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
    texts = pc.if_else(pc.is_in(pc.utf8_lower(texts), pa.array(ABSENT)), None, texts)
    is_there = texts.is_valid().to_numpy()
    is_zoned = pc.fill_null(pc.match_substring_regex(texts, ZONED), fill_value=False)
    zoned = is_zoned.to_numpy()
    try:
        short = pc.replace_substring_regex(texts, r"(\.\d{6})\d+", r"\1")
        plain = pc.if_else(is_zoned, None, short).cast(pa.timestamp("us"))
        placed = pc.if_else(is_zoned, short, None).cast(pa.timestamp("us", "UTC"))
        values, is_bad = np.where(zoned, _as_microseconds(placed), _as_microseconds(plain)), np.zeros_like(is_there)
    except pa.ArrowInvalid:  # some are no times, or are written in a rarer way
        found = [None if one is None else parse_text(one) for one in texts.to_pylist()]
        values, is_bad = (
            np.array([one or 0 for one in found], dtype=np.int64),
            is_there & np.array([one is None for one in found]),
        )
    is_bad = is_bad | (is_there & ((values < FIRST_TIME) | (values >= LAST_TIME)))
    return Moments(values, is_there, is_bad, {"with a zone": is_there & zoned, "without a zone": is_there & ~zoned})


def _as_microseconds(stamps: pa.ChunkedArray) -> Ints:
    found: Ints = pc.fill_null(stamps.cast(pa.int64()), 0).to_numpy()
    return found


def parse_text(text: str) -> int | None:
    """Return the microseconds of a time in ISO's form, or nothing.

    >>> parse_text("2024-01-31T12:30:00+02:00"), parse_text("31.1.2024")
    (1706697000000000, None)
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1e6)


def read_length(name: str, value: Any) -> timedelta:
    """Return a length of time, from text such as 7d, 12h or 30min, or as it is.

    >>> read_length("horizon", "1.5 days")
    datetime.timedelta(days=1, seconds=43200)
    """
    match = LENGTH.fullmatch(value) if isinstance(value, str) else None
    length = value if isinstance(value, timedelta) else None
    if match is not None and float(match[1]) < 1e6:
        length = timedelta(seconds=float(match[1]) * SECONDS[match[2][0].lower()])
    if length is None or length <= timedelta(0):
        raise ParameterError(f"`{name}` must be a length of time such as 7d, 12h or 30min, got {shorten(value)}.")
    return length


def read_moment(name: str, value: Any) -> Moments:
    """Return one time that a user gave, as text, as a date or as a number."""
    plain: Callable[[Any], Any] = datetime.isoformat if isinstance(value, datetime) else date.isoformat
    text = plain(value) if isinstance(value, date) else value
    try:
        found = read_moments(pa.chunked_array([pa.array([text])]))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        found = None
    if found is None or found.is_bad[0] or not found.is_there[0]:
        raise ParameterError(f"`{name}` must be {KINDS}, got {shorten(value)}.")
    return found


def show_moment(microseconds: int) -> str:
    """Return a time as errors and notes show it.

    >>> show_moment(1706697000000000)
    '2024-01-31 10:30:00'
    """
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(microseconds))).strftime("%Y-%m-%d %H:%M:%S")


def show_length(length: timedelta) -> str:
    """Return a length of time in the largest unit that it is a whole number of.

    >>> show_length(timedelta(days=7)), show_length(timedelta(hours=36))
    ('7 days', '36 hours')
    """
    seconds = length.total_seconds()
    for name, unit in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds % unit == 0:
            return f"{seconds / unit:.0f} {name}{'' if seconds == unit else 's'}"
    return f"{seconds:g} seconds"
