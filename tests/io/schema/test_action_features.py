"""Features of actions from a table of their own: numbers, texts that actions share, and what is said of the others."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.io import sources
from counterfold.log.encoding.base import COLUMNS
from tables import table_of

ITEMS = {"action": ["blue", "red", "pink", "green"], "size": [3, 1, 9, 2], "name": list("brpg"), "heavy": [True] * 4}


def test_features_of_actions_from_every_format(columns, actions, source):
    items = source(table_of(ITEMS, vector=[[0.5, 3], [0.5, 1], [0.5, 9], [0.5, 2]]))
    log = cf.read_log(source(table_of(columns)), actions=actions, action_features=items)
    assert log.action_features.tolist() == [[1, 1, 0.5, 1], [2, 1, 0.5, 2], [3, 1, 0.5, 3]]


def test_features_are_matched_by_the_text_of_labels_in_the_column_of_the_action(columns):
    codes = [["red", "green", "blue"].index(action) for action in columns["action"]]
    items = {"item": ["2", "0", "1"], "x": [20, 0, 10]}
    log = cf.read_log(table_of(columns, item=codes, action=None), action="item", action_features=items)
    assert (log.actions, log.action_features.tolist()) == ((0, 1, 2), [[0], [10], [20]])


def test_features_do_not_add_actions(columns):
    plain = {"logging_probs": None, "propensity": [0.5] * 120}
    log = cf.read_log(table_of(columns, **plain), action_features=ITEMS)
    assert (log.actions, log.action_features[:, 0].tolist()) == (("blue", "green", "red"), [3, 2, 1])


WITHOUT = "`action_features` must hold every action, got none for "
BAD_FEATURES = {
    "no label": ({"action": None}, "in `action_features`, column `action` must be there. Found: size, name, heavy."),
    "repeated": (
        {"action": ["red", "red", "blue", "green"]},
        "in `action_features`, column `action` must hold each ac",
    ),
    "wrong labels": ({"action": [1, 2, 3, 4]}, f"{WITHOUT}3 of 3: red, green, blue."),
    "missing label": ({"action": ["blue", None, "red", "green"]}, "in `action_features`, `action` must be a label in "),
    "missing action": ({"action": ["blue", "x", "red", "y"]}, f"{WITHOUT}1 of 3: green."),
    "no numbers": (
        {"size": None, "heavy": None},
        "in `action_features`, there must be numbers, or texts that some actions have in common, beside column `ac",
    ),
    "null": (
        {"size": [3, 1, 9, None]},
        "`action_features` must be finite, got other numbers for 1 of 3 actions: green.",
    ),
    "infinite": (
        {"size": [3, np.inf, 9, 2]},
        "`action_features` must be finite, got other numbers for 1 of 3 actions: r",
    ),
    "ragged": ({"size": [[1], [1, 2], [1], [1]]}, "in `action_features`, `size` must be lists of one length, 1 as in"),
    "null list": ({"size": [[1], None, [1], [1]]}, "in `action_features`, `size` must be lists in every row, got None"),
    "empty lists": ({"size": [[]] * 4, "heavy": None}, "in `action_features`, column `size` must be lists of numbers"),
}


@pytest.mark.parametrize(("changes", "message"), BAD_FEATURES.values(), ids=BAD_FEATURES)
def test_bad_features_get_one_sentence(changes, message, columns, actions):
    with pytest.raises(cf.DataError) as caught:
        cf.read_log(table_of(columns), actions=actions, action_features=table_of(ITEMS | changes))
    assert str(caught.value).startswith(message)


def test_a_missing_value_of_an_action_that_the_log_does_not_know_does_no_harm(columns, actions):
    items = table_of(ITEMS | {"size": [3, 1, None, 2]})
    assert cf.read_log(table_of(columns), actions=actions, action_features=items).action_features.shape == (3, 2)


@pytest.mark.parametrize(("content", "message"), [("", "must not be empty"), ("action,x", "at least 2 rows|[Ee]mpty")])
def test_an_empty_file_of_features_is_said_by_its_name(content, message, columns, tmp_path):
    path = tmp_path / "items.csv"
    path.write_text(content)
    with pytest.raises(cf.DataError, match=rf"^in `action_features`, `.*items\.csv` .*({message}).*\.$"):
        cf.read_log(table_of(columns), action_features=path)


# texts


def log_of(count, rows=600):
    """Return a log of so many actions, all of which were logged."""
    rng = np.random.default_rng(0)
    actions = [f"i{row % count}" for row in range(max(rows, 2 * count))]
    context, reward = rng.normal(size=(2, len(actions)))
    return pa.table({"x": context, "action": actions, "reward": reward, "propensity": [1 / count] * len(actions)})


def items_of(count, **columns):
    """Return a row for each action, in the order of a log's actions as far as there are at most ten."""
    return pa.table({"action": [f"i{place}" for place in range(count)], **columns})


def read(items):
    """Return a log with features of all actions of a table."""
    return cf.read_log(log_of(items.num_rows), actions=items["action"].to_pylist(), action_features=items)


def marks(cells, values):
    """Return 1 where an action has a value, in a column for each value."""
    return [[float(cell == value) for value in values] for cell in cells]


TOPICS = ["news", "sport", None, "news"] * 5
TITLES = [f"the {place}" for place in range(20)]


def test_texts_that_actions_have_in_common_are_features_and_names_are_not(source):
    items = items_of(20, title=TITLES, topic=[topic or "" for topic in TOPICS], price=range(20))
    log = cf.read_log(log_of(20), actions=items["action"].to_pylist(), action_features=source(items))
    assert log.action_features.tolist() == [
        [price, *one] for price, one in enumerate(marks(TOPICS, ["news", "sport", None]))
    ]
    [(encoded, _), (left_out, _)] = log.notes
    known = "`topic` by 2 values, missing for 5 of 20 actions"
    assert encoded == f"texts of `action_features` were made numbers: {known}"
    why = "20 of 20 actions have a value that no other one has"
    assert left_out == f"columns of `action_features` were left out: `title`, as {why}"


OTHERS = {
    "30 other topics": [f"other {place % 30}" for place in range(2000)],
    "a topic each": [f"other {place}" for place in range(2000)],
    "no topic": [None] * 2000,
    "lists": ["[1, 2]"] * 2000,
    "numbers": ["5"] * 2000,
}


@pytest.mark.parametrize("topics", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("first", [False, True], ids=["behind", "before"])
def test_texts_of_actions_that_the_log_does_not_know_do_no_harm(topics, first):
    known = items_of(20, topic=TOPICS)
    others = pa.table({"action": [f"z{place}" for place in range(2000)], "topic": topics}, known.schema)
    tables = [others, known] if first else [known, others]
    logs = [cf.read_log(log_of(20), action_features=items) for items in (known, pa.concat_tables(tables))]
    assert logs[0].action_features.shape == (20, 3)
    np.testing.assert_array_equal(logs[1].action_features, logs[0].action_features)
    assert logs[1].notes == logs[0].notes


SPOILT = {
    "a list of another length": ({"size": [[1.0, 2.0], [3.0, 4.0], [5.0]]}, [[1, 2], [3, 4]]),
    "a text among numbers": ({"size": ["1.5", "2", "n/a"]}, [[1.5], [2]]),
    "repeated": ({"size": [1, 2, 3, 4], "action": ["i0", "i1", "z", "z"]}, [[1], [2]]),
}


@pytest.mark.parametrize(("columns", "expected"), SPOILT.values(), ids=SPOILT)
def test_bad_rows_of_actions_that_the_log_does_not_know_do_no_harm(columns, expected):
    items = {"action": ["i0", "i1", "z"], **columns}
    assert cf.read_log(log_of(2), action_features=items).action_features.tolist() == expected


def test_bad_rows_are_named_by_their_place_in_the_file():
    items = {"action": ["z", "z2", "i1", "i0"], "size": [[1.0], [1.0], [1.0], [1.0, 2.0]]}
    with pytest.raises(cf.DataError, match=r"in `action_features`, `size` must be lists of one length, .* row 3"):
        cf.read_log(log_of(2), action_features=items)


@pytest.mark.parametrize(("cells", "place"), [(["1", "n.a.", "3", "1"], 1), (["$1", "$2", "$2", "$1"], 0)])
def test_numbers_that_are_spoilt_for_known_actions_are_named_by_their_place_in_the_file(cells, place):
    others, known = items_of(3, size=["a", "b", "c"], price=range(3)), items_of(4, size=cells, price=range(4))
    others = others.set_column(0, "action", [["z0", "z1", "z2"]])
    [(what, _)] = cf.read_log(log_of(4), action_features=pa.concat_tables([others, known])).notes
    assert what.endswith(f"row {3 + place}: {cells[place]!r}")


def test_only_actions_of_the_log_count_for_which_texts_are_shared():
    items = items_of(6, topic=["a", "b", "b", "a", "a", "c"])
    log = cf.read_log(log_of(3), action_features=items.append_column("price", [range(6)]))
    assert log.action_features.tolist() == [[0, 0], [1, 1], [2, 1]]


SHARED = {
    "a hundred brands of ten actions each": ([f"b{place % 100}" for place in range(1000)], 100, ""),
    "140 brands": ([f"b{place % 140}" for place in range(300)], COLUMNS, " and 20 rare ones together"),
    "half of the actions share theirs": (["n", "n", "s", "t"], 1, " and 2 rare ones together"),
    "some values of one action": (["n", "n", "s", "s", "t", "u"], 2, " and 2 rare ones together"),
    "three actions": (["n", "n", "s"], 1, " and 1 rare ones together"),
    "one has none": (["n", "n", "s", "s", None], 2, ", missing for 1 of 5 actions"),
    "missing in most": (["n", "n", "s", "s", *[None] * 16], 3, ", missing for 16 of 20 actions"),
    "spaces and categories": (pa.array([" n", "n ", "s", "s"]).dictionary_encode(), 2, ""),
    "numbers as categories": (pa.array([7, 7, 8, 8]).dictionary_encode(), 2, ""),
}


@pytest.mark.parametrize(("brands", "columns", "more"), SHARED.values(), ids=SHARED)
def test_each_value_that_two_actions_share_is_a_column(brands, columns, more):
    items = items_of(len(brands), brand=brands, price=range(len(brands)))
    log = read(items)
    assert log.action_features.shape == (len(brands), 1 + columns)
    assert (log.action_features[:, 1:].sum(axis=0) >= 2).all()
    named = columns - (" missing for 16" in more)
    expected = f"`brand` by {named} value{'s' if named > 1 else ''}{more}"
    assert [what for what, _ in log.notes] == [f"texts of `action_features` were made numbers: {expected}"]


LEFT_OUT = {
    "the same": (["n"] * 4, "all actions have the same value"),
    "none": ([None] * 4, "no action has a value"),
    "typed none": (pa.array([None] * 4, pa.string()), "no action has a value"),
    "names": (["n", "s", "t", "t", "u"], "3 of 5 actions have a value that no other one has"),
    "one": (["n", None, None, None], "1 of 1 actions have a value that no other one has"),
    "spoilt": (["1", "2", "n.a.", "3"], "it is text, though rows hold numbers, but not row 2: 'n.a.'"),
    "money": (["$1", "$2", "$2", "$3"], "it is text, though rows hold numbers, as row 0: '$1'"),
    "too many": (
        [f"b{place % 500}" for place in range(1000)],
        "there is room for 120 of its 500 values, those of 24 % of the actions",
    ),
    "days": (pa.array([0, 0, 1, 1], pa.date32()), "it is date32[day], which is no number and no text"),
}


@pytest.mark.parametrize(("column", "why"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_is_left_out_is_said_and_why(column, why):
    items = items_of(len(column), brand=column)
    [(what, way)] = read(items.append_column("price", [range(len(column))])).notes
    assert what == f"columns of `action_features` were left out: `brand`, as {why}"
    assert way.startswith("put values that belong together as one, or make numbers of them")
    with pytest.raises(cf.DataError) as caught:
        read(items)
    beside = "numbers, or texts that some actions have in common, beside column `action`"
    ways = "Put values that belong together as one, or make numbers of them."
    assert str(caught.value) == f"in `action_features`, there must be {beside}, got brand: {why}. {ways}"


def test_texts_of_few_values_have_room_first():
    brands, topics = ([f"{name} {place % count}" for place in range(1000)] for name, count in (("b", 150), ("t", 4)))
    items = items_of(1000, brand=brands, name=[f"x {place // 2}" for place in range(1000)], topic=topics)
    features, notes = read(items).action_features, read(items).notes
    assert (features.shape[1], features[:, -4:].sum(axis=0).tolist()) == (COLUMNS, [250] * 4)
    told = "`brand` by 116 values and 34 rare ones together; `topic` by 4 values"
    assert notes[0][0] == f"texts of `action_features` were made numbers: {told}"
    assert "`name`, as there is room for 0 of its 500 values, those of 0 % of the actions" in notes[1][0]


def test_actions_with_different_values_are_equally_far_apart():
    features = read(items_of(8, topic=["a", "a", "a", "a", "b", "b", "c", "c"])).action_features
    apart = np.linalg.norm(features[:, None] - features, axis=2)
    np.testing.assert_allclose(np.unique(apart), [0, np.sqrt(2)])


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("is_full", [False, True])
def test_every_engine_knows_the_features_of_all_actions_and_says_what_they_are(engine, is_full, tmp_path, monkeypatch):
    monkeypatch.setattr("counterfold.engines.local.HEAD", 30)
    table, probs = log_of(20).sort_by("action"), np.full((600, 20), 1 / 20)
    target = probs.tolist() if is_full else [0.05 + 0.001 * (row % 2) for row in range(600)]
    pa.parquet.write_table(table.append_column("target", [target]), tmp_path / "log.parquet")
    items = {"action": [f"i{place}" for place in range(2020)], "title": [*TITLES, *["-"] * 2000]}
    items["topic"] = [*TOPICS, *OTHERS["a topic each"]]
    known = {"action_features": items, "actions": items["action"][:20]} if is_full else {"action_features": items}
    found = cf.evaluate(tmp_path / "log.parquet", engine=engine, progress=False, context=["x"], **known)
    assert found.contents.action_features == 3
    told = [one.problem for one in found.diagnostics.findings if one.name == "as-read"]
    assert any("`topic` by 2 values, missing for 5 of 20 actions" in one for one in told)
    assert any("`title`, as 20 of 20 actions have a value that no other one has" in one for one in told)


CALLS = {
    "evaluate two rewards": lambda log, **more: cf.evaluate(log, "uniform", reward=["reward", "cost"], **more),
    "learn": lambda log, **more: cf.learn(log, "greedy-learner", shares=1, folds=3, **more),
}


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_all_answers_of_a_call_rest_on_one_reading(call, engine, tmp_path, monkeypatch):
    readings, read_table = [], sources.read_table
    monkeypatch.setattr(sources, "read_table", lambda source: (readings.append(source), read_table(source))[1])
    pa.parquet.write_table(log_of(4).append_column("cost", [range(600)]), tmp_path / "log.parquet")
    pa.parquet.write_table(items_of(4, price=range(4)), tmp_path / "items.parquet")
    items = str(tmp_path / "items.parquet")
    call(tmp_path / "log.parquet", action_features=items, engine=engine, context=["x"], progress=False)
    assert readings == [items]
