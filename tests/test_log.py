"""Log and targets: one log from every container, labels of every kind, a sentence for every kind of bad data."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf

# the same log in every container gives the same answer

NUMPY = (np.asarray, lambda array, _: array)
CONTAINERS = {
    "numpy": lambda _: NUMPY,
    "builtins": lambda _: (np.ndarray.tolist, lambda array, _: array.tolist()),
    "pandas": lambda pd: (pd.Series, lambda array, names: pd.DataFrame(array, columns=names)),
    "polars": lambda pl: (pl.Series, lambda array, names: pl.DataFrame(array, schema=names)),
    "pyarrow": lambda pa: (pa.array, lambda array, names: pa.table([pa.array(row) for row in array.T], names=names)),
}


@pytest.fixture(params=CONTAINERS)
def container(request):
    return CONTAINERS[request.param](pytest.importorskip(request.param))


def log_of(columns, actions, container=NUMPY, **more):
    vector, matrix = container
    matrices = {"logging_probs": columns["logging_probs"], "available": columns["logging_probs"] > 0}
    vectors = {"action": columns["action"], "reward": columns["reward"], "group": columns["age"].round(1)}
    inputs = {name: matrix(array, actions) for name, array in matrices.items()}
    inputs |= {name: vector(array) for name, array in vectors.items()}
    context = matrix(np.column_stack([columns["age"], columns["height"]]), ["age", "height"])
    return cf.Log(**inputs | {"context": context, "actions": actions} | more)


def test_every_container_gives_the_same_answer(columns, actions, container):
    vector, matrix = container
    log, plain = log_of(columns, actions, container), log_of(columns, actions)
    logged = columns["target"][np.arange(len(plain)), plain.action]
    assert repr(log) == "Log(120 rows, 3 actions, 2 context columns, full logging probabilities)"
    assert log.group.tolist() == plain.group.tolist()
    assert log.available.tolist() == plain.available.tolist()
    answer = cf.evaluate(log, matrix(columns["target"], actions))
    assert answer.to_json() == cf.evaluate(plain, columns["target"]).to_json()
    assert cf.evaluate(log, vector(logged)).to_json() == cf.evaluate(plain, logged).to_json()


def test_named_columns_in_any_order_are_arranged_by_their_names(columns, actions):
    pd = pytest.importorskip("pandas")
    logging, target = (pd.DataFrame(columns[name], columns=actions) for name in ("logging_probs", "target"))
    turned = log_of(columns, None, logging_probs=logging[["blue", "red", "green"]], available=None)
    assert turned.actions == ("blue", "red", "green")
    np.testing.assert_array_equal(turned.logging_probs, columns["logging_probs"][:, [2, 0, 1]])
    frames = target, target[["green", "blue", "red"]], pd.DataFrame(columns["target"][:, [2, 0, 1]])
    assert len({cf.estimate(turned, frame, cf.DR()).value for frame in frames}) == 1


def test_a_named_mask_in_any_order_is_arranged_by_its_names():
    mask = pa.table({"b": [1, 1, 0, 1], "a": [1, 1, 1, 0]})
    log = cf.Log(action=["a", "b", "a", "b"], reward=[1, 0, 1, 0.5], propensity=[0.5] * 4, available=mask)
    assert log.available.tolist() == [[True, True], [True, True], [True, False], [False, True]]


# labels

THREE, FOUR = np.full((4, 3), 1 / 3), np.full((4, 4), 0.25)


@pytest.mark.parametrize(
    ("labels", "probs", "given", "actions", "codes"),
    [
        pytest.param(["c", "a", "b", "a"], THREE, None, ("a", "b", "c"), [2, 0, 1, 0], id="texts are sorted"),
        pytest.param([2, 0, 1, 0], THREE, None, (0, 1, 2), [2, 0, 1, 0], id="whole numbers"),
        pytest.param([2, 0, 1, 0], FOUR, None, (0, 1, 2, 3), [2, 0, 1, 0], id="the last number is never logged"),
        pytest.param([3, 0, 3, 0], FOUR, None, (0, 1, 2, 3), [3, 0, 3, 0], id="numbers between are never logged"),
        pytest.param([30, 10, 20, 10], THREE, None, (10, 20, 30), [2, 0, 1, 0], id="numbers with gaps"),
        pytest.param([1, -1, 0, -1], THREE, None, (-1, 0, 1), [2, 0, 1, 0], id="negative numbers"),
        pytest.param([True, False, True, True], THREE[:, :2] * 1.5, None, (False, True), [1, 0, 1, 1], id="booleans"),
        pytest.param(["c", "a", "b", "a"], THREE, ["b", "c", "a"], ("b", "c", "a"), [1, 2, 0, 2], id="a given order"),
        pytest.param(
            ["a", "b", "a", "b"], THREE, ["b", "c", "a"], ("b", "c", "a"), [2, 0, 2, 0], id="one never logged"
        ),
        pytest.param(["9", "7", "8", "7"], THREE, [7, 8, 9], (7, 8, 9), [2, 0, 1, 0], id="the text of a number"),
        pytest.param([9, 7, 8, 7], THREE, ["7", "8", "9"], ("7", "8", "9"), [2, 0, 1, 0], id="the number of a text"),
        pytest.param([2.0, 0.0, 1.0, 0.0], THREE, [0, 1, 2], (0, 1, 2), [2, 0, 1, 0], id="floats for whole numbers"),
        pytest.param(["ü", " ", "日本", " "], THREE, None, (" ", "ü", "日本"), [1, 0, 2, 0], id="any text"),
    ],
)
def test_labels(labels, probs, given, actions, codes):
    log = cf.Log(action=labels, reward=[1.0, 0.0, 0.5, 0.2], logging_probs=probs, actions=given)
    assert (log.actions, log.action.tolist()) == (actions, codes)


CATEGORIES = {
    "pandas": lambda pd, labels: pd.Categorical(labels),
    "polars": lambda pl, labels: pl.Series(labels, dtype=pl.Categorical),
    "pyarrow": lambda pa, labels: pa.array(labels).dictionary_encode(),
}


@pytest.mark.parametrize("kind", CATEGORIES)
def test_categories_are_labels(kind, columns, actions):
    labels = CATEGORIES[kind](pytest.importorskip(kind), columns["action"])
    log = log_of(columns, actions, action=labels)
    assert [actions[code] for code in log.action] == columns["action"].tolist()


# targets, groups, availability


def test_a_callable_target_gets_the_context(columns, actions):
    log = log_of(columns, actions)

    def policy(context):
        odds = np.exp(np.column_stack([context[:, 0], context[:, 1], np.zeros(len(context))]))
        return odds / odds.sum(axis=1, keepdims=True)

    assert cf.evaluate(log, policy).to_json() == cf.evaluate(log, policy(log.context)).to_json()


def test_a_target_of_logged_actions_serves_weight_based_estimators_and_says_so(columns, actions):
    log = log_of(columns, actions)
    logged = columns["target"][np.arange(len(log)), log.action]
    answer = cf.evaluate(log, logged, ["ips", "snips", "dr"])
    assert [line.name for line in answer.table] == ["IPS", "SNIPS"]
    assert answer.left_out["DR"].startswith("needs the target's probabilities of all actions")
    assert cf.estimate(log, logged, cf.IPS()).value == cf.estimate(log, columns["target"], cf.IPS()).value


def test_copies_of_rows_in_one_group_add_no_certainty(columns, actions):
    twice = {name: np.repeat(column, 2, axis=0) for name, column in columns.items()}
    single = log_of(columns, actions, group=None)
    double = log_of(twice, actions, group=np.repeat(np.arange(len(single)), 2).astype(str))
    problems = (single, columns["target"]), (double, twice["target"])
    np.testing.assert_allclose(*(cf.estimate(*problem, cf.IPS()).stderr for problem in problems), rtol=1e-12)


NEVER = {
    "by its probabilities": {"logging_probs": [[0.5, 0.5, 0.0]] * 4},
    "by availability": {"propensity": [0.5] * 4, "available": [[1, 1, 1], *[[1, 1, 0]] * 3], "action": [2, 1, 0, 1]},
    "by never doing so": {"propensity": [0.5] * 4},
}


@pytest.mark.parametrize("known", NEVER.values(), ids=NEVER.keys())
def test_target_mass_on_actions_the_log_could_never_take_warns_and_is_counted(known):
    log = cf.Log(**{"action": [0, 1, 0, 1], "reward": [1.0, 0.0, 0.5, 0.2], "actions": [0, 1, 2]} | known)
    target = [[0.5, 0.5, 0.0], [0.5, 0.3, 0.2], [0.5, 0.5, 0.0], [0.2, 0.2, 0.6]]
    with pytest.warns(cf.SupportWarning, match=r"puts 20\.00% of its probability, in 2 of 4 rows, on actions that the"):
        answer = cf.evaluate(log, target)
    assert answer.diagnostics.unsupported_rows == 2
    assert answer.diagnostics.unsupported_mass == pytest.approx(0.2)
    assert answer.diagnostics.verdict == "not answerable"
    assert any("the log could never take" in reason for reason in answer.diagnostics.reasons)


def test_support_is_unknown_for_a_target_of_logged_actions():
    log = cf.Log(action=[0, 1, 0, 1], reward=[1.0, 0.0, 0.5, 0.2], propensity=[0.5] * 4)
    assert cf.evaluate(log, [0.5] * 4).diagnostics.unsupported_mass is None


# bad data: one sentence with the argument, the rule, the count and the first row

GOOD = {
    "action": ["a", "b", "a", "b"],
    "reward": [1.0, 0.0, 0.5, 0.2],
    "context": [[0.0, 5.0], [1.0, 6.0], [2.0, 7.0], [3.0, 8.0]],
    "logging_probs": [[0.5, 0.5], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]],
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
WIDE = "must have one column per action (2: a, b), got 3. If some action was never logged, list them all in `actions`."
SHORT = {name: values[:1] for name, values in GOOD.items()} | {"propensity": [0.5], "group": [1], "available": [[1, 1]]}
del SHORT["reward"]
BAD_LOG = {
    **{f"{name} too short": ({name: short}, length(name, 1)) for name, short in SHORT.items()},
    "reward nan": ({"reward": [1, NAN, NAN, 0]}, said("reward", "finite", NAN, 2, 1)),
    "reward missing": ({"reward": [1, 0, 2, None]}, said("reward", "finite", NAN, 1, 3)),
    "reward infinite": ({"reward": [1, 0, -INF, 0]}, said("reward", "finite", -INF, 1, 2)),
    "constant": ({"reward": [3] * 4}, "`reward` must vary, got 3.0 in all 4 rows: there is nothing to compare."),
    "reward text": ({"reward": list("xyzw")}, "`reward` must be numbers, got ['x', 'y', 'z', 'w']."),
    "reward 2d": ({"reward": [[1], [0]] * 2}, shape("reward", "one number per row", (4, 1))),
    "context nan": ({"context": [[0, 1], [0, NAN]] * 2}, said("context` column `1", "finite", NAN, 2, 1)),
    "context infinite": ({"context": [[INF, 1]] + [[0, 1]] * 3}, said("context` column `0", "finite", INF, 1, 0)),
    "context 1d": ({"context": [0, 1, 2, 3]}, shape("context", MATRIX, (4,))),
    "probs nan": ({"logging_probs": [[0.5, 0.5]] * 3 + [[NAN, 1]]}, said("logging_probs", "finite", NAN, 1, 3)),
    "probs cell": ({"logging_probs": [[0.5, 0.5], [1.5, -0.5]] * 2}, said("logging_probs", CELL, 1.5, 2, 1)),
    "probs sum": ({"logging_probs": [[0.5, 0.5], [0.5, 0.4]] * 2}, said("logging_probs", SUM, 0.9, 2, 1)),
    "probs too wide": ({"logging_probs": [[0.5, 0.3, 0.2]] * 4}, f"`logging_probs` {WIDE}"),
    "probs 1d": ({"logging_probs": [0.5] * 4}, shape("logging_probs", MATRIX, (4,))),
    **{
        f"propensity {bad}": (ALONE | {"propensity": [0.5, 1, bad, bad]}, said("propensity", rule, bad, 2, 2))
        for bad, rule in {0.0: "in (0, 1]", -0.2: "in (0, 1]", 1.2: "in (0, 1]", NAN: "finite", INF: "finite"}.items()
    },
    "propensity disagrees": (
        {"propensity": [0.5, 0.6, 0.7, 0.8]},
        said("propensity", "the logged action's entry of `logging_probs`", 0.7, 1, 2),
    ),
    "neither": (ALONE, "a log must have `logging_probs` or `propensity`, got neither."),
    "action unknown": ({"actions": ["a", "c"]}, said("action", "one of the 2 known actions (a, c)", "b", 2, 1)),
    "action missing": ({"action": ["a", None, "b", "b"]}, said("action", "a label in every row", None, 1, 1)),
    "action 2d": ({"action": [["a"], ["b"]] * 2}, shape("action", "one label per row", (4, 1))),
    "action mixed": (
        {"action": np.array([1, "a", 1, "a"], dtype=object)},
        "`action` must be labels of one kind, got a mixture that cannot be sorted.",
    ),
    "actions repeated": ({"actions": ["a", "b", "b"]}, "`actions` must be different labels, got 1 repeated."),
    "no row": ({name: [] for name in GOOD}, "a log must have at least 2 rows, got 0."),
    "one row": ({name: values[:1] for name, values in GOOD.items()}, "a log must have at least 2 rows, got 1."),
    "one action": (
        {"action": ["a"] * 4, "logging_probs": [[1.0]] * 4},
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


BAD_TARGET = {
    "too short": ([[0.5, 0.5]], length("target", 1)),
    "logged too long": ([0.5] * 5, length("target", 5)),
    "too wide": ([[0.5, 0.3, 0.2]] * 4, f"`target` {WIDE}"),
    "nan": ([[0.5, 0.5]] * 3 + [[0.5, NAN]], said("target", "finite", NAN, 1, 3)),
    "logged nan": ([0.5, NAN, 0.5, NAN], said("target", "finite", NAN, 2, 1)),
    "logged over 1": ([0.5, 0.5, 1.5, 0.5], said("target", CELL, 1.5, 1, 2)),
    "negative": ([[-0.2, 1.2]] * 4, said("target", CELL, -0.2, 4, 0)),
    "sum": ([[0.5, 0.5], [0.25, 0.5]] * 2, said("target", SUM, 0.75, 2, 1)),
    "text": ("target", "`target` must be numbers, got 'target'."),
    "scalar": (0.5, shape("target", MATRIX, ())),
    "ragged": ([[0.5], [1.0, 0.0]] * 2, "`target` must be numbers, got [[0.5], [1.0, 0.0], [0.5], [1.0, 0.0]]."),
    "names": (
        pa.table({"a": [0.5] * 4, "c": [0.5] * 4}),
        "the columns of `target` must be named after the actions, got a, c.",
    ),
}


@pytest.mark.parametrize(("target", "message"), BAD_TARGET.values(), ids=BAD_TARGET)
def test_a_bad_target_gets_one_sentence(target, message):
    with pytest.raises(cf.DataError) as caught:
        cf.evaluate(cf.Log(**GOOD), target)
    assert str(caught.value) == message


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
