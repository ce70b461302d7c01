"""Labels: which order of actions is known, so that lists without names can follow it, and which is not."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.base.validation import WHOLE
from counterfold.log.known_actions import KnownActions, Naming, count_to_width, find_actions, is_counted, sort_labels
from counterfold.log.labels import refuse_look_alikes

ORDERS = {
    "text": (["b", "a"], Naming(), ("a", "b"), False),
    "from 0 on": ([1, 0, 2], Naming(), (0, 1, 2), True),
    "from 1 on": ([3, 1, 2], Naming(), (1, 2, 3), True),
    "with gaps": ([30, 10], Naming(), (10, 30), False),
    "text of numbers": ([str(number) for number in range(12)], Naming(), tuple(map(str, range(12))), True),
    "zeros before": (["01", "02"], Naming(), ("01", "02"), False),
    "last never logged": ([0, 1], Naming(width=3), (0, 1, 2), True),
    "first of three never logged": ([2, 3], Naming(width=3), (1, 2, 3), True),
    "0 or 1 first": ([1, 2], Naming(width=3), (1, 2), True),
    "text, never logged": (["0", "2"], Naming(width=4), ("0", "1", "2", "3"), True),
    "booleans": ([True, False], Naming(width=2), (False, True), True),
    "names": (["b", "a"], Naming(("b", "a"), are_ordered=True), ("b", "a"), True),
    "names in no order": (["b", "a"], Naming(("b", "a")), ("a", "b"), False),
    "numbers in no order": ([1, 0], Naming(("1", "0")), ("0", "1"), True),
    "names against numbers": ([1, 0], Naming(("1", "0"), are_ordered=True), ("1", "0"), False),
    "categories": (["b", "a"], Naming(categories=("c", "b", "a")), ("c", "b", "a"), True),
    "categories order names": (["b", "a"], Naming(("a", "b"), categories=("b", "a")), ("b", "a"), True),
    "categories against names": (
        ["b", "a"],
        Naming(("a", "b"), are_ordered=True, categories=("b", "a")),
        ("a", "b"),
        False,
    ),
}


@pytest.mark.parametrize(("labels", "naming", "actions", "is_ordered"), ORDERS.values(), ids=ORDERS)
def test_orders(labels, naming, actions, is_ordered):
    assert find_actions(np.array(labels), None, naming, WHOLE) == KnownActions(actions, is_ordered)


def test_counting():
    assert count_to_width((1, 2), 3) is None
    assert count_to_width((0, 5), 3) is None
    assert count_to_width((True, False), 3) is None
    assert not is_counted(["a"])
    assert not is_counted([0, 2])
    assert sort_labels(["b", 1, "a"]) == (1, "a", "b")


@pytest.mark.parametrize("pair", [("Red", "red"), ("red", "red "), ("1", "1.0"), ("big  red", "big red")])
def test_labels_that_look_alike_are_refused_unless_they_are_declared(pair):
    with pytest.raises(cf.DataError, match=f"got '{pair[0]}' and '{pair[1]}'"):
        refuse_look_alikes(pair, WHOLE)
    log = cf.Log(action=[*pair, *pair], reward=[1, 0, 2, 3], propensity=[0.5] * 4, actions=pair)
    assert log.action.tolist() == [0, 1, 0, 1]


UNICODE_PAIRS = {
    "composed and decomposed": ("caf\u00e9", "cafe\u0301"),
    "zero-width space": ("red", "red\u200b"),
    "byte order mark": ("red", "\ufeffred"),
    "soft hyphen": ("ab", "a\u00adb"),
    "variation selector": ("x", "x\ufe0f"),
    "full-width letters": ("ABC", "\uff21\uff22\uff23"),
    "full-width digits": ("item1", "item\uff11"),
    "NUL at the end": ("a", "a\0"),
    "NUL within": ("ab", "a\0b"),
}


@pytest.mark.parametrize("kind", ["list", "objects", "numpy text", "bytes", "pandas", "polars", "dictionary"])
@pytest.mark.parametrize("pair", UNICODE_PAIRS.values(), ids=UNICODE_PAIRS)
def test_labels_that_differ_by_unicode_form_are_refused_unless_they_are_declared(pair, kind):
    labels = [pair[0], pair[1], "other", "other"] * 5
    made = {
        "list": lambda: labels,
        "objects": lambda: np.array(labels, dtype=object),
        "numpy text": lambda: np.array(labels, dtype=np.dtypes.StringDType()),
        "bytes": lambda: [label.encode() for label in labels],
        "pandas": lambda: pytest.importorskip("pandas").Series(labels),
        "polars": lambda: pytest.importorskip("polars").Series(labels),
        "dictionary": lambda: pa.chunked_array([pa.array(labels).dictionary_encode()]),
    }
    known = {"action": made[kind](), "reward": list(range(20)), "propensity": [0.5] * 20}
    first, second = sorted(pair)
    with pytest.raises(cf.DataError) as error:
        cf.Log(**known)
    rule = "`action` must be labels that differ by more than Unicode form or invisible characters"
    assert f"{rule}, got {first!a} and {second!a}. Make them one label" in str(error.value)
    log = cf.Log(**known, actions=[*pair, "other"])
    assert log.action.tolist() == [0, 1, 2, 2] * 5


@pytest.mark.parametrize("pair", UNICODE_PAIRS.values(), ids=UNICODE_PAIRS)
def test_targets_in_another_unicode_form_are_refused_with_the_label_that_is_meant(pair):
    logged, written = pair
    log = cf.Log(action=[logged, "other"] * 5, reward=list(range(10)), propensity=[0.5] * 10)
    hint = f"Did you mean {logged!a}? It differs by Unicode form or invisible characters alone."
    for target in (cf.Actions([written] * 10), {written: 0.5, "other": 0.5}):
        with pytest.raises(cf.DataError) as error:
            cf.evaluate(log, target)
        assert hint in str(error.value)


ORDERED = {
    "pandas": lambda pd, labels, names: pd.Categorical(labels, categories=names, ordered=True),
    "pandas column": lambda pd, labels, names: pd.Series(pd.Categorical(labels, categories=names, ordered=True)),
    "polars": lambda pl, labels, names: pl.Series(labels, dtype=pl.Enum(names)),
    "pyarrow": lambda pa, labels, names: pa.DictionaryArray.from_arrays(
        [names.index(label) for label in labels], names, ordered=True
    ),
}


@pytest.mark.parametrize("kind", ORDERED)
def test_ordered_categories_give_the_order(kind):
    names, labels = ["low", "mid", "high"], ["mid", "low", "high", "mid"]
    action = ORDERED[kind](pytest.importorskip(kind.partition(" ")[0]), labels, names)
    log = cf.Log(action=action, reward=[1.0, 0.0, 2.0, 0.5], logging_probs=[[0.2, 0.3, 0.5]] * 4)
    assert (log.actions, log.propensity.tolist()) == (tuple(names), [0.3, 0.2, 0.5, 0.3])


def test_float_actions_find_their_columns_under_both_names():
    known = {"action": [1.0, 2.0, 1.0], "reward": [0.0, 1.0, 2.0]}
    for names in (["1", "2"], ["1.0", "2.0"]):
        probs = pa.table(dict(zip(names, np.array([[0.4, 0.6]] * 3).T, strict=True)))
        assert cf.Log(**known, logging_probs=probs).propensity.tolist() == [0.4, 0.6, 0.4]


def test_loggers_may_be_named_in_part():
    rows = {"action": ["a", "b", "a", "b"], "reward": [0.0, 1.0, 2.0, 3.0], "logger": ["x", "y", "x", "y"]}
    named = pa.table({"b": [0.6] * 4, "a": [0.4] * 4})
    log = cf.Log(**rows, logger_probs={"x": [[0.7, 0.3]] * 4, "y": named})
    assert log.actions == ("b", "a")
    assert log.drawn_probs[range(4), log.action].tolist() == [0.3, 0.6, 0.3, 0.6]


def test_the_hint_is_about_the_label_that_is_shown():
    log = cf.Log(action=["red", "blue", "green"] * 10, reward=list(range(30)), propensity=[1 / 3] * 30)
    with pytest.raises(cf.DataError, match="Did you mean 'green'"):
        cf.evaluate(log, cf.Actions(["GREEN", "BLUE"] * 15))
