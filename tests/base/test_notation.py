"""The texts of options: all examples of docs/options.md, texts of objects read back, random texts, and long ones."""

import math
import re
import string
import time
from dataclasses import fields
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterfold as cf
from counterfold.base import notation, registry
from counterfold.base.errors import CounterfoldError
from counterfold.evaluation.guard import Guard
from counterfold.io.formats import build_reader
from counterfold.io.formats.dsjson import Dsjson
from counterfold.io.schema.delays import read_length, show_length
from counterfold.io.sources._expressions import Expression, parse_expression
from counterfold.learning.limits import read_limit
from counterfold.log.propensities import as_fit, as_precision
from counterfold.log.propensities.precision import Digits, Draws
from counterfold.log.segments.by import By
from counterfold.policies.given._grammar import parse_target
from places import ROOT

PAGE = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\| (.+?) \| .+? \| `(.+?)` \| .+? \|$", PAGE, re.MULTILINE)

ACTIONS = ["discount", "gift", "none"]


def read_costs(text, labels=ACTIONS):
    """Return the costs of all actions in a limit, and how much is allowed; both are negative for `>=`."""
    _, costs, most = read_limit(text, labels)
    return costs.tolist(), most


READERS = {
    "candidates": lambda text: registry.build("estimators", text),
    "selector": lambda text: registry.build("selectors", text),
    "reward_model": lambda text: registry.build("models", text),
    "format": build_reader,
    "target": parse_target,
    "guards": Guard.of,
    "limits": read_costs,
    "by": lambda text: By.of(text, []),
    "horizon": lambda text: read_length("horizon", text),
    "propensity": as_fit,
    "propensity_precision": as_precision,
    "reward": lambda text: parse_expression("reward", text, ("score", "cost")),
    "--candidates": lambda text: notation.split_commas([text]),
}
"""What reads each option, by the first name in its line of the page."""

MEANINGS = {
    "switch-dr:threshold=5": cf.SwitchDR(threshold=5.0),
    "ocv:validator=ips:splits=100": cf.OCV(validator=cf.IPS(), splits=100),
    "cross-fitted:model=ridge-per-action:alpha=1:folds=3": cf.CrossFitted(cf.RidgePerAction(alpha=1.0), folds=3),
    "dsjson:actions=place": Dsjson(actions="place"),
    "softmax:score:temperature=0.5": cf.Softmax("score", temperature=0.5),
    "math:floor": cf.Function(math.floor),
    "1/10*uniform + 0.9*greedy:score": cf.Mixture([(0.1, "uniform"), (0.9, "greedy:score")]),
    "latency <= +2%": Guard("latency <= +2%", "latency", is_most=True, kind="share", amount=0.02),
    "refund >= -0.01": Guard("refund >= -0.01", "refund", is_most=False, kind="difference", amount=-0.01),
    "latency <= 200": Guard("latency <= 200", "latency", is_most=True, kind="level", amount=200.0),
    "margin >= (-120)": Guard("margin >= (-120)", "margin", is_most=False, kind="level", amount=-120.0),
    "discount <= 20%": ([1.0, 0.0, 0.0], 0.2),
    "2 * discount + gift <= 0.3": ([2.0, 1.0, 0.0], 0.3),
    "age:5": By("age", 5),
    "1.5 days": timedelta(hours=36),
    "fit:forest": as_fit("fit:forest"),
    "1000 draws": Draws(1000),
    "score - 0.2 * cost": Expression("reward", "score - 0.2 * cost", ("score", "cost")),
    "ips, dr": ["ips", "dr"],
}


@pytest.mark.parametrize(("option", "example"), LINES, ids=[example for _, example in LINES])
def test_examples_of_the_page_mean_what_it_says(option, example):
    name = re.search(r"`(.+?)`", option)[1]
    # Forms of targets are equal only to themselves: they are compared by what they hold.
    assert repr(READERS[name](example)) == repr(MEANINGS[example])


def test_the_page_has_an_example_of_every_language():
    assert [example for _, example in LINES] == list(MEANINGS)
    assert len(LINES) == len(re.findall(r"^\| .*\|$", PAGE, re.MULTILINE)) - 2
    assert {re.search(r"`(.+?)`", option)[1] for option, _ in LINES} == set(READERS)
    assert as_fit("fit:forest").name == "forest"


# Objects are written as texts by the few lines below, and read back.


def write_strategy(name, strategy):
    """Return NAME:FIELD=VALUE:... of all fields that are numbers, or yes or no."""
    pieces = [name]
    for field in fields(strategy):
        value = getattr(strategy, field.name)
        if field.init and isinstance(value, (bool, int, float)):
            pieces.append(f"{field.name}={value}")
    return ":".join(pieces)


STRATEGIES = [
    (folder, name) for folder in ("estimators", "selectors", "models", "learners") for name in registry.names(folder)
]


@pytest.mark.parametrize(("folder", "name"), STRATEGIES)
def test_every_strategy_is_read_back(folder, name):
    strategy = registry.build(folder, name)
    assert repr(registry.build(folder, write_strategy(name, strategy))) == repr(strategy)


def test_spaces_around_names_and_signs_mean_nothing():
    assert registry.build("selectors", " ocv : validator = dr : splits = 3 ") == cf.OCV(validator=cf.DR(), splits=3)
    assert repr(parse_target("softmax : score : temperature = 0.5")) == repr(cf.Softmax("score", temperature=0.5))
    assert read_costs(" 2*discount  +gift<= 30 % ") == ([2.0, 1.0, 0.0], 0.3)
    assert Guard.of("latency<=+ 2 %").amount == 0.02


@given(st.floats(1e-9, 1e9), st.integers(2, 10**6), st.floats(0.01, 0.99))
def test_numbers_of_strategies_are_read_back(threshold, splits, share):
    assert registry.build("estimators", f"switch-dr:threshold={threshold!r}") == cf.SwitchDR(threshold)
    found = registry.build("selectors", f"ocv:validator='switch-dr:threshold={threshold!r}':splits={splits}")
    assert found == cf.OCV(validator=cf.SwitchDR(threshold), splits=splits)
    found = registry.build("selectors", f"ocv:split_ratio={share!r}:splits={splits}:validator=dr")
    assert found == cf.OCV(validator=cf.DR(), splits=splits, split_ratio=share)


def quote(name):
    """Return a name in the quotes that it does not hold."""
    return f'"{name}"' if "'" in name else f"'{name}'"


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda name: not {"'", '"'} <= set(name)
)

FORMS = {
    "always": (cf.Always, NAMES),
    "actions": (cf.Actions, NAMES),
    "probabilities": (cf.Probabilities, NAMES),
    "greedy": (cf.Greedy, st.one_of(NAMES, st.lists(NAMES, min_size=2, max_size=4))),
    "softmax": (cf.Softmax, st.one_of(NAMES, st.lists(NAMES, min_size=2, max_size=4))),
    "skops": (cf.Skops, NAMES),
    "onnx": (cf.ONNX, NAMES),
}


@st.composite
def targets(draw):
    """Draw a form of a target, and the text that is read as it."""
    name = draw(st.sampled_from(["uniform", "logger", *FORMS]))
    if name not in FORMS:
        return registry.find("targets", name)(), name
    form, values = FORMS[name]
    value = draw(values)
    text = f"{name}:{','.join(map(quote, value)) if isinstance(value, list) else quote(value)}"
    options = {}
    if name == "softmax" and draw(st.booleans()):
        options["temperature"] = draw(st.floats(1e-6, 1e6))
        text += f":temperature={options['temperature']!r}"
    if name in ("skops", "onnx") and draw(st.booleans()):
        options["columns"] = draw(st.lists(NAMES, min_size=1, max_size=3))
        text += f":columns={','.join(map(quote, options['columns']))}"
    return form(value, **options), text


@given(targets(), st.sampled_from(["", " ", "  "]))
def test_targets_are_read_back(target, space):
    form, text = target
    assert repr(parse_target(text)) == repr(form)
    assert repr(parse_target(text.replace(":", f":{space}", 1))) == repr(form)


@given(st.lists(st.tuples(st.floats(0, 1), targets()), min_size=1, max_size=4), st.sampled_from(["+", " + ", "\n+ "]))
def test_mixtures_are_read_back(parts, plus):
    text = plus.join(f"{share!r} * {part}" for share, (_, part) in parts)
    found = parse_target(text)
    assert [share for share, _ in found.parts] == [share for share, _ in parts]
    for (_, part), (_, (form, _)) in zip(found.parts, parts, strict=True):
        assert repr(parse_target(part)) == repr(form)


@pytest.mark.parametrize("name", ["big blue", "5 o'clock", "file-name", "été", "a.b", "\u017f", "50%", "(x)"])
def test_names_without_signs_need_no_quotes(name):
    assert repr(parse_target(f"always:{name}")) == repr(cf.Always(name))
    assert parse_target(f"0.5*{name} + 1/2*uniform").parts == [(0.5, name), (0.5, "uniform")]


REWARDS = st.sampled_from(
    ["latency", "score - 0.2 * cost", "(cost > 1)::int", "case when a >= 1 then 1 else 0 end", "'<=' || x", "näme"]
)


@given(REWARDS, st.booleans(), st.sampled_from(["level", "enclosed", "difference", "share"]), st.floats(-1e9, 1e9))
def test_guards_are_read_back(reward, is_most, way, number):
    written = {
        "level": f"{abs(number)!r}",
        "enclosed": f"( {number!r} )",
        "difference": f"{number:+}",
        "share": f"{number:+} %",
    }[way]
    amount = {"level": abs(number), "share": number / 100}.get(way, number)
    kind = "level" if way == "enclosed" else way
    side = "<=" if is_most else ">="
    text = f"{reward} {side} {written}"
    found = Guard.of(text)
    assert found == Guard(text, reward, is_most, kind, amount)
    close = Guard.of(f"  {reward}{side}{written}\n")
    assert (close.reward, close.is_most, close.kind, close.amount) == (reward, is_most, kind, amount)


LABELS = ["red", "big blue", "it's", "50% off", "a-b", "1/2 * x", "C++", "x <= y"]
IN_SUMS = LABELS[:6]
"""Of these, the last two cannot be in a sum: a `+` ends a label there, and a relation has one number."""


@given(
    st.lists(st.tuples(st.one_of(st.none(), st.floats(1e-3, 1e3)), st.sampled_from(IN_SUMS)), min_size=2, max_size=5),
    st.sampled_from(["<=", ">="]),
    st.floats(1e-3, 1e3),
)
def test_limits_are_read_back(terms, side, most):
    left = "+".join(name if cost is None else f" {cost!r} * {name} " for cost, name in terms)
    sign = 1 if side == "<=" else -1
    expected = [sum(1.0 if cost is None else cost for cost, own in terms if own == name) * sign for name in LABELS]
    costs, allowed = read_costs(f"{left} {side} {most!r}", LABELS)
    np.testing.assert_allclose(costs, expected, rtol=1e-12)
    assert allowed == sign * most


@given(st.sampled_from(LABELS), st.sampled_from(["<=", ">="]), st.floats(0.01, 100))
def test_any_label_may_have_a_share(label, side, share):
    costs, allowed = read_costs(f"{label} {side} {share!r}%", LABELS)
    sign = 1 if side == "<=" else -1
    assert costs == [sign * float(name == label) for name in LABELS]
    assert allowed == sign * share / 100


def test_an_action_comes_before_a_factor():
    assert read_costs("1/2 * x + red <= 1", LABELS)[0][5] == 1
    assert read_costs("1/2 * x + red <= 1", ["red", "x"]) == ([1.0, 0.5], 1.0)
    assert read_costs("1/2 * x + red <= 1", ["1/2 * x", "red", "x"]) == ([0.0, 1.0, 0.5], 1.0)


@given(st.integers(1, 10**6 - 1), st.sampled_from([1, 60, 3600, 86_400]))
def test_lengths_of_time_are_read_back(number, unit):
    length = timedelta(seconds=number * unit)
    assert read_length("horizon", show_length(length)) == length


@given(st.text(min_size=1, max_size=10).filter(lambda name: "\n" not in name), st.integers(2, 50))
def test_cuts_are_read_back(column, parts):
    assert By.of(f"{column}:{parts}", []) == By(column, parts)
    assert By.of(f"{column}:{parts}", [f"{column}:{parts}"]) == By(f"{column}:{parts}", None)


@given(st.integers(1, 2**53), st.integers(1, 15))
def test_precisions_are_read_back(draws, digits):
    assert as_precision(f" {draws} draws ") == Draws(draws)
    assert as_precision(f"{digits} digits") == as_precision(f"{digits}digit") == Digits(digits)


@pytest.mark.parametrize(
    ("expression", "compares"),
    [
        ("cost > 1", True),
        ("(cost > 1)::int", False),
        ("((a > 1) and (b < 2))::int", False),
        ("(a > 1) = b", True),
        ("case when a > 1 then 1 else 0 end", False),
        ("case when a > 1 then case when b > 1 then 1 else 0 end when c > 1 then 2 else 0 end", False),
        ("CASE WHEN (a > 1) THEN 1 END + x", False),
        ("case when a > 1 then 1", True),  # that is never closed
        ("'a < b' || x", False),
        ('"a < b"', False),
        ("it's < x", True),
        ("showcase < bend", True),
        ("a)(b<c", True),
    ],
)
def test_relations_within_an_expression(expression, compares):
    assert notation.has_relation(expression) is compares


WORDS = [
    "ocv",
    "dr",
    "switch-dr",
    "threshold",
    "greedy",
    "softmax",
    "always",
    "uniform",
    "fit",
    "dsjson",
    "latency",
    "red",
]
SIGNS = [
    *string.punctuation,
    "<=",
    ">=",
    " ",
    "\n",
    "\0",
    "1",
    "0.5",
    "1e400",
    "٣",
    "days",
    "draws",
    "case",
    "end",
    "\u017f",
    "\ud800",
]
ANY_TEXT = st.one_of(
    st.text(st.characters(), max_size=30), st.lists(st.sampled_from(WORDS + SIGNS), max_size=12).map("".join)
)


def find_refusal(option, text):
    """Return the sentence by which an option refuses a text, or nothing if it reads it."""
    try:
        READERS[option](text)
    except CounterfoldError as error:
        return str(error)
    return None


@pytest.mark.parametrize("option", READERS)
@settings(max_examples=300)
@given(text=ANY_TEXT)
def test_random_texts_are_read_or_refused_in_one_sentence(option, text):
    refusal = find_refusal(option, text)
    assert refusal is None or (refusal.endswith((".", "?")) and "\n" not in refusal)


MANY = 50_000
LONG = {
    "digits": "9" * MANY,
    "digits of parts": "age:" + "9" * MANY,
    "digits of draws": "9" * MANY + " draws",
    "digits of days": "9" * MANY + "d",
    "digits of a setting": "ocv:splits=" + "9" * MANY,
    "settings": "ocv" + ":splits=3" * MANY,
    "colons": ":" * MANY,
    "quotes": "'" * (MANY + 1),
    "spaces": "a" + " " * MANY + "<=" + " " * MANY + "x",
    "relations": "a <= " * MANY + "3",
    "open parentheses": "(" * MANY + "a <= 3",
    "parentheses": "(" * MANY + "a" + ")" * MANY + " <= 3",
    "cases": "case " * MANY + "<= 3",
    "terms": "1*red + " * MANY + "1*red",
    "costs": "1*gift + " * MANY + "1*gift <= 1",
    "fractions": "1/" * MANY + "2*red",
    "sums": "score + " * MANY + "cost",
    "sums that DuckDB takes": "score + " * 900 + "cost",
    "signs": "- " * 900 + "cost",
    "commas": "greedy:" + "a," * MANY + "a",
}


@pytest.mark.parametrize("option", READERS)
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_long_texts_take_no_time(option, text):
    start = time.process_time()
    refusal = find_refusal(option, text)
    assert refusal is None or len(refusal) < 2000
    # Reading in quadratic time takes minutes, and a tenth of a second otherwise.
    assert time.process_time() - start < 20
