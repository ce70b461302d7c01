"""Texts from data are safe to show and short, whatever they hold."""

import json
import pickle
import re
import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import counterfold as cf
from counterfold.base import messages, standard_json
from counterfold.base.errors import SupportWarning

HUGE = "\x1b[2J" + "é" * 10**5
LABELS = [f"{HUGE}{letter}" for letter in "ab"]


@given(st.text())
def test_what_is_cleaned_can_be_printed_and_stays_as_it_is(text):
    cleaned = messages.clean(text)
    assert cleaned.isprintable()
    assert messages.clean(cleaned) == cleaned
    assert text.isprintable() == (cleaned == text)
    assert len(messages.show(text)) <= messages.LONGEST_LABEL


@pytest.mark.parametrize(
    "odd", ["\x1b", "\x9b", "\r", "\u202e", "\u200b", "\ufeff", "\u2028", "\udc80", "\x7f", "\x00"]
)
@pytest.mark.parametrize("kind", [cf.DataError, cf.ParameterError, cf.ModelError, SupportWarning])
def test_errors_and_warnings_are_safe_to_show(kind, odd):
    error = kind(f"column `a{odd}b` must be there.")
    assert str(error).isprintable()
    assert re.fullmatch(r"column `a(\\\w+| )b` must be there\.", str(error))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 (our own)


def test_a_message_of_several_lines_is_one():
    assert str(cf.DataError("broken:\n  at row 3\n")) == "broken: at row 3"
    assert str(cf.DataError("two  blanks")) == "two  blanks"


def test_the_beginning_and_the_end_of_a_long_sentence_are_kept():
    text = str(cf.DataError(f"`a` must be short, got {HUGE}. Do this."))
    assert len(text) == messages.LONGEST_SENTENCE
    assert text.startswith(r"`a` must be short, got \x1b[2Jéé")
    assert text.endswith("éé. Do this.")


def test_long_lists_of_names_say_how_many_there_are():
    assert messages.list_names(["a", "b"]) == "a, b"
    listed = messages.list_names([f"column {number}" for number in range(2000)])
    assert listed.endswith(", ... (2000 in all)")
    assert len(listed) < messages.LONGEST_LIST + 30


def build(**changes):
    data = {"action": LABELS * 20, "reward": np.arange(40.0), "propensity": np.full(40, 0.5)}
    return cf.read_log(pa.table(data | changes))


CALLS = {
    "unknown action": lambda: cf.Log(action=LABELS * 2, reward=range(4), propensity=[0.5] * 4, actions=["x", "y"]),
    "look-alikes": lambda: build(action=[HUGE, HUGE.upper()] * 20),
    "unknown target": lambda: cf.evaluate(build(), HUGE),
    "list without names": lambda: build(logging_probs=[[0.5, 0.5]] * 40),
    "missing column": lambda: cf.read_log(pa.table({f"{HUGE}{number}": [1] for number in range(3)})),
    "many columns": lambda: cf.read_log(pa.table({f"column {number}": [1] for number in range(2000)})),
    "name": lambda: cf.read_log(pa.table({"a": [1, 2]}), action=HUGE),
    "path": lambda: cf.read_log(f"{HUGE[:50]}.parquet"),
    "parameter": lambda: cf.evaluate(build(), LABELS[0], reward_range=HUGE),
    "estimator": lambda: cf.evaluate(build(), LABELS[0], candidates=HUGE),
    "column of text": lambda: build(reward=[HUGE] * 40),
    "struct": lambda: build(reward=[{HUGE: 1}] * 40),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_error_is_short_and_safe_with_huge_labels(call):
    with pytest.raises(cf.CounterfoldError) as caught:
        call()
    assert len(str(caught.value)) <= messages.LONGEST_SENTENCE
    assert str(caught.value).isprintable()


def test_reprs_are_safe_and_short():
    odd = cf.Estimate("\x1b[31mIPS", np.arange(4.0))
    assert repr(odd) == r"Estimate(\x1b[31mIPS: 1.5 ± 0.65)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cf.evaluate(build(), LABELS[0])
    for one in (build(), result, result.uplift()):
        assert repr(one).isprintable()
        assert len(repr(one)) <= messages.LONGEST_SENTENCE
    for finding in result.diagnostics.findings:
        assert finding.problem.isprintable()


def test_json_is_standard_and_exact():
    answer = {"a\x1b": [1.5, float("nan"), -float("inf"), None, True], "text": "\udc80\u202e \n"}
    text = standard_json.write(answer)
    assert text.isascii()
    assert "NaN" not in text
    read = json.loads(text)
    assert read == {"version": 1, "a\x1b": [1.5, None, None, None, True], "text": "\udc80\u202e \n"}
