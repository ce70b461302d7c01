"""Times: when things happened, from dates, timestamps, text of either, or numbers; one reader for every column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from counterfold.base import messages
from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.errors import DataError
from counterfold.base.per_row import ByRow
from counterfold.base.row_counts import Tally
from counterfold.base.validation import FIRST, LARGEST, NUMBER, WHOLE, Checker, freeze
from counterfold.log.encoding.kinds import is_date, is_numeric, is_text
from counterfold.log.encoding.numbers import decode_dictionary

UNITS = {"seconds": 1e6, "milliseconds": 1e3, "microseconds": 1.0, "nanoseconds": 1e-3}
"""The units in which numbers may count from 1970 on, and how many microseconds each has."""

FIRST_NUMBER, LAST_NUMBER = 946_684_800e6, 4_102_444_800e6
"""Numbers are times if they lie in 2000 to 2099 in some unit, here microseconds; others tell the order alone."""

MOST = 0.5
"""Numbers are times if more than this share of them are; then all must be."""

FROM, TO = 31_536_000, 7_258_118_400
"""Times before 1971 or after 2199, here seconds, stand for missing ones, or come from numbers in a wrong unit."""

ABSENT = ("", "nat", "nan", "na", "none", "null")
"""Text, in small letters, that stands for a missing time."""

TEXTS = (*(pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC")), pa.float64())
"""What a column of text may hold; years after 2262 are no nanoseconds, and some write these."""

DAY = r"^\d{4}-((0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])|02-29|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
HOUR = r"[T ]([01]\d|2[0-3])(:[0-5]\d(:[0-5]\d(\.\d{1,9})?)?)?"
SHAPES = (rf"{DAY}({HOUR})?$", rf"{DAY}{HOUR}(Z|[+-]\d\d(:?\d\d)?)$", rf"(?i)^({NUMBER.pattern})$")
"""What texts look like that may be read, where a column holds different ones."""

OTHER_SPELLINGS = {
    r"^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d),(\d{1,9})": r"\1.\2",  # Python's logging
    r"(?i)^(\d{4}-.*\d) ?(UTC|GMT)$": r"\1Z",  # BigQuery
}
"""How times are written elsewhere, and what is read in place of that."""

KINDS = "dates, timestamps, text such as 2024-01-31 or 2024-01-31T12:30:00Z, or numbers"
COMPLETE = " Leave out rows without one, write when they were decided, or name the column in `ignore`."
ONE_WAY = " Write all times in one way."
ZONES = " Either all times have a zone, or none has."
WHOLE_DAYS = " Write the year first, and the day with the time."
IN_FULL = " Write the day as 2024-01-31, the time as 12:30:00 behind it, and a zone as Z or +01:00."
WRONG_UNIT = " Were seconds read as milliseconds, or does it stand for a missing time?"


class Way(NamedTuple):
    """A way in which times are written; its `rule` is for columns of such, its `hint` for columns of others."""

    name: str
    rule: str
    hint: str


WAYS = (
    Way("without a zone", "times such as 2024-01-31 or 2024-01-31T12:30:00, in 1971 to 2199", ZONES),
    Way("with a zone", "times such as 2024-01-31T12:30:00Z, in 1971 to 2199", ZONES),
    *(Way(f"in {unit} since 1970", f"{unit} from 2000 to 2099, as in other rows", ONE_WAY) for unit in UNITS),
    Way("in days such as 20240131", "days such as 20240131, as in other rows", ONE_WAY),
    Way("in numbers that are no days", "numbers, as in other rows", WRONG_UNIT),
    Way("in other centuries", "", WRONG_UNIT),
    Way("in another way", "", WHOLE_DAYS),
    Way("in another way with the year first", "", IN_FULL),
    Way("missing", "a date or time in every row", COMPLETE),
)
PLAIN, ZONED, SECONDS, *_, DAYS, ORDER, OUTSIDE, UNREADABLE, YEAR_FIRST, MISSING = range(len(WAYS))


@dataclass(frozen=True, eq=False)
class Times:
    """When each decision was made: microseconds since 1970 in UTC, or numbers that tell the order alone.

    Times without a zone are taken as they are written. Microseconds of all days from 1971 to 2199 are whole numbers
    that a float holds exactly.
    """

    values: Annotated[Floats, ByRow()]
    has_days: bool


class Moments(NamedTuple):
    """Microseconds since 1970 of some rows, good or not; the way in which each is written; and numbers as they were."""

    values: Floats
    ways: NDArray[np.uint8]
    numbers: Floats

    @classmethod
    def of(cls, rows: int, way: int) -> "Moments":
        """Return rows without a time."""
        return cls(np.full(rows, np.nan), np.full(rows, way, dtype=np.uint8), np.full(rows, np.nan))

    def put(self, places: Ints, others: "Moments") -> None:
        """Replace some rows."""
        self.values[places], self.ways[places], self.numbers[places] = others

    def tally(self, column: pa.ChunkedArray, row_numbers: Ints | Sequence[int]) -> Tally:
        """Return how many rows of the column are written in each way, and the first of them."""
        there = np.flatnonzero(np.bincount(self.ways))
        return Tally.of(row_numbers, {WAYS[way].name: (self.ways == way, column) for way in there})


class Clock(NamedTuple):
    """The way in which all times of a column must be written: that of most of its rows, or of its first ones."""

    way: int

    @classmethod
    def of(cls, column: pa.ChunkedArray, check: Checker = WHOLE) -> "Clock":
        """Return how the times of a column are written that begins like this one."""
        return cls.choose(_count_first(column, check))

    @classmethod
    def choose(cls, counts: Ints) -> "Clock":
        """Return how most times are written, by the number of times in each way."""
        numbers = counts[SECONDS : ORDER + 1]
        if numbers.sum() <= counts[[PLAIN, ZONED, OUTSIDE]].sum():
            return cls(PLAIN if counts[PLAIN] >= counts[ZONED] else ZONED)
        best = int(np.argmax(numbers[:-1]))
        return cls(SECONDS + best if numbers[best] > MOST * numbers.sum() else ORDER)

    @classmethod
    def of_tally(cls, tally: Tally) -> "Clock":
        """Return how most times of a whole column are written."""
        return cls.choose(np.array([tally.count(way.name) for way in WAYS]))

    @property
    def has_days(self) -> bool:
        """Say whether times tell more than the order."""
        return self.way != ORDER

    @property
    def good(self) -> Sequence[int]:
        """Return the ways in which times may be written; all numbers tell an order."""
        return [self.way] if self.has_days else range(SECONDS, ORDER + 1)

    def require(self, tally: Tally, called: str, start: str = "", *, may_miss: bool = False) -> None:
        """Require that all times of a column are written in this way."""
        bad = [way for way in range(MISSING) if way not in self.good and tally.count(WAYS[way].name)]
        if not may_miss:
            tally.refuse(WAYS[MISSING].name, f"{called} must be {WAYS[MISSING].rule}", COMPLETE, start)
        if bad:
            first = min(bad, key=lambda way: tally.first[WAYS[way].name])
            rule = f"{called} must be {WAYS[self.way].rule}"
            tally.refuse([WAYS[way].name for way in bad], rule, WAYS[first].hint, start)


def _count_first(column: pa.ChunkedArray, check: Checker) -> Ints:
    """Return how many of the first rows are written in each way."""
    return np.bincount(read_moments("time", column.slice(0, FIRST), check).ways, minlength=len(WAYS))


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


def holds_dates(column: pa.ChunkedArray) -> bool:
    """Say whether a column holds dates or timestamps, or texts of which most of the first ones are of that kind."""
    if not is_text(column.type):
        return is_date(column.type)
    counts = _count_first(column, WHOLE)
    return bool(counts[[PLAIN, ZONED, OUTSIDE]].sum() > MOST * counts[:MISSING].sum())


def read_times(value: Any, rows: int, check: Checker, clock: Clock | None = None) -> Times | None:
    """Return when each row was decided, if that is given, written as a clock tells, or else as the first rows do."""
    if value is None or isinstance(value, Times):
        return value
    try:
        column = as_column(value)
    except (TypeError, ValueError, pa.ArrowException):
        raise DataError(f"{check.called('time')} must be {KINDS}, got {messages.shorten(value)}.") from None
    found = read_moments("time", column, check)
    if len(column) != rows:
        raise DataError(f"{check.called('time')} must have one entry per row ({rows}), got {len(column)}.")
    clock = Clock.of(column, check) if clock is None else clock
    tally = found.tally(column, range(rows) if check.row_numbers is None else check.row_numbers)
    clock.require(tally, check.called("time"), check.start)
    values = found.values if clock.has_days else found.numbers.copy()
    check.finite("time", values)
    return Times(freeze(values), clock.has_days)


def read_moments(role: str, column: pa.ChunkedArray, check: Checker) -> Moments:
    """Return the times in a column of dates, timestamps, text or numbers, and where there are none."""
    column = decode_dictionary(column)
    if is_text(column.type):
        texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
        return _read_texts(pc.if_else(pc.is_in(pc.utf8_lower(texts), pa.array(ABSENT)), None, texts))
    is_known = is_date(column.type) or is_numeric(column.type) or pa.types.is_null(column.type)
    if not is_known or pa.types.is_boolean(column.type):
        raise DataError(f"{check.called(role)} must be {KINDS}, got {column.type}.")
    return _read_plain(column)


def _read_plain(column: pa.ChunkedArray) -> Moments:
    """Return the times of a column that is no text."""
    if not is_date(column.type):
        return _read_numbers(np.asarray(column.cast(pa.float64(), safe=False).to_numpy()))
    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    seconds, values = (
        np.asarray(column.cast(pa.timestamp(unit, zone), safe=False).cast(pa.int64()).to_numpy(), dtype=np.float64)
        for unit in ("s", "us")  # seconds never overflow
    )
    ways = np.where((seconds >= FROM) & (seconds < TO), PLAIN if zone is None else ZONED, OUTSIDE).astype(np.uint8)
    ways[np.isnan(seconds)] = MISSING
    return Moments(values, ways, values)


def _read_numbers(numbers: Floats) -> Moments:
    """Return times that are numbers: in a unit, as days, or in order alone."""
    some = np.nan_to_num(np.clip(numbers, -LARGEST, LARGEST))
    values, may_be = np.full(len(some), np.nan), (some >= 2000_01_01) & (some < 2100_01_01)
    values[may_be] = read_days(some[may_be])
    ways = np.where(np.isfinite(values), DAYS, ORDER).astype(np.uint8)
    for way, unit in enumerate(UNITS.values(), SECONDS):
        inside = (some * unit >= FIRST_NUMBER) & (some * unit < LAST_NUMBER)
        values[inside], ways[inside] = np.floor(some[inside] * unit), way
    ways[np.isnan(numbers)] = MISSING
    return Moments(values, ways, numbers)


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


def _read_texts(texts: pa.ChunkedArray) -> Moments:
    """Return times in text: all of one kind, or else by what each looks like."""
    found = _cast_texts(texts)
    if found is not None:
        return found
    for written, meant in OTHER_SPELLINGS.items():
        texts = pc.replace_substring_regex(texts, written, meant)
    found = Moments.of(len(texts), UNREADABLE)
    found.ways[texts.is_null().to_numpy()] = MISSING
    for shape in SHAPES:
        places = np.flatnonzero(_match(texts, shape))
        found.put(places, _read_alike(texts.take(pa.array(places))))
    found.ways[(found.ways == UNREADABLE) & _match(texts, r"^\d{4}\D")] = YEAR_FIRST
    return found


def _match(texts: pa.ChunkedArray, shape: str) -> Bools:
    """Return which texts look like that."""
    return np.asarray(pc.fill_null(pc.match_substring_regex(texts, shape), fill_value=False).to_numpy())


def _read_alike(texts: pa.ChunkedArray) -> Moments:
    """Return times in text that looks alike, of which a few may be no days, such as 2023-02-29."""
    found = _cast_texts(texts)
    if found is not None or len(texts) == 1:
        return found or Moments.of(1, UNREADABLE)
    half, found = len(texts) // 2, Moments.of(len(texts), UNREADABLE)
    found.put(np.arange(half), _read_alike(texts.slice(0, half)))
    found.put(np.arange(half, len(texts)), _read_alike(texts.slice(half)))
    return found


def _cast_texts(texts: pa.ChunkedArray) -> Moments | None:
    """Return times in text if all are of one kind."""
    for kind in TEXTS:
        try:
            return _read_plain(texts.cast(kind))
        except pa.ArrowInvalid:
            continue
    return None
