"""Arguments that are no such thing: one sentence names each, the rule, and what was given."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import counterfold as cf
from counterfold.estimators.base import Estimator

HUGE, ENDLESS = 10**400, 10**5000
CUBE = np.zeros((2, 2, 2))
ROWS = 40
TARGET = [0.5] * ROWS
TABLE = {
    "action": ["a", "b"] * (ROWS // 2),
    "reward": np.arange(ROWS) % 7.0,
    "propensity": [0.5] * ROWS,
    "x": np.arange(ROWS) * 1.0,
    "y": np.sin(np.arange(ROWS)),
}


@pytest.fixture(scope="module")
def log():
    return cf.read_log(TABLE)


def evaluate(log, **given):
    return cf.evaluate(log, TARGET, **{"candidates": ["ips"], "selector": "slope", "progress": False} | given)


class Plain(Estimator):
    """An estimator that is no dataclass."""

    def contributions(self, rows):
        return rows.rewards


@dataclass
class Loose(Plain):
    """An estimator that can be changed, so that it has no hash."""


NUMBERS = {
    "at least": (cf.SwitchDR, "threshold", r"at most 1.79769e\+308 in size"),
    "above": (cf.RidgePerAction, "alpha", r"at most 1.79769e\+308 in size"),
    "positive": (cf.KernelIPS, "bandwidth", r"at most 1.79769e\+308 in size"),
    "within": (cf.IPSLambda, "mix", r"in \[0, 1\]"),
    "inside": (lambda value: cf.Theory(delta=value), "delta", r"in \(0, 1\)"),
    "whole": (cf.GroupIPS, "groups", r"at most 9.22337e\+18 in size"),
    "infinite": (cf.MIPS, "dimensions", r"at most 9.22337e\+18 in size"),
    "finite": (lambda value: cf.EmpiricalBernstein(low=value), "low", r"at most 1.79769e\+308 in size"),
    "seed": (lambda value: cf.Bootstrap(seed=value), "seed", r"at most 3.40282e\+38 in size"),
    "threads": (cf.Pool, "threads", r"at most 9.22337e\+18 in size"),
}


@pytest.mark.parametrize(("make", "name", "rule"), NUMBERS.values(), ids=NUMBERS)
def test_numbers_beyond_all_floats_are_refused(make, name, rule):
    with pytest.raises(cf.ParameterError, match=rf"^`{name}` must be {rule}, got 10+\.\.\.0+\.$"):
        make(HUGE)
    with pytest.raises(cf.ParameterError, match=rf"^`{name}` must be {rule}, got a very long int\.$"):
        make(ENDLESS)
    for value in (np.complex128(1), math.nan, CUBE, "1", []):
        with pytest.raises(cf.ParameterError, match=rf"^`{name}` must be (a|in) "):
            make(value)


def test_large_numbers_that_mean_something_are_taken(log):
    assert cf.SwitchDR(np.finfo(float).max).threshold == np.finfo(float).max
    assert cf.SwitchDR(math.inf).threshold == cf.MIPS(math.inf).dimensions == math.inf
    assert evaluate(log, seed=2**128 - 1).seed == 2**128 - 1


ARGUMENTS = {
    "level": ({"level": HUGE}, r"^`level` must be in \(0, 1\), got 1000"),
    "seed": ({"seed": HUGE}, r"^`seed` must be at most 3.40282e\+38 in size, got 1000"),
    "threads": ({"threads": HUGE}, r"^`threads` must be at most 9.22337e\+18 in size, got 1000"),
    "range": ({"reward_range": (0, HUGE)}, "^`reward_range` must be the least and the largest possible reward"),
    "engine": ({"engine": CUBE}, r"^`engine` must be `auto`, `local`, `memory` or `spark`, got array\("),
    "interval": ({"interval": ENDLESS}, r"^`interval` must be an interval or the name of one, got a very long int\.$"),
    "candidates": ({"candidates": CUBE}, r"^`candidates` must be estimators, classes or .*, got array\("),
    "abstract": ({"candidates": [Estimator]}, "^the estimator Estimator must be a frozen dataclass"),
    "plain": ({"candidates": [Plain]}, "^the estimator Plain must be a frozen dataclass. Write `@dataclass"),
    "loose": ({"candidates": [Loose()]}, "^the estimator Loose must be a frozen dataclass"),
}


@pytest.mark.parametrize(("given", "message"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_of_evaluate(given, message, log):
    with pytest.raises(cf.ParameterError, match=message) as caught:
        evaluate(log, **given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [None, 0, "bar", 1.5, [], CUBE, np.True_], ids=str)
def test_progress_is_true_false_or_a_function(value, log):
    with pytest.raises(cf.ParameterError, match=r"^`progress` must be True, False or a function of the pieces of work"):
        evaluate(log, progress=value)


@pytest.mark.parametrize("function", [lambda: None, int, lambda _done, _total: 1 / 0], ids=["no", "class", "raises"])
def test_a_progress_function_that_fails_is_named(function, log):
    with pytest.raises(cf.ParameterError, match=r"^the function that is `progress` failed with \w+Error: ") as caught:
        cf.evaluate(log, TARGET, progress=function)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("value", ["log.csv", None, 5, [], pd.DataFrame(TABLE), cf.LogScan(TABLE)], ids=type)
def test_estimate_takes_a_log_in_memory(value):
    with pytest.raises(
        cf.ParameterError, match=r"^`log` must be a `Log`, got .*`cf.read_log` .* `cf.evaluate`"
    ) as caught:
        cf.estimate(value, TARGET, "ips")
    assert "\n" not in str(caught.value)


def test_estimate_takes_frozen_estimators(log):
    with pytest.raises(cf.ParameterError, match=r"^the estimator Loose must be a frozen dataclass"):
        cf.estimate(log, TARGET, Loose())


@pytest.mark.parametrize("selector", [cf.OCV, cf.KFoldCV, cf.OPERA])
@pytest.mark.parametrize("value", ["dr", cf.DR, 5, CUBE, []], ids=["text", "class", "number", "array", "list"])
def test_a_validator_is_an_estimator(selector, value):
    with pytest.raises(cf.ParameterError, match=r"^`validator` must be an estimator, such as DR\(\), got "):
        selector(validator=value)
    with pytest.raises(cf.ParameterError, match=r"^the estimator Plain must be a frozen dataclass"):
        selector(validator=Plain())


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: cf.OCV(rule=CUBE), "rule"),
        (lambda: cf.OCV(split_ratio=CUBE), "split_ratio"),
        (lambda: cf.KFoldCV(rule=CUBE), "rule"),
        (lambda: cf.OPERA(centre=CUBE), "centre"),
        (lambda: cf.SLOPE(order=CUBE), "order"),
        (lambda: cf.Ladder(ladders=ENDLESS), "ladders"),
    ],
)
def test_what_is_no_text_is_none_of_the_choices(make, name):
    with pytest.raises(cf.ParameterError, match=rf"^`{name}` must be .*, got (array\(|a very long int)"):
        make()


def test_uplift_is_over_another_evaluation(log):
    with pytest.raises(cf.ParameterError, match=r"^`other` must be an evaluation of another target .*, got 5\.$"):
        evaluate(log).uplift(5)


ROLES = ["action", "dose", "reward", "propensity", "logging_probs", "logger_probs", "logger", "group", "available"]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("value", [-1, 0, math.nan, ["x"], {}, b"x", int, CUBE], ids=str)
def test_columns_are_named_by_text(role, value):
    if role == "reward" and isinstance(value, list):
        pytest.skip("several rewards are a list")
    with pytest.raises(cf.ParameterError, match=rf"^`{role}` must be the name of a column, as text, got "):
        cf.LogScan(TABLE, **{role: value})
    with pytest.raises(cf.ParameterError, match=r"^`column` must be the name of a column, as text, got "):
        cf.read_target(TABLE, value)


def test_an_empty_name_is_not_the_default():
    with pytest.raises(cf.DataError, match=r"^column `` must be there"):
        cf.read_log(TABLE, group="")
    with pytest.raises(cf.ParameterError, match=r"^`reward` must be the name of a column, as text, got None\. Several"):
        cf.read_log(TABLE, reward=None)


@pytest.mark.parametrize("name", ["context", "ignore"])
@pytest.mark.parametrize("value", [-1, math.nan, [None], [0, 1], ["x", 1], b"x", int, CUBE], ids=str)
def test_lists_of_columns_hold_text(name, value):
    with pytest.raises(cf.ParameterError, match=f"^`{name}` must be names of columns, as a list of texts, got "):
        cf.LogScan(TABLE, **{name: value})


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Index, iter], ids=str)
def test_columns_may_be_listed_in_any_way(kind):
    assert cf.read_log(TABLE, context=kind(["y", "x"])).context_names == ("y", "x")
    assert cf.read_log(TABLE, ignore=kind(["y", "x"])).context_names == ()


def test_one_column_need_not_be_listed():
    assert cf.read_log(TABLE, context="y").context_names == ("y",)
    assert cf.read_log(TABLE | {"early": TABLE["x"]}, ignore="early").context_names == ("x", "y")
