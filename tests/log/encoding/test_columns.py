"""How columns of each kind become numbers, whatever the rows are cut into."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import counterfold as cf
from counterfold.base.validation import WHOLE
from counterfold.log.encoding import ContextSummary, choose_summary, encode_table, levels, tell_apart

TEXTS = st.lists(st.sampled_from(["Paris", " Paris", "Rome", "NA", "", "Oslo", None]), min_size=1, max_size=60)


def encode(values, kind=None):
    """Return {name: numbers} of a column `c`."""
    found = encode_table(pa.table({"c": pa.array(values, kind)}), WHOLE)
    return dict(zip(found.column_names, found.values.T.tolist(), strict=True))


def summarise(column, kind):
    return ContextSummary.of({"c": kind}, pa.table({"c": column}), WHOLE)


def test_a_text_has_a_column_for_each_value_but_the_most_frequent():
    assert encode(["a", "b", "a", "c"]) == {"c=b": [0, 1, 0, 0], "c=c": [0, 0, 0, 1]}


def test_what_is_missing_has_a_column_and_so_has_an_empty_text():
    assert encode(["a", None, "a", " "]) == {"c is missing": [0, 1, 0, 1]}


def test_spaces_around_a_text_make_no_difference_and_na_is_a_value():
    assert encode([" Paris", "Paris", "NA", "paris"]) == {"c=NA": [0, 0, 1, 0], "c=paris": [0, 0, 0, 1]}


def test_rare_values_are_put_together():
    found = encode(["a"] * 100 + ["b"] * 90 + ["x", "y"] * 4 + ["z"])
    assert list(found) == ["c=b", "c=(rare)"]
    assert sum(found["c=(rare)"]) == 9


def test_the_most_frequent_of_very_many_values_are_taken():
    values = [f"v{place}" for place in range(10_000)] * 2 + [f"v{place}" for place in range(30)] * 100
    found = encode(values)
    assert len(found) == 20
    assert sum(map(sum, found.values())) == len(values) - 102


def test_many_texts_have_fewer_columns_each():
    table = pa.table({f"t{place}": [f"v{row % 19}" for row in range(400)] for place in range(30)})
    assert len(encode_table(table, WHOLE).column_names) == 30 * 4


@pytest.mark.parametrize("kind", [pa.dictionary(pa.int8(), pa.string()), pa.large_string(), pa.binary()])
def test_text_of_any_type_is_the_same(kind):
    values = [b"a", b"b", None] if kind == pa.binary() else ["a", "b", None]
    column = pa.array(["a", "b", None]).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array(values, kind)
    assert encode(column) == encode(["a", "b", None])


def test_categories_of_numbers_are_values():
    assert encode(pa.array([3, 7, 3]).dictionary_encode()) == {"c=7": [0, 1, 0]}


def test_text_of_numbers_is_read_as_numbers_and_a_bad_cell_is_named():
    assert encode(["1.5", "2", None]) == {"c": [1.5, 2.0, 1.75], "c is missing": [0, 0, 1]}
    with pytest.raises(cf.DataError, match="column `c` must be numbers, got 'two' in 1 of 3 rows, first at row 1"):
        encode(["1.5", "two", "3"])


def test_missing_numbers_are_filled_in_with_the_mean():
    assert encode([1.0, np.nan, 3.0, None]) == {"c": [1, 2, 3, 2], "c is missing": [0, 1, 0, 1]}
    assert encode([True, None, False]) == {"c": [1, 0.5, 0], "c is missing": [0, 1, 0]}
    assert encode([1, 2]) == {"c": [1, 2]}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_are_days_weekdays_and_hours_in_any_unit(unit):
    times = [*np.array(["2024-01-01T06", "2024-01-06T18"], "datetime64[us]").tolist(), None]  # a Monday and a Saturday
    found = encode(times, pa.timestamp(unit))
    assert found == {
        "c: days since the first": [0, 5.5, 2.75],
        "c: weekday": [0, 5, 2.5],
        "c: hour": [6, 18, 12],
        "c is missing": [0, 0, 1],
    }
    assert encode(times, pa.timestamp(unit, "Asia/Tokyo")) == found


def test_days_have_no_hour():
    days = [dt.date(1969, 12, 31), dt.date(1970, 1, 1)]
    expected = {"c: days since the first": [0, 1], "c: weekday": [2, 3]}
    assert encode(days, pa.date32()) == encode(days, pa.date64()) == expected


@pytest.mark.parametrize("kind", [pa.string(), pa.float64(), pa.date32(), pa.null()], ids=str)
def test_what_is_missing_everywhere_is_refused(kind):
    with pytest.raises(cf.DataError, match=r"`context` column `c` must hold .* got none in all 3 rows"):
        encode([None] * 3, kind)


@pytest.mark.parametrize("values", [[{"a": 1}], [dt.time(1)], [dt.timedelta(1)]], ids=["struct", "time", "duration"])
def test_other_types_are_refused(values):
    with pytest.raises(cf.DataError, match="column `c` must be numbers, text or dates, got"):
        encode(values)


def test_names_that_are_taken_get_a_number():
    found = encode_table(pa.table({"c": ["a", "b", "b"], "c=a": [1, 2, 3], "c=a #2": [4, 5, 6]}), WHOLE)
    assert found.column_names == ("c=a #3", "c=a", "c=a #2")
    assert found.sources == ("c", "c=a", "c=a #2")
    assert tell_apart(["c=x", "c=x"], ["c", "c"]) == ("c=x", "c=x #2")


@given(TEXTS, st.integers(0, 60))
def test_it_does_not_matter_how_texts_are_cut(values, cut):
    column = pa.chunked_array([pa.array([*values, "Rome"], pa.string())])
    kind = choose_summary("c", column)
    whole = summarise(column, kind).learn()
    parts = (summarise(column.slice(0, cut), kind) + summarise(column.slice(cut), kind)).learn()
    assert parts == whole


def test_more_values_than_can_be_counted_are_told_however_they_are_cut(monkeypatch):
    monkeypatch.setattr(levels, "MOST", 5)
    column = pa.chunked_array([[f"v{place % 7}" for place in range(100)]])
    kind = choose_summary("c", column)
    whole, parts = summarise(column, kind), summarise(column.slice(0, 3), kind) + summarise(column.slice(3), kind)
    assert whole.explain() == parts.explain() == {"c": "it is an identifier or free text, different in most rows"}
    for one in (whole, parts):
        with pytest.raises(cf.DataError, match="`context` column `c` must have at most 5 different values"):
            one.learn()


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([f"user {row}" for row in range(200)], "it is an identifier or free text, different in most rows"),
        ([f"{row % 28 + 1}.{row % 12 + 1}.2024 08:{row % 60:02d}" for row in range(200)], levels.DATE),
        (["it was very nice " * 8, "it was not nice at all " * 8] * 100, "it is free text"),
        (["a"] * 200, "it is the same in every row"),
        ([None] * 200, "it is missing in every row"),
        (
            [f"v{row % 90}" for row in range(200)],
            "it has 90 values, and the 0 most frequent ones are in 0 % of the rows",
        ),
        (["a", "b"] * 100, None),
        (["a", None] * 100, None),
        (["a"] * 120 + [f"v{row}" for row in range(80)], None),
    ],
)
def test_which_texts_are_taken_by_themselves(values, why):
    column = pa.chunked_array([pa.array(values, pa.string())])
    found = summarise(column, choose_summary("c", column)).explain()
    assert found == {} if why is None else found["c"].startswith(why)
