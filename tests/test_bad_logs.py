"""Log and targets: a sentence for every kind of bad data, with the argument, the rule, the count and the first row."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.base.validation import PLAIN_NUMBERS
from counterfold.log.log_checks import NOT_IN
from counterfold.log.propensity_checks import FIT, ROUGH

PLAIN = PLAIN_NUMBERS.strip()
FILL = "Fill it in, or leave the column out (`ignore`, --ignore)."
GOOD = {
    "action": ["a", "b", "a", "b"],
    "reward": [1.0, 0.0, 0.5, 0.2],
    "context": [[0.0, 5.0], [1.0, 6.0], [2.0, 7.0], [3.0, 8.0]],
    "logging_probs": [[0.5, 0.5], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]],
    "actions": ["a", "b"],
}


NAN, INF = float("nan"), float("inf")
ALONE = {"logging_probs": None}


def said(name, rule, got, rows, first):
    return f"`{name}` must be {rule}, got {got} in {rows} of 4 rows, first at row {first}."


def length(name, got):
    return f"`{name}` must have one entry per row (4), got {got}."


def shape(name, rule, got):
    return f"`{name}` must be {rule}, got shape {got}."


SUM, CELL = "rows of probabilities that sum to 1", "in [0, 1]"
MATRIX = "a matrix with one row per row of the log"
UNLOGGED = "If some action was never logged, list them all in `actions`."
WIDE = f"must have one column per action (2: a, b), got 3. {UNLOGGED}"
SHORT = {name: values[:1] for name, values in GOOD.items() if name not in {"reward", "actions"}} | {
    "propensity": [0.5],
    "group": [1],
    "available": [[1, 1]],
}


ONE = "Make them one label, or list both in `actions` if they are two actions."
ORDERED = "have one column per action, named after it or in a known order"
LISTED = "List all actions in the order of the columns as `actions` (--actions a,b,c), or name the columns."
MISSING = " Fill in what is missing, or leave these rows out."

BAD_LOG = {
    **{f"{name} too short": ({name: short}, length(name, 1)) for name, short in SHORT.items()},
    "reward nan": ({"reward": [1, NAN, NAN, 0]}, said("reward", "finite", NAN, 2, 1) + NOT_IN),
    "reward missing": ({"reward": [1, 0, 2, None]}, said("reward", "finite", NAN, 1, 3) + NOT_IN),
    "reward infinite": ({"reward": [1, 0, -INF, 0]}, said("reward", "finite", -INF, 1, 2)),
    "constant": ({"reward": [3] * 4}, "`reward` must vary, got 3.0 in all 4 rows: there is nothing to compare."),
    "reward text": ({"reward": ["1", "12%", "2", "-"]}, f"{said('reward', 'numbers', repr('12%'), 2, 1)} {PLAIN}"),
    "reward of 401 digits": (
        {"reward": [1, 2, 3, 10**400]},
        f"{said('reward', 'numbers', '1' + 37 * '0' + '...' + 19 * '0', 1, 3)} {PLAIN}",
    ),
    "reward of 5001 digits": (
        {"reward": [1, 2, 3, 10**5000]},
        f"{said('reward', 'numbers', 'a very long int', 1, 3)} {PLAIN}",
    ),
    "reward complex": ({"reward": np.array([1, 0, 2, 3]) + 1j}, "`reward` must be numbers, got complex128."),
    "reward complex among others": (
        {"reward": np.array([1, 0, 2j, 3], dtype=object)},
        f"{said('reward', 'numbers', '2j', 1, 2)} {PLAIN}",
    ),
    "reward of records": (
        {"reward": np.zeros(4, dtype=[("a", float)])},
        "`reward` must be numbers, got [('a', '<f8')].",
    ),
    "reward masked": (
        {"reward": np.ma.masked_array([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1])},
        said("reward", "finite", NAN, 2, 1) + NOT_IN,
    ),
    "reward a number": ({"reward": np.array(3.0)}, shape("reward", "one number per row", ())),
    "reward tiny": (
        {"reward": [0, 1e-200, 2e-200, 0]},
        "`reward` must vary by at least 1e-60, got 0.0 to 2e-200. Use a unit in which they are larger.",
    ),
    "reward nearly constant": (
        {"reward": [1e12, 1e12 + 0.25, 1e12, 1e12 + 0.5]},
        "`reward` must vary by at least 1, got 1000000000000.0 to 1000000000000.5. Subtract a constant.",
    ),
    "reward beyond exact whole numbers": (
        {"reward": [2**54, 2**54 + 1, 2**54 + 8, 2**54]},
        (
            "`reward` must vary by at least 18014.4, got 1.8014398509481984e+16 to 1.801439850948199e+16. "
            "Subtract a constant."
        ),
    ),
    "reward 2d": ({"reward": [[1], [0]] * 2}, shape("reward", "one number per row", (4, 1))),
    "context missing": (
        {"context": [[0, NAN]] * 4},
        "`context` column `1` must hold numbers, got none in all 4 rows.",
    ),
    "context infinite": (
        {"context": [[INF, 1]] + [[0, 1]] * 3},
        f"{said('context` column `0', 'finite', INF, 1, 0)} {FILL}",
    ),
    "context 1d": ({"context": [0, 1, 2, 3]}, shape("context", MATRIX, (4,))),
    "probs nan": (
        {"logging_probs": [[0.5, 0.5]] * 3 + [[NAN, 1]]},
        said("logging_probs", "finite", NAN, 1, 3) + MISSING,
    ),
    "probs cell": ({"logging_probs": [[0.5, 0.5], [1.5, -0.5]] * 2}, said("logging_probs", CELL, 1.5, 2, 1)),
    "probs sum": ({"logging_probs": [[0.5, 0.5], [0.5, 0.4]] * 2}, said("logging_probs", SUM, 0.9, 2, 1)),
    "probs too wide": ({"logging_probs": [[0.5, 0.3, 0.2]] * 4}, f"`logging_probs` {WIDE}"),
    "probs 1d": ({"logging_probs": [0.5] * 4}, shape("logging_probs", MATRIX, (4,))),
    **{
        f"propensity {bad}": (ALONE | {"propensity": [0.5, 1, bad, bad]}, said("propensity", rule, bad, 2, 2) + way)
        for bad, rule, way in [
            (-0.2, "in (0, 1]", ""),
            (1.2, "in (0, 1]", ""),
            (NAN, "finite", MISSING),
            (INF, "finite", ""),
        ]
    },
    "propensity 0": (
        ALONE | {"propensity": [0.5, 1, 0.0, 0.0]},
        said("propensity", "in (0, 1]", 0.0, 2, 2) + ROUGH,
    ),
    "propensity disagrees": (
        {"propensity": [0.5, 0.6, 0.7, 0.8]},
        said("propensity", "the logged action's entry of `logging_probs`", 0.7, 1, 2),
    ),
    "neither": (
        ALONE,
        f"a log must have `logging_probs` or `propensity`, got neither. {FIT}",
    ),
    "action unknown": (
        {"actions": ["a", "c"]},
        said("action", "one of the 2 known actions (a, c)", "b", 2, 1)
        + " `actions` must list every action that the log took.",
    ),
    "action mis-cased": (
        {"actions": ["A", "b"]},
        said("action", "one of the 2 known actions (A, b)", "a", 2, 0)
        + " Did you mean 'A'? It differs by case, spaces or `.0` alone.",
    ),
    "actions alike": (
        {"action": ["a", "b", "a ", "b"], "actions": None},
        f"`action` must be labels that differ by more than case, spaces or `.0`, got 'a' and 'a '. {ONE}",
    ),
    "unknown order": (
        {"actions": None},
        f"`logging_probs` must {ORDERED}, got 2 without names for the actions a, b. {LISTED}",
    ),
    "rewards that are propensities": (
        {"reward": [0.5, 0.6, 0.3, 0.8]},
        "`reward` and `propensity` must be two different things, got the same number in all 4 rows.",
    ),
    "action missing": (
        {"action": ["a", None, "b", "b"]},
        said("action", "a label in every row", None, 1, 1)
        + " In CSV, NA and empty fields are missing unless they are in quotes.",
    ),
    "action 2d": ({"action": [["a"], ["b"]] * 2}, shape("action", "one label per row", (4, 1))),
    "action mixed": (
        {"action": np.array([1, "a", 1, "a"], dtype=object), "actions": None},
        "`action` must be labels of one kind, got numbers at row 0, text at row 1.",
    ),
    "actions repeated": ({"actions": ["a", "b", "b"]}, "`actions` must be different labels, got 1 repeated."),
    "no row": ({name: [] for name in GOOD}, "a log must have at least 2 rows, got 0."),
    "one row": ({name: values[:1] for name, values in GOOD.items()}, "a log must have at least 2 rows, got 1."),
    "one action": (
        {"action": ["a"] * 4, "logging_probs": [[1.0]] * 4, "actions": None},
        "a log must know at least 2 actions, got 1: there is nothing to choose between.",
    ),
    "group missing": ({"group": [1, 2, NAN, 3]}, said("group", "a label in every row", NAN, 1, 2)),
    "group alone": ({"group": ["u"] * 4}, "`group` must have at least 2 different groups, got 1."),
    "mask values": ({"available": [[1, 2]] * 4}, said("available", "true or false", 2.0, 4, 0)),
    "mask of logged": (
        {"available": [[1, 1], [1, 1], [0, 1], [1, 1]]},
        said("available", "true for the logged action", "False", 1, 2),
    ),
    "mask of mass": (
        {"available": [[1, 1], [0, 1]] * 2},
        said("logging_probs", "0 where an action is not `available`", 0.4, 2, 1),
    ),
}


@pytest.mark.parametrize(("changes", "message"), BAD_LOG.values(), ids=BAD_LOG)
def test_a_bad_log_gets_one_sentence(changes, message):
    with pytest.raises(cf.DataError) as caught:
        cf.Log(**GOOD | changes)
    assert str(caught.value) == message


IN_MEMORY = "an array, an action or a policy such as `uniform`"
KNOWN, BOTH = "one of the 2 known actions (a, b)", f"2: a, b. {UNLOGGED}"
NEVER, ALIKE = "If the log never took it, list all actions in `actions`.", " Did you mean 'b'? It differs by case,"
AS_ACTIONS = "If they are the actions that the target would take, pass `cf.Actions(...)` (--target-action COLUMN)."


def unknown(label):
    return said("target", KNOWN, label, 4, 0) + f" {NEVER}"


BAD_TARGET = {
    "too short": ([[0.5, 0.5]], length("target", 1)),
    "logged too long": ([0.5] * 5, length("target", 5)),
    "too wide": ([[0.5, 0.3, 0.2]] * 4, f"`target` {WIDE}"),
    "nan": ([[0.5, 0.5]] * 3 + [[0.5, NAN]], said("target", "finite", NAN, 1, 3) + MISSING),
    "logged nan": ([0.5, NAN, 0.5, NAN], said("target", "finite", NAN, 2, 1) + MISSING),
    "logged over 1": ([0.5, 0.5, 1.5, 0.5], said("target", CELL, 1.5, 1, 2)),
    "negative": ([[-0.2, 1.2]] * 4, said("target", CELL, -0.2, 4, 0)),
    "sum": ([[0.5, 0.5], [0.25, 0.5]] * 2, said("target", SUM, 0.75, 2, 1)),
    "text": ("target", f"`target` must be {IN_MEMORY}, got 'target'. A `Log` holds no columns of targets: give the"),
    "scalar": (0.5, unknown(0.5)),
    "labels": (["a", "c", "b", "c"], said("target", KNOWN, "c", 2, 1) + f" {NEVER}"),
    "labels mis-cased": (["a", "B", "b", "B"], said("target", KNOWN, "B", 2, 1) + ALIKE),
    "labels as numbers": ([0.5, 2, 3, 0.5], said("target", CELL, 2.0, 2, 1) + f" {AS_ACTIONS}"),
    "mixture": ({"a": 0.5, "c": 0.5}, f"the columns of `target` must be named after the actions, got c for {BOTH}"),
    "mixture sum": ({"a": 0.5, "b": 0.4}, "`target` must be rows of probabilities that sum to 1, got 0.9 in 1 of 1"),
    "ragged": ([[0.5], [1.0, 0.0]] * 2, "`target` must be numbers, got [[0.5], [1.0, 0.0], [0.5], [1.0, 0.0]]."),
    "names": (
        pa.table({"a": [0.5] * 4, "c": [0.5] * 4}),
        f"the columns of `target` must be named after the actions, got c for {BOTH}",
    ),
}


@pytest.mark.parametrize(("target", "message"), BAD_TARGET.values(), ids=BAD_TARGET)
def test_a_bad_target_gets_one_sentence(target, message):
    with pytest.raises(cf.DataError) as caught:
        cf.evaluate(cf.Log(**GOOD), target)
    assert str(caught.value).startswith(message)


def texts():
    return pytest.importorskip("pandas").array(["a", "b", None, "b"], dtype="string")


ODD = {
    "probs of 0": ("logging_probs", [[0.5, 0.5], [0.5, 0.5], [0.0, 1.0], [0.5, 0.5]], "got 0.0 in 1 of 4 rows"),
    "action of missing text": ("action", texts, "first at row 2"),
    "action of missing time": ("action", np.array(["2020", "2021", "NaT", "2020"], dtype="M8[D]"), "first at row 2"),
    "action ragged": ("action", [["a"], ["b", "a"], ["a"], ["b"]], "one label per row"),
    "actions a number": ("actions", 2, "labels"),
    "group of missing text": ("group", texts, "first at row 2"),
    "group mixed": ("group", np.array([1, "a", 1, "a"], dtype=object), "labels of one kind"),
    "reward complex": ("reward", np.array([1j, 0, 1, 0]), "numbers"),
    "reward time": ("reward", np.arange(4).astype("M8[s]"), "numbers"),
    "reward masked": ("reward", np.ma.array([1.0, 0, 1, 0], mask=[0, 0, 1, 0]), "first at row 2"),
}


@pytest.mark.parametrize(("name", "value", "rule"), ODD.values(), ids=ODD)
def test_odd_data_is_refused_by_name(name, value, rule):
    with pytest.raises(cf.DataError, match=rf"^`{name}` must .*{rule}.*\.$"):
        cf.Log(**GOOD | {name: value() if callable(value) else value})


@pytest.mark.parametrize(("off", "fine"), [(1e-7, True), (0.9e-3, True), (1.1e-3, False)])
def test_probabilities_may_be_off_by_rounding_and_no_more(off, fine):
    probs = {"logging_probs": np.array([[1 + off, 0], [0, 1], [0.5, 0.5], [0.5, 0.5]])}
    if fine:
        cf.Log(**GOOD | probs)
    else:
        with pytest.raises(cf.DataError, match="`logging_probs` must be"):
            cf.Log(**GOOD | probs)


def test_propensities_are_at_most_1_and_agree_closely():
    with pytest.raises(cf.DataError, match="`propensity` must be in"):
        cf.Log(**GOOD | ALONE | {"propensity": [0.5, 1.0001, 0.5, 0.5]})
    with pytest.raises(cf.DataError, match="the logged action's entry"):
        cf.Log(**GOOD | {"propensity": [0.5, 0.6, 0.3, 0.80001]})
