"""Odd logs on every engine: the same answer, or the same sentence."""

import datetime as dt
import decimal
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import counterfold as cf
from counterfold.base.validation import FIRST

ROWS, LONG = 240, FIRST + 4000


def make_columns(rows=ROWS, **changes):
    """Return a log of three actions with the target's probability of the logged one; None leaves a column out."""
    rng = np.random.default_rng(5)
    action = rng.integers(3, size=rows)
    columns = {
        "x": rng.normal(size=rows),
        "action": action,
        "reward": rng.normal(size=rows) + action,
        "propensity": np.full(rows, 1 / 3),
        "target": np.where(action == 1, 0.8, 0.1),
    }
    return {name: values for name, values in (columns | changes).items() if values is not None}


def repeat(*values, rows=ROWS):
    return [values[row % len(values)] for row in range(rows)]


def late(rows, value, usual):
    """Return a column that is odd only behind the first rows."""
    return np.where(np.arange(rows) < FIRST + 100, usual, value)


MAP = pa.map_(pa.string(), pa.float64())
WIDE = {"target": None, **{f"target.{action}": np.full(ROWS, share) for action, share in enumerate([0.1, 0.8, 0.1])}}
LOGGERS = {f"logger_probs.{one}.{action}": np.full(ROWS, 1 / 3) for one in "uv" for action in range(3)}
SMALL = np.array(repeat(-100, 0, 100), dtype="int8")
LOGS = {
    "int8": make_columns(action=SMALL),
    "int8, full": make_columns(
        action=SMALL, target=None, **{f"target.{label}": np.full(ROWS, 1 / 3) for label in (-100, 0, 100)}
    ),
    "floats": make_columns(action=np.array(repeat(0.0, 1.0, 2.0)), **WIDE),
    "fractions": make_columns(action=np.array(repeat(0.1, 0.2))),
    "doses as actions": make_columns(action=np.random.default_rng(1).random(ROWS)),
    "true and false": make_columns(action=repeat(*[True, False]), target=repeat({"true": 0.7, "false": 0.3})),
    "decimals": make_columns(action=repeat(*map(decimal.Decimal, ("0.00", "1.00", "2.00"))), **WIDE),
    "dates": make_columns(action=repeat(*(dt.date(2020, 1, day) for day in (1, 2, 3)))),
    "bytes": make_columns(action=repeat(b"a", b"b", b"c")),
    "bytes that are no text": make_columns(action=repeat(b"a", b"\xff", b"c")),
    "lists as labels": make_columns(action=repeat([1], [2])),
    "one action": make_columns(action=np.zeros(ROWS, dtype=int)),
    "one action, text": make_columns(action=repeat("a")),
    "one action at first": make_columns(
        LONG, action=late(LONG, 1, 0), target=np.full(LONG, 0.5), propensity=np.full(LONG, 0.5)
    ),
    "one logger": make_columns(propensity=None, logger=repeat("u"), **LOGGERS),
    "one logger at first": make_columns(
        LONG,
        propensity=None,
        logger=late(LONG, "v", "u"),
        **{name: np.full(LONG, 1 / 3) for name in LOGGERS},
    ),
    "0 and 1 at first": make_columns(
        LONG, action=np.arange(LONG) % 2, propensity=np.full(LONG, 0.5), target=late(LONG, 0.5, np.arange(LONG) % 2)
    ),
    "missing context": make_columns(x=repeat(1.0, 2.0, np.nan), y=repeat(1.0, np.nan, 3.0)),
    "missing context late": make_columns(
        LONG, x=late(LONG, np.nan, 1.0), y=np.where(np.arange(LONG) == 7, np.nan, 1.0)
    ),
    "text that is numbers": make_columns(reward=repeat("0.5", "1", "2e0"), propensity=repeat("0.25")),
    "percentages": make_columns(reward=repeat("0.5", "12%", "1,234.5")),
    "currencies": make_columns(reward=repeat("$12.50", "$1,250.00")),
    "words": make_columns(reward=repeat("yes", "no")),
    "a bad cell": make_columns(reward=[*repeat("0.5", "1")[:-1], "NA"]),
    "empty cells": make_columns(propensity=repeat("0.5", "")),
    "categories of numbers": make_columns(reward=pa.array(repeat(0.5, 1.0)).dictionary_encode()),
    "missing rewards": make_columns(reward=pa.nulls(ROWS)),
    "durations": make_columns(reward=pa.array(repeat(*(dt.timedelta(days=day) for day in (1, 2))))),
    "tiny rewards": make_columns(reward=np.arange(ROWS) * 1e-200),
    "nearly equal rewards": make_columns(reward=1e14 + np.arange(ROWS) % 2),
    "large whole numbers": make_columns(reward=2**62 - np.arange(ROWS) * 2**54),
    "tiny probabilities": make_columns(target=np.full(ROWS, 1e-200)),
    "tiny probabilities among others": make_columns(target=np.array(repeat(1e-200, 0.5))),
    "repeated keys": make_columns(target=pa.array(repeat([("0", 0.2), ("1", 0.5), ("0", 0.3)]), MAP)),
    "repeated keys of JSON": make_columns(target=repeat('{"0": 0.2, "1": 0.8}', '{"0": 0.2, "1": 0.5, "0": 0.3}')),
    "repeated fields": make_columns(
        target=pa.StructArray.from_arrays([pa.array([0.5] * ROWS)] * 2, names=["0", "0"]),
    ),
    "NaN in JSON": make_columns(target=repeat('{"0": NaN, "1": 0.5, "2": 0.5}')),
    "infinity in JSON": make_columns(target=repeat("[Infinity, 0.5, 0.5]")),
    "text in JSON": make_columns(target=repeat("[0.2, 0.3, 0.5]", '[0.2, 0.3, "x"]')),
    "two digits": make_columns(**WIDE | {f"target.{action}": np.full(ROWS, 0.33) for action in range(3)}),
    "probabilities that do not sum": make_columns(**WIDE | {"target.1": np.full(ROWS, 0.3)}),
    "item_id": make_columns(action=None, item_id=repeat("a", "b")),
    "pscore": make_columns(propensity=None, pscore=np.full(ROWS, 0.5)),
    "click": make_columns(reward=None, Click=repeat(0, 1)),
    "new_policy": make_columns(target=None, new_policy=np.full(ROWS, 0.5)),
}


def ask(source, engine):
    """Return the value of the target, or the sentence; errors of a long log count the rows of one batch."""
    try:
        answer = cf.evaluate(source, candidates=["ips", "snips", "dr"], engine=engine, progress=False)
    except cf.CounterfoldError as error:
        return re.sub(r" in \d+ of \d+ rows( from row \d+ on)?,", " in some rows,", str(error))
    return answer.value, *answer.interval


@pytest.mark.parametrize("columns", LOGS.values(), ids=LOGS)
def test_engines_agree_on_odd_logs(columns, tmp_path):
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    in_memory, local = (ask(tmp_path / "log.parquet", engine) for engine in ("memory", "local"))
    if isinstance(in_memory, str):
        assert local == in_memory
    else:
        assert local == pytest.approx(in_memory, rel=0.02, abs=0.02)


SAID = {
    "doses as actions": "`action` must be at most 100 labels with fractions, got 240 different numbers",
    "bytes that are no text": r"`action` must be text in UTF-8, got b'\\xff' in some rows, first at row 1\.",
    "one action": "a log must know at least 2 actions, got 1: there is nothing to choose between",
    "0 and 1 at first": "`target` must be numbers that can only be probabilities, got 0 and 1 alone",
    "percentages": r"column `reward` must be numbers, got '12%' in some rows, first at row 1\. Write plain numbers,",
    "currencies": r"got '\$12\.50' in some rows.* 1234\.5 for 1,234\.5 or \$1,234\.50, and 1 and 0 for yes and no",
    "words": r"got 'yes' in some rows, first at row 0\. Write plain numbers, such as .* and 1 and 0 for yes and no",
    "a bad cell": r"column `reward` must be numbers, got 'NA' in some rows, first at row 239\. Write plain numbers,",
    "empty cells": "column `propensity` must be numbers, got '' in some rows, first at row 1",
    "missing rewards": "`reward` must be finite, got nan in some rows, first at row 0",
    "durations": r"column `reward` must be numbers, got duration\[us\]\.",
    "tiny rewards": "`reward` must vary by at least 1e-60, got 0.0 to 2.39e-198",
    "nearly equal rewards": r"`reward` must vary by at least 100, got .* Subtract a constant\.",
    "repeated keys": "column `target` must be maps that name each action once, got '0' 2 times in some rows",
    "repeated keys of JSON": "column `target` must name each action once in a row, got '0' 2 times, first at row 1",
    "repeated fields": "column `target` must name each action once, got target.0 more often",
    "NaN in JSON": "`target` must be finite, got nan in some rows, first at row 0",
    "infinity in JSON": "`target` must be finite, got inf in some rows, first at row 0",
    "text in JSON": r"column `target` must be lists of numbers .* alike in every row, got \[0.2, 0.3, 'x'\] .* row 1",
    "two digits": r"sum to 1, got 0.99 in some rows, first at row 0\. No row is farther off than 0.01, as if",
    "probabilities that do not sum": r"`target` must be rows of probabilities that sum to 1, got 0.5 .* at row 0\.$",
    "item_id": r"column `action` must be there\. Did you mean `item_id`\? Then name it: `action='item_id'` \(",
    "pscore": r"got neither\. Did you mean `pscore`\? Then name it: `propensity='pscore'` \(--propensity pscore\)\.$",
    "click": r"column `reward` must be there\. Did you mean `Click`\? Then name it: `reward='Click'` \(",
    "new_policy": r"Did you mean `new_policy`\? Then name it: `target='new_policy'` \(--target new_policy\)\.",
}


@pytest.mark.parametrize(("name", "message"), SAID.items(), ids=SAID)
def test_what_is_said_of_odd_logs(name, message):
    said = ask(pa.table(LOGS[name]), "memory")
    assert isinstance(said, str)
    assert re.search(message, said), said


def test_the_other_odd_logs_are_answered():
    for name in LOGS.keys() - SAID.keys() - {"lists as labels", "one action, text"}:
        assert not isinstance(ask(pa.table(LOGS[name]), "memory"), str), name


def test_a_sheet_of_usual_names_is_never_taken_by_itself():
    table = pa.table(make_columns(propensity=None, pscore=np.full(ROWS, 0.5)))
    assert cf.read_log(table, propensity="pscore").propensity[0] == 0.5
