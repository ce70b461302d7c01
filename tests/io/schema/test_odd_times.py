"""A column of times is accepted or refused by the same sentence with a horizon and without, whatever it is for."""

from datetime import date, time

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf

ROWS = 120
DAYS = np.datetime64("2024-01-01T10:30:00", "s") + np.arange(ROWS).astype("timedelta64[D]")
SECONDS = DAYS.astype(int)
TEXTS = [str(one) for one in DAYS]
ASKED = {"candidates": ["ips"], "selector": "slope", "reward_model": None, "progress": False}
PLAIN = {"action": ["a", "b"] * (ROWS // 2), "reward": [1.0, 0.0, 1.0] * (ROWS // 3), "propensity": [0.5] * ROWS}
PLAIN |= {"target": ["b"] * ROWS}


def put(column, value, row=70):
    return [*column[:row], value, *column[row + 1 :]]


GOOD = {
    "days as numbers": [int(one[:10].replace("-", "")) for one in TEXTS],
    "days as text of numbers": [one[:10].replace("-", "") for one in TEXTS],
    "seconds as text": [str(one) for one in SECONDS],
    "nanoseconds": SECONDS * 10**9,
    "decimals": pa.array(SECONDS).cast(pa.decimal128(19, 0)),
    "nine digits": [f"{one}.123456789" for one in TEXTS],
    "some digits": [f"{one}.123456789" if row % 2 else one for row, one in enumerate(TEXTS)],
    "short zones": [f"{one}+01" for one in TEXTS],
    "spaces": [f" {one} " for one in TEXTS],
    "categories": pa.array(TEXTS).dictionary_encode(),
    "views": pa.array(TEXTS, pa.string_view()),
    "dates": pa.array(DAYS).cast(pa.date32()),
    "long dates": pa.array(DAYS).cast(pa.date32()).cast(pa.date64()),
    "days without hours": pa.array([date(2024, 1 + row % 12, 1 + row % 28) for row in range(ROWS)]),
}
MISSING = {
    "nothing": put(TEXTS, None),
    "NaT": put(TEXTS, "NaT"),
    "NA": put(TEXTS, " NA "),
    "empty": put(TEXTS, ""),
    "NaN": np.where(np.arange(ROWS) == 70, np.nan, SECONDS),
    "no stamp": pa.array(put(list(DAYS), None), pa.timestamp("s")),
    "nothing at all": pa.nulls(ROWS),
    "only text of nothing": ["null"] * ROWS,
}
BAD = {
    "time of day": (["12:30"] * ROWS, "got 12:30 in 120 of 120 rows, first at row 0. Write the year first"),
    "type of a time of day": (pa.array([time(12, 30)] * ROWS), "got time64[us]"),
    "true or false": (np.arange(ROWS) > 7, "got bool"),
    "lists": (pa.array([[one] for one in TEXTS]), "got list<"),
    "bytes": (pa.array(TEXTS).cast(pa.binary()), "got binary"),
    "1970": (put(TEXTS, "1970-01-01"), "in 1971 to 2199, got 1970-01-01 in 1 of 120 rows, first at row 70. Were"),
    "9999": (put(TEXTS, "9999-12-31"), "in 1971 to 2199, got 9999-12-31 in 1 of 120 rows, first at row 70. Were"),
    "year 1": (put(TEXTS, "0001-01-01"), "got 0001-01-01 in 1 of"),
    "stamp in 9999": (
        pa.array(put(list(DAYS), np.datetime64("9999-12-31", "s"))),
        "got 9999-12-31 00:00:00.000 in 1 of",
    ),
    "seconds read as milliseconds": (pa.array(SECONDS, pa.timestamp("ms")), "got 1970-01-20 17:21:45.000 in 120"),
    "nanoseconds read as microseconds": (
        pa.array(SECONDS * 10**9, pa.timestamp("us")),
        "Were seconds read as milliseconds",
    ),
    "one zone": (put(TEXTS, "2024-01-01T00:00:00Z"), "00Z in 1 of 120 rows, first at row 70. Either all times have"),
    "one without": (
        put([f"{one}Z" for one in TEXTS], "2024-01-01"),
        "got 2024-01-01 in 1 of 120 rows, first at row 70",
    ),
    "zones in turns": (
        [f"{one}Z" if row % 2 else one for row, one in enumerate(TEXTS)],
        "in 60 of 120 rows, first at row 1",
    ),
    "no such day": (put(TEXTS, "2024-02-30"), "got 2024-02-30 in 1 of 120 rows, first at row 70"),
    "no leap year": (
        put(put(TEXTS, "2023-02-29"), "2024-02-29", 1),
        "got 2023-02-29 in 1 of 120 rows, first at row 70",
    ),
    "months last": (
        [f"2024-{one[8:10]}-{one[5:7]}" for one in TEXTS],
        "got 2024-13-01 in 72 of 120 rows, first at row 12",
    ),
    "other order": (["31/01/2024"] * ROWS, "got 31/01/2024 in 120 of 120 rows"),
    "weeks": (put(TEXTS, "2024-W05-3"), "got 2024-W05-3 in 1 of"),
    "no hyphens": (put(TEXTS, "20240131T123000"), "got 20240131T123000 in 1 of"),
    "number among text": (put(TEXTS, "20240131"), "got 20240131 in 1 of 120 rows, first at row 70. Write all"),
    "text among numbers": (
        put([str(one) for one in SECONDS], "soon"),
        "must be seconds from 2000 to 2099, as in other",
    ),
    "two units": (put(SECONDS.tolist(), 1_706_697_000_000), "got 1706697000000 in 1 of 120 rows, first at row 70"),
    "zero": (
        put(SECONDS.tolist(), 0),
        "seconds from 2000 to 2099, as in other rows, got 0 in 1 of 120 rows, first at row",
    ),
    "infinite": (np.where(np.arange(ROWS) == 70, np.inf, SECONDS), "got inf in 1 of 120 rows"),
    "huge": (np.where(np.arange(ROWS) == 70, 1e305, SECONDS), "got 1e+305 in 1 of 120 rows"),
    "no such day as a number": (put([20240131] * ROWS, 20240230), "must be days such as 20240131, as in other rows"),
}


@pytest.fixture
def say(tmp_path):
    def evaluate(times, engine="memory", **asked):
        pa.parquet.write_table(pa.table(PLAIN | times), tmp_path / "log.parquet", row_group_size=50)
        try:
            cf.evaluate(tmp_path / "log.parquet", time="when", engine=engine, **asked, **ASKED)
        except cf.DataError as error:
            return str(error)
        return "accepted"

    return evaluate


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("kind", GOOD)
def test_good_times_are_accepted_for_every_purpose(say, kind, engine):
    assert say({"when": GOOD[kind]}, engine) == "accepted"
    assert say({"when": GOOD[kind], "came": GOOD[kind]}, engine, horizon="7d", reward_time="came") == "accepted"


@pytest.mark.parametrize("kind", MISSING)
def test_decisions_need_a_time_and_rewards_do_not(say, kind):
    said = say({"when": MISSING[kind]})
    assert said.startswith("`time` (column `when`) must be a date or time in every row, got ")
    assert say({"when": MISSING[kind]}, horizon="7d") == said
    assert say({"when": MISSING[kind]}, "local", horizon="7d") == said
    good = SECONDS if kind == "NaN" else TEXTS
    found = say({"when": good, "came": MISSING[kind]}, horizon="7d", reward_time="came")
    is_timeless = "must be there where a reward is not 0, got n" in found
    assert is_timeless if kind in {"nothing at all", "only text of nothing"} else found == "accepted"


@pytest.mark.parametrize("kind", BAD)
def test_bad_times_get_the_same_sentence_for_every_purpose(say, kind):
    column, sentence = BAD[kind]
    said = say({"when": column})
    assert said.startswith("`time` (column `when`) must be ")
    assert sentence in said
    assert say({"when": column}, horizon="7d") == said
    assert say({"when": column}, "local", horizon="7d") == said
    assert say({"when": column}, "local") != "accepted"
    found = say({"when": TEXTS, "came": column}, horizon="7d", reward_time="came")
    assert found == said.replace("`time` (column `when`)", "`reward_time` (column `came`)")


@pytest.mark.parametrize("column", [np.arange(ROWS), SECONDS * 10.0 ** np.where(np.arange(ROWS) % 2, 3, 0)])
def test_numbers_that_tell_the_order_alone_have_no_horizon(say, column):
    assert say({"when": column}) == "accepted"
    said = say({"when": column}, horizon="7d")
    assert said.startswith("`time` (column `when`) must tell days where there is a `horizon`, got ")
    assert "in 120 of 120 rows, first at row 0. Write dates, or seconds since 1970" in said
