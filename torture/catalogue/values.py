"""Values: kinds of numbers and labels that files hold, at the ends of what they can hold and beyond."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa

from torture.cases import LogCase
from torture.catalogue import AGREED, EITHER, REFUSED, RIGHT, WITH_SPARK, entry
from torture.logs import LABELS, LOGGED, Answer, know_answer, make_rows, make_table, write_arrow, write_parquet

ROWS = len(make_rows())
COLUMNS = {name: [row[name] for row in make_rows()] for name in make_rows()[0]}
CODES = np.array([LABELS.index(label) for label in COLUMNS["action"]])


def add(name, allowed, *, known=None, ways=None, write=write_parquet, file="log.parquet", **columns):
    """Register a file with other columns."""
    given = {} if ways is None else {"ways": ways}

    @entry(name, allowed, **given)
    def make(folder):
        (folder / file).write_bytes(write(make_table(**columns)))
        return LogCase(folder / file, known or know_answer())


def put(column, value, kind=None, row=7):
    """Return a column of the log with another value in one row."""
    cells = list(COLUMNS[column])
    cells[row] = value
    return pa.array(cells, kind)


for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    small = pa.array(CODES, getattr(pa, kind)())
    add(f"labels of {kind}", RIGHT, action=small, ways=WITH_SPARK if kind == "int8" else None)
    ends = np.iinfo(kind).max - CODES.astype(kind)
    add(f"largest labels of {kind}", RIGHT, action=pa.array(ends, getattr(pa, kind)()))
for kind in ("int8", "int16", "int32", "int64"):
    both = np.array([np.iinfo(kind).min, 0, np.iinfo(kind).max], kind)[CODES]
    add(f"least and largest labels of {kind}", RIGHT, action=pa.array(both))

LABEL_KINDS = {
    "float labels": (pa.array(CODES * 1.0), EITHER),
    "float labels that are no whole numbers": (pa.array(CODES * 0.5), EITHER),
    "float labels with NaN": (pa.array(np.where(CODES == 0, np.nan, CODES)), REFUSED),
    "float labels with infinity": (pa.array(np.where(CODES == 0, np.inf, CODES)), EITHER),
    "float labels 0 and -0": (pa.array(np.where(CODES == 0, -0.0, CODES - 1.0)), EITHER),
    "float labels above 2 to the 53": (pa.array(2.0**53 + 2 * CODES), EITHER),
    "whole labels above 2 to the 53": (pa.array(2**53 + CODES), RIGHT),
    "labels that are truth values": (pa.array(CODES == 0), EITHER),
    "labels that are dates": (pa.array([dt.date(2024, 1, 1 + int(code)) for code in CODES]), EITHER),
    "labels that are times": (pa.array([dt.datetime(2024, 1, 1 + int(code)) for code in CODES]), EITHER),  # noqa: DTZ001
    "labels that are times of day": (pa.array([dt.time(int(code)) for code in CODES]), EITHER),
    "labels that are durations": (pa.array([dt.timedelta(int(code)) for code in CODES]), EITHER),
    "labels that are decimals": (pa.array([Decimal(int(code)) for code in CODES]), EITHER),
    "labels that are bytes": (pa.array([label.encode() for label in COLUMNS["action"]]), EITHER),
    "labels that are bytes and no text": (pa.array([bytes([255 - code]) for code in CODES]), EITHER),
    "labels that are large texts": (pa.array(COLUMNS["action"], pa.large_string()), RIGHT),
    "labels that are views": (pa.array(COLUMNS["action"], pa.string_view()), EITHER),
    "labels in a dictionary": (pa.array(COLUMNS["action"]).dictionary_encode(), RIGHT),
    "labels in a dictionary with a null": (put("action", None).dictionary_encode(), REFUSED),
    "labels that are lists": (pa.array([[label] for label in COLUMNS["action"]]), REFUSED),
    "labels that are structs": (pa.array([{"a": label} for label in COLUMNS["action"]]), REFUSED),
    "labels that are null": (pa.nulls(ROWS), REFUSED),
    "one label null": (put("action", None), REFUSED),
    "one label empty": (put("action", ""), EITHER),
    "labels with spaces at the end": (
        pa.array([label + " " * (row % 2) for row, label in enumerate(COLUMNS["action"])]),
        AGREED,
    ),
    "labels in two normal forms": (pa.array([("é", "e\u0301")[row % 2] for row in range(ROWS)]), AGREED),
    "one label alone": (pa.array(["red"] * ROWS), EITHER),
    "a label for every row": (pa.array([f"label {row}" for row in range(ROWS)]), EITHER),
    "labels with escape sequences": (pa.array([f"\x1b[31m{label}" for label in COLUMNS["action"]]), EITHER),
    "labels of 50,000 characters": (
        pa.array(["x" * 50_000 + label for label in COLUMNS["action"]]).dictionary_encode(),
        EITHER,
    ),
}
for name, (column, allowed) in LABEL_KINDS.items():
    odd = {"write": write_arrow, "file": "log.arrow"} if "views" in name or "durations" in name else {}
    add(name, allowed, action=column, **odd)

BAD_NUMBERS = {
    "null": None,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
}
for column in ("reward", "propensity", "target", "x0"):
    for label, value in BAD_NUMBERS.items():
        allowed = RIGHT if column == "x0" and label in {"null", "NaN"} else REFUSED  # a gap is filled in
        add(f"{label} in {column}", allowed, **{column: put(column, value, pa.float64())})
for column in ("propensity", "target"):
    for label, value in {"-0.1": -0.1, "1.1": 1.1, "1e300": 1e300, "-0.0": -0.0, "0": 0.0, "1e-320": 1e-320}.items():
        allowed = REFUSED if label in {"-0.1", "1.1", "1e300"} or column == "propensity" else AGREED
        add(f"{label} in {column}", AGREED if label == "1e-320" else allowed, **{column: put(column, value)})

KINDS = {
    "float32": (pa.array(COLUMNS["reward"], pa.float32()), AGREED),
    "float16": (pa.array(np.array(COLUMNS["reward"], np.float16)), AGREED),
    "decimal": (pa.array([Decimal(str(value)) for value in COLUMNS["reward"]]), EITHER),
    "decimal with 76 digits": (pa.array([Decimal(str(v)) for v in COLUMNS["reward"]], pa.decimal256(76, 40)), EITHER),
    "texts": (pa.array([str(value) for value in COLUMNS["reward"]]), EITHER),
    "truth values": (pa.array([value > 1 for value in COLUMNS["reward"]]), AGREED),
    "lists": (pa.array([[value] for value in COLUMNS["reward"]]), REFUSED),
    "structs": (pa.array([{"a": value} for value in COLUMNS["reward"]]), REFUSED),
    "dates": (pa.array([dt.date(2024, 1, 1)] * ROWS), REFUSED),
    "durations": (pa.array([dt.timedelta(1)] * ROWS), REFUSED),
    "binary": (pa.array([b"1.5"] * ROWS), REFUSED),
    "nulls": (pa.nulls(ROWS), REFUSED),
    "whole numbers above 2 to the 53": (pa.array([2**53 + 1] * ROWS), EITHER),
    "the largest whole numbers": (pa.array([2**63 - 1 - row for row in range(ROWS)]), AGREED),
    "unsigned whole numbers": (pa.array([2**64 - 1] * ROWS, pa.uint64()), AGREED),
    "a dictionary of numbers": (pa.array(COLUMNS["reward"]).dictionary_encode(), EITHER),
}
for name, (column, allowed) in KINDS.items():
    odd = {"write": write_arrow, "file": "log.arrow"} if name == "durations" else {}
    known = Answer(
        know_answer().value
        if name in {"decimal", "decimal with 76 digits", "texts", "a dictionary of numbers"}
        else None
    )
    add(f"rewards as {name}", allowed, reward=column, known=known, **odd)


def scale(factor):
    """Return rewards times a factor, and what is known of them: sums of the largest are beyond all numbers."""
    rows = [row | {"reward": row["reward"] * factor} for row in make_rows()]
    known = know_answer(rows) if factor < 1e100 else Answer(rows=ROWS, context=("x0", "x1"))
    return pa.array([row["reward"] for row in rows]), known


for factor in (1e-300, 1e-200, 1e-150, 1e-30, 1e30, 1e150, 1e200, 1e300, 1e308):
    column, known = scale(factor)
    add(f"rewards times {factor:g}", EITHER, reward=column, known=known)
add("rewards far from 0", RIGHT, reward=pa.array([value + 1e9 for value in COLUMNS["reward"]]), known=Answer(rows=ROWS))
add("rewards that are equal", AGREED, reward=pa.array([2.0] * ROWS))
add("rewards that are 0", AGREED, reward=pa.array([0.0] * ROWS))
add("context that is huge", EITHER, x0=pa.array([value * 1e300 for value in COLUMNS["x0"]]))
add("context that is constant", EITHER, x0=pa.array([1.0] * ROWS))
add("propensities that are 1", AGREED, propensity=pa.array([1.0] * ROWS))
add("propensities that are tiny", AGREED, propensity=pa.array([1e-12] * ROWS))
add("propensities that are percents", REFUSED, propensity=pa.array([100 * value for value in COLUMNS["propensity"]]))

MATRIX = [list(LOGGED.values())] * ROWS
MATRICES = {
    "that do not add up": ([[0.5, 0.25, 0.2]] * ROWS, REFUSED),
    "that are negative": ([[1.5, -0.75, 0.25]] * ROWS, REFUSED),
    "with NaN": ([[0.5, float("nan"), 0.25]] * ROWS, REFUSED),
    "with a null inside": ([[0.5, None, 0.25]] * ROWS, REFUSED),
    "with a null row": ([None, *MATRIX[1:]], REFUSED),
    "with an empty row": ([[], *MATRIX[1:]], REFUSED),
    "with a long row": ([[0.25] * 4, *MATRIX[1:]], REFUSED),
    "with texts inside": ([["a", "b", "c"]] * ROWS, REFUSED),
    "with lists inside": ([[[0.5], [0.25], [0.25]]] * ROWS, REFUSED),
    "as bad JSON": (["[0.5, 0.25"] * ROWS, REFUSED),
    "as JSON of another length": (["[0.5, 0.5]"] * ROWS, REFUSED),
    "as structs that lack an action": ([{"red": 0.5, "green": 0.5}] * ROWS, REFUSED),
    "as JSON nested deeply": (["[" * 100_000] * 2 + ["[1]"] * (ROWS - 2), REFUSED),
    "as JSON with NaN": (['{"red": NaN, "green": 0.5, "blue": 0.5}'] * ROWS, REFUSED),
    "as JSON with a key twice": (['{"red": 0.5, "red": 0.5, "green": 0.25, "blue": 0.25}'] * ROWS, REFUSED),
    "as JSON with a huge number": (['{"red": 1' + "0" * 400 + ', "green": 0, "blue": 0}'] * ROWS, REFUSED),
    "as maps with a key twice": (
        pa.array(
            [[("red", 0.5), ("red", 0.0), ("green", 0.25), ("blue", 0.25)]] * ROWS, pa.map_(pa.string(), pa.float64())
        ),
        REFUSED,
    ),
    "as maps with a null": (
        pa.array([[("red", 0.5), ("green", None), ("blue", 0.25)]] * ROWS, pa.map_(pa.string(), pa.float64())),
        REFUSED,
    ),
}
for name, (column, allowed) in MATRICES.items():
    add(f"logging probabilities {name}", allowed, logging_probs=column)
    add(f"target probabilities {name}", AGREED if "lack" in name else allowed, target=column)
