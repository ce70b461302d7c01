"""How columns are cut into segments, and what these are called."""

import math
from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest

from counterfold.log.segments.by import By
from counterfold.log.segments.cuts import name_parts
from counterfold.log.segments.summaries import ColumnSummary


def cut(values, text="column"):
    column = pa.chunked_array([pa.array(values)])
    found = ColumnSummary.of(column, np.arange(len(column))).learn(By.of(text, []))
    return found, [found.labels[code] for code in found.encode(column)]


CUTS = {
    "text": (["b", "a", "b", None, " b ", ""], "column", ["b", "a", "b", "(missing)", "b", "(missing)"]),
    "booleans": ([True, False, True], "column", ["true", "false", "true"]),
    "few numbers": ([1.0, 2.5, 1.0, math.nan], "column", ["1", "2.5", "1", "(missing)"]),
    "dates": (
        [datetime(2024, 2, 3), None, datetime(2023, 12, 31)],  # noqa: DTZ001 (as logs have them)
        "column",
        ["2024-02", "(missing)", "2023-12"],
    ),
    "parts": (list(range(8)), "column:2", ["up to 3"] * 4 + ["above 3"] * 4),
    "many equal numbers": ([5] * 9 + [6], "column:4", ["up to 5"] * 9 + ["above 5"]),
    "equal numbers": ([5] * 10, "column:4", ["all"] * 10),
    "odd characters": (["\x1b[31m", "=cmd", "ünï"], "column", ["\x1b[31m", "=cmd", "ünï"]),
}


@pytest.mark.parametrize(("values", "text", "expected"), CUTS.values(), ids=CUTS)
def test_cuts(values, text, expected):
    assert cut(values, text)[1] == expected


def test_of_many_values_the_largest_are_segments():
    values = [f"v{number:03d}" for number in range(120) for _ in range(130 - number)]
    found, labels = cut(values)
    assert labels.count("(other)") == sum(130 - number for number in range(50, 120))
    assert found.labels[:2] == ("v000", "v001")
    assert found.note == "`column` has 120 values; the 50 largest are segments, all others are one"


def test_cuts_do_not_depend_on_how_rows_are_read():
    rng = np.random.default_rng(0)
    numbers = pa.chunked_array([pa.array(rng.normal(size=5000))])
    whole = ColumnSummary.of(numbers, np.arange(5000))
    halves = [ColumnSummary.of(numbers[part], np.arange(5000)[part]) for part in (slice(3000), slice(3000, None))]
    by = By("column", 7)
    np.testing.assert_array_equal(whole.learn(by).edges, (halves[1] + halves[0]).learn(by).edges)


def test_names_of_parts_tell_them_apart():
    assert name_parts(np.array([10000.1, 10000.2])) == ("up to 10000.1", "10000.1 to 10000.2", "above 10000.2")
