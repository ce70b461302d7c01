"""Several loggers: the same log from every format and layout, a sentence when it is bad."""

import json

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from tables import csv, objects, same, table_of

LOGGERS = ["old", "new_v2"]
HALF = "in 60 of 120 rows, first at row 1."
# several loggers


@pytest.fixture
def logged(columns):
    """Return a log of two policies, and the probabilities of each."""
    rng = np.random.default_rng(1)
    probs = dict(zip(LOGGERS, (rng.dirichlet([4.0, 2.0, 3.0], size=120) for _ in LOGGERS), strict=True))
    logger = np.array(LOGGERS)[rng.integers(2, size=120)]
    return columns | {"logger": logger, "logging_probs": None}, probs


def spread_twice(separator):
    return lambda probs, actions: {
        f"{separator}{label}{separator}{action}": column
        for label, matrix in probs.items()
        for action, column in zip(actions, matrix.T, strict=True)
    }


def nested(probs, actions=None):
    lists = {label: matrix.tolist() if actions is None else objects(matrix, actions) for label, matrix in probs.items()}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


PROBS = {
    "lists": lambda probs, _: {f".{label}": matrix for label, matrix in probs.items()},
    "lists, underscores": lambda probs, _: {f"_{label}": matrix for label, matrix in probs.items()},
    "structs": lambda probs, actions: {f".{label}": objects(matrix, actions) for label, matrix in probs.items()},
    "JSON lists": lambda probs, _: {f".{label}": [*map(json.dumps, m.tolist())] for label, m in probs.items()},
    "JSON objects": lambda probs, actions: {f".{x}": [*map(json.dumps, objects(m, actions))] for x, m in probs.items()},
    "numbers": spread_twice("."),
    "numbers, underscores": spread_twice("_"),
    "one struct of lists": lambda probs, _: {"": nested(probs)},
    "one struct of structs": lambda probs, actions: {"": nested(probs, actions)},
    "one JSON of lists": lambda probs, _: {"": [*map(json.dumps, nested(probs))]},
    "one JSON of objects": lambda probs, actions: {"": [*map(json.dumps, nested(probs, actions))]},
}


def log_of_loggers(logged, actions):
    columns, probs = logged
    context = pa.table({name: columns[name] for name in ("age", "height")})
    inputs = {name: columns[name] for name in ("action", "reward", "logger")}
    return cf.Log(**inputs, context=context, logger_probs=probs, actions=actions)


@pytest.mark.parametrize("name", ["logger_probs", "policies"])
@pytest.mark.parametrize("layout", PROBS.values(), ids=PROBS)
def test_probabilities_of_loggers_in_every_layout(layout, name, logged, actions):
    columns, probs = logged
    table = table_of(columns | {name + end: column for end, column in layout(probs, actions).items()})
    log = cf.read_log(table, logger_probs=None if name == "logger_probs" else name, actions=actions)
    same(log, log_of_loggers(logged, actions))


@pytest.mark.parametrize("layout", ["lists", "structs", "numbers", "one struct of lists", "one struct of structs"])
def test_several_loggers_from_every_format(layout, logged, actions, source):
    columns, probs = logged
    parts = {f"logger_probs{end}": column for end, column in PROBS[layout](probs, actions).items()}
    log = cf.read_log(source(table_of(columns | parts)), actions=actions)
    same(log, log_of_loggers(logged, actions))


def test_numbers_as_loggers_and_names_that_begin_alike(columns, actions):
    probs = dict.fromkeys(["1", "1.5", "10"], columns["logging_probs"])
    parts = {f"logger_probs{end}": column for end, column in PROBS["lists"](probs, actions).items()}
    log = cf.read_log(table_of(columns | parts, logger=[1.0, 1.5, 10.0] * 40), actions=actions)
    assert (log.loggers.labels, log.loggers.codes[:3].tolist()) == (("1", "1.5", "10"), [0, 1, 2])


def test_a_column_called_logger_is_any_column_without_probabilities(columns, actions):
    log = cf.read_log(table_of(columns, logger=[1, 2] * 60), actions=actions)
    assert (log.loggers, log.context_names) == (None, ("age", "height", "logger"))


UNPAIRED = "`logger` and `logger_probs` must come together: a label per row, and "
BAD_LOGGERS = {
    "no probabilities": ({".old": None, ".new_v2": None}, {"logger": "logger"}, UNPAIRED),
    "no logger": ({"logger": None}, {}, UNPAIRED),
    "missing": ({}, {"logger": "loger"}, "column `loger` must be there. Did you mean `logger`? Found: "),
    "missing probabilities": ({}, {"logger_probs": "probs"}, "column `probs` must be there."),
    "one column": ({".new_v2": None}, {}, "`logger` must be one of the 1 known loggers (old), got new_v2 in "),
    "unknown": (
        {"logger": ["old", "x"] * 60},
        {},
        f"`logger` must be one of the 2 known loggers (old, new_v2), got x {HALF}",
    ),
    "null": ({"logger": ["old", None] * 60}, {}, f"`logger` must be a label in every row, got None {HALF}"),
    "sum": (
        {".old": [[0.5, 0.5, 0.5]] * 120},
        {},
        "`logger_probs` of `old` must be rows of probabilities that sum to 1",
    ),
    "number": ({".old": [0.5] * 120}, {}, "column `logger_probs.old` must be lists of numbers, got double."),
    "ragged": (
        {".old": [[1.0, 0], [1.0]] * 60},
        {},
        "`logger_probs.old` must be lists of one length, 2 as in row 0, got",
    ),
    "narrow": ({".old": [[0.5, 0.5]] * 120}, {}, "`logger_probs` of `old` must have one column per action (3: red"),
    "words": (
        {".old": ["half"] * 120},
        {},
        "column `logger_probs.old` must be lists like [0.2, 0.8], got 'half', first",
    ),
    "no object": (
        {"": [[0.5]] * 120},
        {},
        "column `logger_probs` must be objects from logger to probabilities, got list",
    ),
    "zero": (
        {".old": [[0.0, 0.0, 1.0]] * 120},
        {},
        "`logger_probs` must be at least 1e-30 for the logged action, got 0.0 in ",
    ),
}


@pytest.mark.parametrize(("changes", "named", "message"), BAD_LOGGERS.values(), ids=BAD_LOGGERS)
def test_bad_loggers_get_one_sentence(changes, named, message, logged, actions):
    columns, probs = logged
    parts = PROBS["lists"](probs, actions) | {end: part for end, part in changes.items() if end != "logger"}
    parts = {f"logger_probs{end}": part for end, part in parts.items()}
    logger = {"logger": changes["logger"]} if "logger" in changes else {}
    with pytest.raises(cf.DataError) as caught:
        cf.read_log(table_of(columns | parts | logger), actions=actions, **named)
    assert message in str(caught.value)


# layouts that all roles share


def test_objects_as_text_name_the_actions(columns, actions, tmp_path):
    (tmp_path / "log.csv").write_bytes(csv(table_of(columns, logging_probs=objects(columns["logging_probs"], actions))))
    log = cf.read_log(tmp_path / "log.csv")
    assert log.actions == tuple(sorted(actions))
    place = [actions.index(action) for action in log.actions]
    np.testing.assert_array_equal(log.logging_probs, columns["logging_probs"][:, place])


CATEGORIES = {
    "pandas": lambda pandas, table: table.to_pandas().assign(action=pandas.Categorical(table["action"])),
    "polars": lambda polars, table: polars.from_arrow(table).with_columns(
        polars.col("action").cast(polars.Categorical)
    ),
    "pyarrow": lambda _, table: table.set_column(2, "action", table["action"].dictionary_encode()),
}


@pytest.mark.parametrize("kind", CATEGORIES)
def test_categories_are_labels(kind, columns, actions):
    frame = CATEGORIES[kind](pytest.importorskip(kind), table_of(columns))
    log = cf.read_log(frame, actions=actions)
    assert [actions[code] for code in log.action] == columns["action"].tolist()


@pytest.mark.parametrize("text", ["[" * 100_000, "[1, 2", ""], ids=["deep", "cut", "empty"])
def test_bad_json_gets_one_short_sentence(text, columns):
    with pytest.raises(
        cf.DataError, match=r"^column `p` must be lists like \[0\.2, 0\.8\], got .{2,70}, first at row 0\.$"
    ):
        cf.read_log(table_of(columns, p=[text] * 120), logging_probs="p")


@pytest.mark.parametrize("text", ["{'red': 0.2, 'green': 0.8}", "[0.2 0.3 0.5]", "[nan, 0.5, array([1])]"])
def test_what_python_prints_is_no_json(text, columns):
    for engine in ("memory", "local"):
        with pytest.raises(
            cf.DataError, match=r"first at row 0\. Write JSON, with double quotes and commas, as `json\.dumps`"
        ):
            cf.evaluate(table_of(columns, p=[text] * 120), "red", logging_probs="p", engine=engine)


def test_lists_as_text_can_be_context(columns, actions):
    log = cf.read_log(table_of(columns, place=["[1, 2.5]", " [3, 4]"] * 60), context=["place"], actions=actions)
    assert log.context[:2].tolist() == [[1, 2.5], [3, 4]]


@pytest.mark.parametrize(
    ("column", "values"), [("item_id", np.arange(40)), ("item_id", ["same"] * 40), ("item_id", np.arange(40) + 1)]
)
def test_neither_constants_nor_row_numbers_are_suggested(column, values):
    table = {column: values, "arm": ["a", "b"] * 20, "reward": np.arange(40) % 3, "propensity": [0.5] * 40}
    with pytest.raises(cf.DataError, match=r"Did you mean `arm`\?"):
        cf.read_log(table)
    with pytest.raises(cf.DataError, match=r"Did you mean `item_id`\?"):
        cf.read_log({**table, column: ["c", "d"] * 20})


def test_a_constant_of_1_is_not_suggested_as_propensity():
    table = {"action": ["a", "b"] * 20, "reward": np.arange(40) % 3, "prob": [1.0] * 40, "p": np.arange(40)}
    with pytest.raises(cf.DataError, match=r"got neither. If none were logged"):
        cf.read_log(table)
    with pytest.raises(cf.DataError, match=r"Did you mean `prob`\?"):
        cf.read_log({**table, "prob": [0.5] * 40})
