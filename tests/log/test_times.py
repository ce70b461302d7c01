"""Times of every kind are read as the same; what cannot be one is refused by a sentence that names the place."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.base.validation import Checker
from counterfold.log.times import Clock, holds_dates, read_times

HOURS = [5, 3, 3, 29]
PLAIN = [dt.datetime(2024, 3, 30) + dt.timedelta(hours=hour) for hour in HOURS]  # noqa: DTZ001 (as logs have it)
ZONED = [one.replace(tzinfo=dt.UTC) for one in PLAIN]
SECONDS = np.array([one.timestamp() for one in ZONED])
EXPECTED = SECONDS * 1e6

SAME = {
    "datetimes": PLAIN,
    "zoned datetimes": ZONED,
    "another zone": [one.astimezone(dt.timezone(dt.timedelta(hours=5, minutes=30))) for one in ZONED],
    "zone of pandas with a change of the clock": pd.Series(ZONED).dt.tz_convert("Europe/Berlin"),
    "pandas": pd.Series(PLAIN),
    "index of pandas": pd.DatetimeIndex(PLAIN),
    "categories": pd.Series([str(one) for one in PLAIN], dtype="category"),
    "polars": pl.Series(PLAIN),
    "arrow in seconds": pa.array(PLAIN, pa.timestamp("s")),
    "arrow in nanoseconds": pa.chunked_array([pa.array(PLAIN, pa.timestamp("ns"))]),
    "numpy in hours": np.array(PLAIN, dtype="datetime64[h]"),
    "text": [one.isoformat(" ") for one in PLAIN],
    "text with T": [f"  {one.isoformat()}.000000000" for one in PLAIN],
    "text with zones": ["2024-03-30T05:00Z", "2024-03-30 04:00+01:00", "2024-03-30T03:00:00.000Z", "2024-03-31T05+00"],
    "seconds": SECONDS,
    "milliseconds": (SECONDS * 1e3).astype(int).tolist(),
    "microseconds": (SECONDS * 1e6).astype(int),
    "nanoseconds": (SECONDS * 1e9).astype(np.int64),
    "text of numbers": [f"{one:.0f}" for one in SECONDS],
}


def make_log(time, rows=4):
    return cf.Log(action=[0, 1] * (rows // 2), reward=np.arange(rows), propensity=[0.5] * rows, time=time)


def read(log):
    return np.asarray(log.time.values).tolist()


@pytest.mark.parametrize("time", SAME.values(), ids=SAME)
def test_all_kinds_are_the_same(time):
    log = make_log(time)
    assert log.time.has_days
    assert read(log) == EXPECTED.tolist()


def test_days_alone_and_mixed_with_times():
    days = [dt.date(2024, 3, 30), dt.datetime(2024, 3, 31, 12), dt.date(2024, 3, 30), dt.date(2024, 3, 30)]  # noqa: DTZ001
    assert np.diff(make_log(days).time.values).tolist() == [36 * 3.6e9, -36 * 3.6e9, 0.0]


SPELLINGS = {
    "BigQuery": ("{} UTC", True),
    "BigQuery, digits": ("{}.123456 UTC", True),
    "GMT": ("{} GMT", True),
    "logging of Python": ("{},123", False),
    "both": ("{},123 UTC", True),
}


@pytest.mark.parametrize("kind", SPELLINGS)
def test_other_spellings(kind):
    text, has_zone = SPELLINGS[kind]
    days = [f"2024-03-{day} 12:30:00" for day in (30, 31, 30, 29)]
    log = make_log([text.format(day) for day in days])
    assert np.diff(log.time.values).tolist() == [86.4e9, -86.4e9, -86.4e9]
    found = Clock.of(pa.chunked_array([[text.format(days[0])]]))
    assert found == Clock.of(pa.chunked_array([["2024-01-01T00:00:00Z" if has_zone else "2024-01-01"]]))


def test_numbers_may_be_days():
    log = make_log([20240229, 20240301, 20240301, 20231231])
    assert log.time.has_days
    assert np.diff(log.time.values).tolist() == [86.4e9, 0.0, -61 * 86.4e9]
    with pytest.raises(cf.DataError, match="must be days such as 20240131, as in other rows, got 20230229"):
        make_log([20240229, 20240301, 20230229, 20231231])


@pytest.mark.parametrize("numbers", [[3, 1, 2, 2], [0.5, -1.0, 1e5, 7.0], [20240101, 20249999, 7, 8]])
def test_other_numbers_tell_the_order_alone(numbers):
    log = make_log(numbers)
    assert (log.time.has_days, read(log)) == (False, numbers)


BAD = {
    "missing": ([*PLAIN[:3], None], "a date or time in every row, got none in 1 of 4 rows, first at row 3"),
    "missing number": ([1.7e9, 1.7e9, np.nan, 1.7e9], "in every row, got nan in 1 of 4 rows, first at row 2"),
    "no time of pandas": (pd.Series([*PLAIN[:3], pd.NaT]), "got none in 1 of 4 rows, first at row 3"),
    "empty text": (["2024-01-01", "", "2024-01-02", "2024-01-02"], "got none in 1 of 4 rows, first at row 1"),
    "all missing": ([None] * 4, "got none in 4 of 4 rows, first at row 0"),
    "time of day": (["12:30"] * 4, "got 12:30 in 4 of 4 rows, first at row 0. Write the year first, and the day"),
    "objects of a time of day": ([dt.time(12, 30)] * 4, "got 12:30:00 in 4 of 4 rows"),
    "type of a time of day": (pa.array([dt.time(12, 30)] * 4), "or numbers, got time64[us]"),
    "other order": (["31/01/2024"] * 4, "such as 2024-01-31 or 2024-01-31T12:30:00, in 1971 to 2199, got 31/01/2024"),
    "year first": (
        ["2024/01/31 CET"] * 4,
        "got 2024/01/31 CET in 4 of 4 rows, first at row 0. Write the day as 2024-01-31, the",
    ),
    "no such day": (["2024-01-31", "2024-02-30", "2024-01-31", "2024-01-31"], "got 2024-02-30 in 1 of 4 rows, first"),
    "zones in some": (
        [*ZONED[:3], *PLAIN[3:]],
        "in 1 of 4 rows, first at row 3. Either all times have a zone, or none",
    ),
    "zones in others": ([*PLAIN[:2], *ZONED[2:]], "in 2 of 4 rows, first at row 2. Either all times have a zone, or"),
    "seconds as milliseconds": (pd.to_datetime(SECONDS, unit="ms"), "in 1971 to 2199, got 1970-01-20 19:29:34.800000"),
    "never": (np.array(["2024-01-01", "9999-12-31"] * 2, dtype="datetime64[s]"), "got 9999-12-31 00:00:00.000000 in 2"),
    "nanoseconds as seconds": (
        pa.array([1.7e18] * 4).cast(pa.int64()).cast(pa.timestamp("s")),
        "in 1971 to 2199, got <",
    ),
    "zero": ([1.7e9, 0.0, 1.7e9, 1.7e9], "seconds from 2000 to 2099, as in other rows, got 0.0 in 1 of 4 rows"),
    "two units": ([1.7e9, 1.7e9, 1.7e9, 1.7e12], "got 1700000000000.0 in 1 of 4 rows, first at row 3"),
    "booleans": (np.array([True, False] * 2), "dates, timestamps, text such as 2024-01-31 or"),
    "huge": ([1.0, 1e305, 2.0, 3.0], "at most 1e+60 in size, got 1e+305 in 1 of 4 rows, first at row 1"),
    "infinite": ([1.0, 2.0, np.inf, 3.0], "finite, got inf in 1 of 4 rows, first at row 2"),
    "periods of pandas": (pd.Series(pd.PeriodIndex(["2024-01"] * 4, freq="M")), "or numbers, got "),
    "nested": ([[1], [2], [3], [4]], "got [1] in 4 of 4 rows"),
    "no column": (7, "or numbers, got 7"),
    "too few": (PLAIN[:3], "must have one entry per row (4), got 3"),
}


@pytest.mark.parametrize(("time", "said"), BAD.values(), ids=BAD)
def test_what_is_no_time_is_refused(time, said):
    with pytest.raises(cf.DataError) as error:
        make_log(time)
    assert str(error.value).startswith("`time` must ")
    assert said in str(error.value)
    assert str(error.value).count("\n") == 0


def test_later_rows_are_written_like_the_first_ones():
    check, clock = Checker(np.arange(100, 102)), Clock.of(pa.chunked_array([["2024-01-01T00:00:00Z"]]))
    with pytest.raises(cf.DataError, match="in 2 of 2 rows from row 100 on, first at row 100"):
        read_times(pa.chunked_array([["2024-01-01", "2024-01-02"]]), 2, check, clock)
    numbers = Clock.of(pa.chunked_array([[1.0, 2.0]]))
    assert not read_times(pa.chunked_array([[1.7e9, 1.8e9]]), 2, check, numbers).has_days


def test_frames_of_pandas_are_aligned():
    frame = pd.DataFrame({"a": [0, 1, 0, 1], "t": PLAIN}, index=list("wxyz"))
    log = cf.Log(action=frame["a"], reward=[1.0, 2.0, 3.0, 4.0], propensity=[0.5] * 4, time=frame["t"][::-1])
    assert read(log) == EXPECTED.tolist()


@pytest.mark.parametrize(
    ("column", "are_dates"),
    [
        (pa.array([dt.date(2024, 1, 1)]), True),
        (pa.array([None, " 2024-01-01 "]), True),
        (pa.array(["2024-01-01T00:00:00+02:00"]), True),
        (pa.array(["12:30"]), False),
        (pa.array(["soon"]), False),
        (pa.array([12.5]), False),
        (pa.array([1_700_000_000]), False),
        (pa.array([None, None]), False),
    ],
)
def test_which_columns_are_dates_by_themselves(column, are_dates):
    assert holds_dates(pa.chunked_array([column])) == are_dates
