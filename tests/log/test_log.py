"""Log and targets: one log from every container, labels of every kind, targets, groups, availability."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf

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
    for mine, other in ((matrix(columns["target"], actions), columns["target"]), (vector(logged), logged)):
        answer, expected = (cf.evaluate(*one).to_dict() for one in ((log, mine), (plain, other)))
        assert len(answer.pop("context")["taken"]) == len(expected.pop("context")["taken"])  # arrays have no names
        assert answer == expected


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
        pytest.param(["c", "a", "b", "a"], None, None, ("a", "b", "c"), [2, 0, 1, 0], id="texts are sorted"),
        pytest.param([2, 0, 1, 0], THREE, None, (0, 1, 2), [2, 0, 1, 0], id="whole numbers"),
        pytest.param([2, 0, 1, 0], FOUR, None, (0, 1, 2, 3), [2, 0, 1, 0], id="the last number is never logged"),
        pytest.param([3, 0, 3, 0], FOUR, None, (0, 1, 2, 3), [3, 0, 3, 0], id="numbers between are never logged"),
        pytest.param([30, 10, 20, 10], None, None, (10, 20, 30), [2, 0, 1, 0], id="numbers with gaps"),
        pytest.param([1, -1, 0, -1], None, None, (-1, 0, 1), [2, 0, 1, 0], id="negative numbers"),
        pytest.param([True, False, True, True], THREE[:, :2] * 1.5, None, (False, True), [1, 0, 1, 1], id="booleans"),
        pytest.param(["c", "a", "b", "a"], THREE, ["b", "c", "a"], ("b", "c", "a"), [1, 2, 0, 2], id="a given order"),
        pytest.param(
            ["a", "b", "a", "b"], THREE, ["b", "c", "a"], ("b", "c", "a"), [2, 0, 2, 0], id="one never logged"
        ),
        pytest.param(["9", "7", "8", "7"], THREE, [7, 8, 9], (7, 8, 9), [2, 0, 1, 0], id="the text of a number"),
        pytest.param([9, 7, 8, 7], THREE, ["7", "8", "9"], ("7", "8", "9"), [2, 0, 1, 0], id="the number of a text"),
        pytest.param([2.0, 0.0, 1.0, 0.0], THREE, [0, 1, 2], (0, 1, 2), [2, 0, 1, 0], id="floats for whole numbers"),
        pytest.param(["ü", " ", "日本", " "], None, None, (" ", "ü", "日本"), [1, 0, 2, 0], id="any text"),
    ],
)
def test_labels(labels, probs, given, actions, codes):
    logged = {"propensity": [0.5] * 4} if probs is None else {"logging_probs": probs}
    log = cf.Log(action=labels, reward=[1.0, 0.0, 0.5, 0.2], **logged, actions=given)
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
