"""What may be a label: small integers, floats, booleans, bytes, dates; and a sentence for everything else."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.base.validation import WHOLE
from counterfold.log.label_checks import check_labels
from counterfold.log.labels import find_distinct, spell_label

ROWS = 40


def make_log(labels, **given):
    reward = np.arange(ROWS) % 7
    return cf.Log(action=labels, reward=reward, propensity=np.full(ROWS, 0.5), **given)


def repeat(*labels):
    """Return the labels in turn, one per row, as Python objects."""
    found = np.empty(ROWS, dtype=object)
    found[:] = [labels[row % len(labels)] for row in range(ROWS)]
    return found


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint64"])
def test_labels_at_both_ends_of_a_small_integer_do_not_wrap(kind):
    ends = np.iinfo(kind)
    labels = np.array([ends.min, ends.max, 5, 6] * (ROWS // 4), dtype=kind)
    known = tuple(sorted({int(ends.min), 5, 6, int(ends.max)}))
    log = make_log(labels)
    assert log.actions == known
    assert [log.actions[code] for code in log.action] == labels.tolist()
    listed = make_log(labels, actions=np.array([*known, 7], dtype=kind))
    assert [listed.actions[code] for code in listed.action] == labels.tolist()
    unique, where = find_distinct("action", labels, WHOLE)
    assert unique.dtype == labels.dtype
    assert (unique[where] == labels).all()


def test_int8_labels_of_many_actions_find_their_columns():
    labels = np.arange(ROWS).astype("int8")
    log = cf.Log(action=labels, reward=np.arange(ROWS) % 7, logging_probs=np.full((ROWS, 300), 1 / 300))
    assert log.actions == tuple(range(300))
    assert log.action.tolist() == labels.tolist()


def test_whole_numbers_that_pandas_stores_as_floats_are_labels_of_whole_numbers():
    log = make_log(np.array([1.0, 2.0] * (ROWS // 2)))
    assert log.actions == (1, 2)
    names = [cf.Actions(one) for one in (1, 1.0, "1", "1.0")]
    assert len({cf.estimate(log, one, cf.IPS()).value for one in names}) == 1
    decimals = make_log(repeat(decimal.Decimal("1.00"), decimal.Decimal("2.00")))
    assert decimals.actions == (1, 2)


def test_a_few_fractions_are_labels_and_many_are_doses():
    log = make_log(np.array([0.1, 0.25] * (ROWS // 2)))
    assert log.actions == (0.1, 0.25)
    assert cf.estimate(log, cf.Actions("0.25"), cf.IPS()).value == cf.estimate(log, cf.Actions(0.25), cf.IPS()).value
    rng = np.random.default_rng(0)
    with pytest.raises(cf.DataError, match=r"^`action` must be at most 100 labels with fractions, got 200 .* `dose`"):
        cf.Log(action=rng.random(200), reward=rng.random(200), propensity=np.full(200, 0.5))


@pytest.mark.parametrize("names", [("true", "false"), ("True", "False")])
def test_booleans_find_their_columns_however_these_are_written(names):
    labels = np.arange(ROWS) % 2 == 0
    log = make_log(labels)
    assert log.actions == (False, True)
    target = pa.table({names[0]: np.full(ROWS, 0.8), names[1]: np.full(ROWS, 0.2)})
    expected = cf.estimate(log, {True: 0.8, False: 0.2}, cf.IPS()).value
    assert cf.estimate(log, target, cf.IPS()).value == expected
    assert cf.estimate(log, dict(zip(names, (0.8, 0.2), strict=True)), cf.IPS()).value == expected
    assert cf.estimate(log, names[0], cf.IPS()).value == cf.estimate(log, {True: 1.0}, cf.IPS()).value
    full = cf.Log(action=labels, reward=np.arange(ROWS) % 7, logging_probs=target)
    assert full.actions == names


def test_spellings_do_not_mix_texts():
    assert spell_label("v1") == ("v1",)
    assert spell_label(-3) == ("-3", "-3.0")


DAYS = [dt.date(2020, 1, day) for day in (1, 2)]
GOOD = {
    "dates": (repeat(*DAYS), tuple(DAYS)),
    "dates of numpy": (repeat(*DAYS).astype("M8[D]"), ("2020-01-01", "2020-01-02")),
    "times of numpy": (
        np.array([10**9, 2 * 10**9] * 20, dtype="m8[us]"),
        ("1000000000 microseconds", "2000000000 microseconds"),
    ),
    "bytes": (repeat(b"a", b"\xc3\xa9"), ("a", "é")),
    "bytes of numpy": (np.array([b"a", b"\xc3\xa9"] * 20), ("a", "é")),
    "large": (repeat(10**400, 1), (1, 10**400)),
}


@pytest.mark.parametrize(("labels", "actions"), GOOD.values(), ids=GOOD)
def test_odd_labels_are_taken(labels, actions):
    assert make_log(labels).actions == actions


REST = "Labels are text, whole numbers, true and false, or dates: write other things as text."
NA = " In CSV, NA and empty fields are missing unless they are in quotes."

BAD = {
    "complex": (np.array([1j, 2j] * 20), f"`action` must be labels, got complex128. {REST}"),
    "complex objects": (repeat("a", 1j), f"`action` must be labels, got 1j at row 1. {REST}"),
    "lists": (repeat("a", [1]), f"`action` must be labels, got [1] at row 1. {REST}"),
    "tuples": (repeat((1, 2), (3, 4)), f"`action` must be labels, got (1, 2) at row 0. {REST}"),
    "sets": (repeat({1}, {2}), f"`action` must be labels, got {{1}} at row 0. {REST}"),
    "arrays": (repeat(np.array([1, 2]), 3), f"`action` must be labels, got array([1, 2]) at row 0. {REST}"),
    "records": (np.zeros(ROWS, dtype=[("a", int)]), f"`action` must be labels, got [('a', '<i8')]. {REST}"),
    "mixed": (repeat("a", 1), "`action` must be labels of one kind, got text at row 0, numbers at row 1."),
    "booleans among numbers": (
        repeat(1, *[True]),
        "`action` must be labels of one kind, got numbers at row 0, true and false at row 1.",
    ),
    "bytes": (repeat(b"a", b"\xff"), r"`action` must be text in UTF-8, got b'\xff' in 20 of 40 rows, first at row 1."),
    "bytes of numpy": (
        np.array([b"a", b"\xff"] * 20),
        r"`action` must be text in UTF-8, got b'\xff' in 20 of 40 rows, first at row 1.",
    ),
    "infinite": (
        np.array([1.0, np.inf] * 20),
        (
            f"`action` must be at most {2**53} in size, where labels are stored as floats, "
            "got inf in 20 of 40 rows, first at row 1."
        ),
    ),
    "no date": (
        np.array(["2020-01-01", "NaT"] * 20, dtype="M8[D]"),
        "`action` must be a label in every row, got NaT in 20 of 40 rows, first at row 1.",
    ),
    "objects on which pyarrow crashes": (
        pd.Series([np.float32(0.5), np.datetime64("NaT")] * 20, dtype=object),
        "`action` must be a label in every row, got NaT in 20 of 40 rows, first at row 1." + NA,
    ),
    "masked": (
        np.ma.masked_array([1, 2] * 20, [False, True] * 20),
        "`action` must be a label in every row, got None in 20 of 40 rows, first at row 1." + NA,
    ),
    "dates with and without a zone": (
        repeat(dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)),  # noqa: DTZ001
        "`action` must be labels that can be sorted. Write them as text.",
    ),
}


@pytest.mark.parametrize(("labels", "message"), BAD.values(), ids=BAD)
def test_what_is_no_label_gets_one_sentence(labels, message):
    with pytest.raises(cf.DataError) as caught:
        make_log(labels)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"a", "b"}, r"^`actions` must be a list of labels, got \{"),
        (np.array("a"), r"^`actions` must be a list of labels, got array\('a'"),
        ([None, [1], [2, 3]], r"^`actions` must be one label per row, got lists of different lengths"),
        ([["a"], ["b"]], r"^`actions` must be one label per row, got shape"),
        ([{"a": 1}, {"b": 1}], r"^`actions` must be labels, got \{'a': 1\} at row 0\."),
        (["a", None], r"^`actions` must be a label in every row, got None"),
    ],
)
def test_what_is_no_list_of_actions_is_refused(actions, message):
    with pytest.raises(cf.DataError, match=message):
        make_log(repeat("a", "b"), actions=actions)


def test_text_is_not_looked_at_twice():
    labels = repeat("a", "b")
    assert check_labels("action", labels, ROWS, WHOLE) is labels


@pytest.mark.parametrize("missing", [float("nan"), pd.NA, pd.NaT, None], ids=str)
def test_what_is_missing_among_text_in_a_list_is_no_label(missing):
    labels = ["a", "b", missing, "b"] * (ROWS // 4)
    with pytest.raises(cf.DataError, match=r"^`action` must be a label in every row, got .* 10 of 40 rows, .* row 2\."):
        make_log(labels)
    with pytest.raises(cf.DataError, match=r"^`group` must be a label in every row, got .* 10 of 40 rows, .* row 2\."):
        make_log(["a", "b"] * (ROWS // 2), group=tuple(labels))
    with pytest.raises(cf.DataError, match=r"^`target` must be a label in every row, got .* 10 of 40 rows, .* row 2\."):
        cf.estimate(make_log(["a", "b"] * (ROWS // 2)), labels, cf.IPS())


def test_numbers_among_text_in_a_list_are_another_kind_of_label():
    with pytest.raises(
        cf.DataError, match=r"^`action` must be labels of one kind, got text at row 0, numbers at row 1"
    ):
        make_log(["a", 7] * (ROWS // 2))


@pytest.mark.parametrize("labels", [[np.str_("a"), "b"], [b"a", "b"], [b"a", b"b"]], ids=str)
def test_text_of_any_type_in_a_list_is_text(labels):
    assert make_log(labels * (ROWS // 2)).actions == ("a", "b")
