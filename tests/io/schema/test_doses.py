"""Logs of doses: the same log from every format and layout, a sentence when it is bad."""

import json

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from tables import objects, same, table_of


@pytest.fixture
def doses():
    """Return the columns of a log of prices."""
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 80, size=120)
    price = rng.normal(age / 5, 2.0)
    density = np.exp(-(((price - age / 5) / 2.0) ** 2) / 2) / 2.0 / np.sqrt(2 * np.pi)
    draws = age[:, None] / 5 - 1 + rng.normal(size=(120, 3))
    reward = price * (price < 12) + rng.normal(size=120)
    return {"age": age, "dose": price, "reward": reward, "propensity": density, "target": age / 5 - 1, "draws": draws}


def log_of_doses(doses):
    context = pa.table({"age": doses["age"]})
    return cf.Log(context=context, **{name: doses[name] for name in ("dose", "reward", "propensity")})


def test_a_log_of_doses_from_every_format(doses, source):
    read = source(table_of(doses))
    log = cf.read_log(read)
    same(log, log_of_doses(doses))
    assert [note for note, _ in log.notes] == [
        "column `dose` was taken for the dose that was given, because of its name"
    ]
    for target in ("target", "draws"):
        answer = cf.evaluate(log, cf.read_target(read, target), "kernel-dr").to_dict()
        known = cf.evaluate(log_of_doses(doses).add_notes(log.notes), doses[target], "kernel-dr").to_dict()
        assert answer | {"context": None} == known | {"context": None}  # a file has other columns that are no context


DRAWS = {
    "list": lambda draws: {"draws": draws},
    "JSON": lambda draws: {"draws": [json.dumps(row) for row in draws.tolist()]},
    "struct": lambda draws: {"draws": objects(draws.tolist(), "abc")},
    "columns": lambda draws: {f"draws.{place}": column for place, column in enumerate(draws.T)},
}


@pytest.mark.parametrize("layout", DRAWS.values(), ids=DRAWS)
def test_several_draws_of_a_dose_in_every_layout(layout, doses):
    table = table_of(doses | {"draws": None} | layout(doses["draws"]))
    log = cf.read_log(table, ignore=["target", "draws"])
    same(log, log_of_doses(doses))
    found = cf.estimate(log, cf.read_target(table, "draws"), cf.KernelIPS(2.0))
    assert found.value == cf.estimate(log, doses["draws"], cf.KernelIPS(2.0)).value


def test_a_named_dose_makes_a_log_of_doses_and_leaves_what_goes_with_actions_alone(doses):
    more = {"price": doses["dose"], "dose": None, "action": [0, 1] * 60, "logging_probs": [[0.5, 0.5]] * 120}
    same(cf.read_log(table_of(doses | more), dose="price"), log_of_doses(doses))


def test_an_action_beside_a_dose_wins_unless_one_is_named(doses):
    both = table_of(doses, action=[0, 1] * 60, propensity=[0.5] * 120)
    log = cf.read_log(both)
    assert (log.kind, log.context_names) == ("labels", ("age", "dose"))
    assert cf.read_log(both, dose="dose").kind == "doses"
    with pytest.raises(cf.DataError, match="must have `action` or `dose`, and `action` goes with `action`, got it"):
        cf.read_log(both, dose="dose", action="action")


BAD_TARGETS = {
    "no draws": (np.empty((120, 0)), "`target` must hold a dose in every row, got none."),
    "far": (np.full(120, 1e30), "`target` must be within 10 times the range of the logged doses, got 1e+30 in 120"),
    "short": (np.ones(3), "`target` must have one entry per row (120), got 3."),
    "nan": (np.full((120, 2), np.nan), "`target` must be finite, got nan in 120 of 120 rows, first at row 0."),
}


@pytest.mark.parametrize(("target", "message"), BAD_TARGETS.values(), ids=BAD_TARGETS)
def test_bad_targets_of_doses_get_one_sentence(target, message, doses):
    with pytest.raises(cf.DataError) as caught:
        cf.evaluate(log_of_doses(doses), target)
    assert str(caught.value).startswith(message)


def test_the_default_candidates_of_doses_can_be_named_among_others(doses):
    table = cf.evaluate(log_of_doses(doses), doses["target"], ["default", cf.KernelIPS(7.0)]).table
    assert {line.name.partition("(")[0] for line in table} == {"DM", "KernelIPS", "KernelDR"}


def test_the_dose_must_not_be_context(doses):
    with pytest.raises(cf.DataError, match=r"^`context` must not hold column `dose`, which is the dose\.$"):
        cf.read_log(table_of(doses), context=["age", "dose"])


HALF = "in 60 of 120 rows, first at row 1."
BAD_DOSES = {
    "nan": ({"price": [1.0, np.nan] * 60}, f"`dose` (column `price`) must be finite, got nan {HALF}"),
    "null": ({"price": [1.0, None] * 60}, f"`dose` (column `price`) must be finite, got nan {HALF}"),
    "infinite": ({"price": [1.0, np.inf] * 60}, f"`dose` (column `price`) must be finite, got inf {HALF}"),
    "tiny": (
        {"price": [1e-200, 2e-200] * 60},
        "`dose` (column `price`) must vary by at least 1e-60, got 1e-200 to 2e-",
    ),
    "text": (
        {"price": ["1", "dear"] * 60},
        "column `price` must be numbers, got 'dear' in 60 of 120 rows, first at row 1.",
    ),
    "lists": ({"price": [[1.0], [2.0]] * 60}, "column `price` must be numbers, got list<"),
    "constant": ({"price": [3] * 120}, "`dose` (column `price`) must vary, got 3.0 in all 120 rows: there is nothing"),
    "no density": ({"propensity": None}, "a log of doses must have `propensity`, the probability density of each, got"),
    "zero density": ({"propensity": [0.1, 0.0] * 60}, "`propensity` must be a probability density of at least 1e-30, "),
    "missing": ({"price": None}, "column `price` must be there. Found: age, "),
}


@pytest.mark.parametrize(("changes", "message"), BAD_DOSES.values(), ids=BAD_DOSES)
def test_bad_doses_get_one_sentence(changes, message, doses):
    with pytest.raises(cf.DataError) as caught:
        cf.read_log(table_of(doses | {"price": doses["dose"]} | changes), dose="price")
    assert str(caught.value).startswith(message)


def test_a_log_of_doses_takes_no_features(doses):
    with pytest.raises(cf.DataError, match="`action_features` goes with `action`, got it with `dose`"):
        cf.read_log(table_of(doses), action_features={"action": ["a"], "size": [1]})
