"""Rewards that come later: which decisions are old enough, which rewards count, and times that cannot be right."""

from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from counterfold.io.schema.delays import read_length, show_length

ROWS, DAY = 1200, np.timedelta64(1, "D")
ENGINES = ("memory", "local")
ASKED = {"candidates": ["ips"], "selector": "slope", "reward_model": None, "progress": False}
rng = np.random.default_rng(0)
ACTION = rng.integers(2, size=ROWS)
TIME = np.datetime64("2024-01-01", "s") + np.sort(rng.integers(0, 30 * 86_400, size=ROWS)).astype("timedelta64[s]")
CAME = TIME + rng.exponential(2 * 86_400, size=ROWS).astype("timedelta64[s]")
IS_SEEN = (rng.random(ROWS) < 0.3 + 0.2 * ACTION) & (TIME.max() >= CAME)
PLAIN = {
    "action": np.array(["a", "b"])[ACTION],
    "reward": pa.array(np.ones(ROWS), mask=~IS_SEEN),
    "propensity": np.full(ROWS, 0.5),
    "target": ["b"] * ROWS,
    "time": pa.array(TIME),
    "reward_time": pa.array(CAME, mask=~IS_SEEN),
}


def evaluate(folder, engine, changes, **asked):
    path = folder / "log.parquet"
    pa.parquet.write_table(pa.table(PLAIN | changes), path, row_group_size=170)
    return cf.evaluate(path, engine=engine, **{"horizon": "7d"} | asked, **ASKED)


def tell(found):
    return [one.problem for one in found.diagnostics.findings if one.name == "as-read"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("until", [None, "2024-01-20", date(2024, 1, 20), datetime(2024, 1, 20)])  # noqa: DTZ001
def test_against_a_naive_loop(tmp_path, engine, until):
    found = evaluate(tmp_path, engine, {}, until=until)
    end = TIME.max() if until is None else np.datetime64("2024-01-20")
    end = max(end, CAME[IS_SEEN].max()) if until is None else end
    values, young, late, none = [], 0, 0, 0
    for row in range(ROWS):
        if TIME[row] > end - 7 * DAY:
            young += 1
            continue
        is_late = IS_SEEN[row] and CAME[row] > TIME[row] + 7 * DAY
        late, none = late + is_late, none + (not IS_SEEN[row])
        values.append(2.0 * ACTION[row] * (IS_SEEN[row] and not is_late))
    assert found.table[0].value == pytest.approx(np.mean(values))
    assert found.diagnostics.rows == ROWS - young
    assert found.verdict == "good"
    assert [one.partition(" ")[0] for one in tell(found)] == [f"{count:,}" for count in (young, late, none)]
    assert f"{young:,} of 1,200 decisions were younger than 7 days when the log ended, at 2024-01-" in tell(found)[0]


SECONDS, MILLISECONDS = (CAME.astype(f"datetime64[{unit}]").astype(int) for unit in ("s", "ms"))
SAME = {
    "text": {"time": [str(one) for one in TIME], "reward_time": pa.array(map(str, CAME), mask=~IS_SEEN)},
    "text with a zone": {
        "time": [f"{one}Z" for one in TIME],
        "reward_time": pa.array([f"{one}.000000000+00:00" for one in CAME], mask=~IS_SEEN),
    },
    "with a zone": {
        "time": pa.array(TIME, pa.timestamp("us", "Europe/Berlin")),
        "reward_time": pa.array(CAME, pa.timestamp("ns", "UTC"), mask=~IS_SEEN),
    },
    "milliseconds": {
        "time": TIME.astype("datetime64[ms]").astype(int),
        "reward_time": pa.array(MILLISECONDS, mask=~IS_SEEN),
    },
    "seconds": {"time": TIME.astype(int), "reward_time": pa.array(SECONDS * 1.0, mask=~IS_SEEN)},
    "named otherwise": {"decided": pa.array(TIME), "time": np.zeros(ROWS)},
    "no reward is 0": {"reward": np.where(IS_SEEN, 1.0, 0.0)},
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", SAME)
def test_however_times_are_written(tmp_path, engine, kind):
    named = {"time": "decided", "ignore": ["time"]} if kind == "named otherwise" else {}
    found = evaluate(tmp_path, engine, SAME[kind], **named)
    expected = evaluate(tmp_path, engine, {})
    assert found.table == expected.table
    assert tell(found)[:2] == tell(expected)[:2]


def put(column, row, value):
    cells = [None if cell is None else str(cell) for cell in column]
    return [*cells[:row], value, *cells[row + 1 :]]


BAD = {
    "no time at all": (
        {"time": ["31.1.2024"] * ROWS},
        {},
        "`time` must be times such as .*got 31.1.2024 in 1200 of 1200",
    ),
    "one bad text": (
        {"time": put(TIME, 900, "soon")},
        {},
        "`time` must be times such as.*got soon in 1 of 1200 rows, .*900",
    ),
    "no such day": ({"time": put(TIME, 3, "2024-02-31")}, {}, "got 2024-02-31 in 1 of 1200 rows, first at row 3"),
    "numbers of rows": (
        {"time": np.arange(ROWS)},
        {},
        "`time` must tell days where there is a `horizon`, got 0 in 1200 of 1200 rows",
    ),
    "true or false": ({"time": ACTION == 1}, {}, "`time` must be dates, .*, got bool"),
    "open end": ({"reward_time": put(CAME, 5, "9999-12-31")}, {}, "`reward_time` must be .*got 9999-12-31 in 1 of"),
    "no time": (
        {"time": put(TIME, 700, None)},
        {},
        "`time` must be a date or time in every row, got none in 1 .*at row 700",
    ),
    "mixed zones": ({"time": [f"{one}Z" for one in TIME]}, {}, "must be written in one way.*`time` with a zone"),
    "mixed in one": (
        {"time": put(TIME, 9, "2024-01-01T10:00:00Z")},
        {},
        "Z in 1 of 1200 rows, first at row 9. Either all",
    ),
    "two units": (
        {"time": TIME.astype(int), "reward_time": pa.array(MILLISECONDS, mask=~IS_SEEN)},
        {},
        "`reward_time` in milliseconds since 1970, and `time` in seconds since 1970",
    ),
    "zone of the end": ({}, {"until": "2024-01-20T00:00:00Z"}, "`time` without a zone, and `until` with a zone"),
    "too long": ({}, {"horizon": "90d"}, "`horizon` must be shorter than the log, got 90 days, .*all 1200 are younger"),
    "before": ({"reward_time": TIME - DAY}, {}, "`reward_time` must not be before the decision, got .*row 0. Are the"),
    "timeless": ({"reward": np.ones(ROWS)}, {}, "`reward_time` must be there where a reward is not 0, got none in"),
    "no column": ({}, {"time": "tiem"}, "column `tiem` must be there. Did you mean `time`"),
    "no reward times": ({}, {"reward_time": "nowhere"}, "column `nowhere` must be there"),
}


@pytest.mark.parametrize("kind", BAD)
def test_times_that_cannot_be_right_get_the_same_sentence_by_every_engine(tmp_path, kind):
    changes, asked, sentence = BAD[kind]
    said = []
    for engine in ENGINES:
        with pytest.raises(cf.DataError, match=sentence) as raised:
            evaluate(tmp_path, engine, changes, **asked)
        said.append(str(raised.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("horizon", ["7q", "", "-1d", "0d", 7, timedelta(0), timedelta(-1), "1e400d", [], "99999999d"])
def test_what_is_no_length_of_time(tmp_path, horizon):
    with pytest.raises(cf.ParameterError, match=r"^`horizon` must be a length of time such as 7d"):
        evaluate(tmp_path, "memory", {}, horizon=horizon)


@pytest.mark.parametrize("until", ["soon", 3, [1], "", object(), True])
def test_what_is_no_end(tmp_path, until):
    with pytest.raises(cf.ParameterError, match=r"^`until` must be a date"):
        evaluate(tmp_path, "memory", {}, until=until)


@pytest.mark.parametrize("alone", [{"reward_time": "reward_time"}, {"until": "2024-01-20"}])
def test_without_a_horizon_they_mean_nothing(alone):
    with pytest.raises(cf.ParameterError, match="must be given with `horizon`"):
        cf.evaluate(pa.table(PLAIN), **alone)


def test_without_times_of_rewards_missing_ones_are_missing():
    table = {name: column for name, column in PLAIN.items() if name != "reward_time"}
    with pytest.raises(cf.DataError, match="missing_reward"):
        cf.evaluate(table, horizon="7d", **ASKED)
    found = cf.evaluate(table, horizon="7d", missing_reward="zero", **ASKED)
    assert [one.split(" ", 1)[1] for one in tell(found)][1] == "of 1,200 rows have no reward and count as 0"


@pytest.mark.parametrize(
    ("text", "length"),
    [("7d", "7 days"), ("2 weeks", "14 days"), ("36H", "36 hours"), ("1min", "1 minute"), (".5d", "12 hours")],
)
def test_lengths(text, length):
    assert show_length(read_length("horizon", text)) == length


def test_the_time_of_the_reward_is_no_context(tmp_path):
    found = evaluate(tmp_path, "memory", SAME["seconds"])
    assert "reward_time" not in found.contents.context
    with pytest.raises(cf.DataError, match="`context` must not hold column `reward_time`"):
        evaluate(tmp_path, "memory", SAME["seconds"], context=["reward_time"])
