"""Readers: the same log from every format and layout, columns mapped by name, and a sentence for every bad file."""

import gzip
import json
import re

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from tables import FORMATS, csv, json_lines, objects, parquet, spread, table_of

MATRICES = ("logging_probs", "target")
ACTIONS = ["red", "green", "blue"]


@pytest.fixture
def table(columns):
    return table_of(columns)


@pytest.fixture(params=[*FORMATS, "folder"])
def path(request, table, tmp_path):
    place = tmp_path / request.param
    if request.param == "folder":
        place.mkdir()
        for number, start in enumerate(range(0, len(table), 50)):
            (place / f"part-{number}.parquet").write_bytes(parquet(table.slice(start, 50)))
    else:
        place.write_bytes(FORMATS[request.param](table))
    return place


@pytest.fixture
def expected(columns, actions):
    """Return the log and the answer that every file must give."""
    names = ["action", "reward", "logging_probs"]
    context = pa.table({name: columns[name] for name in ("age", "height")})
    log = cf.Log(**{name: columns[name] for name in names}, context=context, actions=actions)
    return log, cf.evaluate(log, columns["target"])


def check(log, target, expected):
    for name in ("action", "reward", "context", "logging_probs", "propensity"):
        np.testing.assert_array_equal(getattr(log, name), getattr(expected[0], name))
    assert log.actions == expected[0].actions
    answers = [one.to_dict() for one in (cf.evaluate(log, target), expected[1])]
    assert len({len(one.pop("context")["taken"]) for one in answers}) == 1  # columns may be called anything
    assert answers[0] == answers[1]


def test_every_format_gives_the_same_log_and_answer(path, actions, expected):
    log = cf.read_log(path, actions=actions)
    check(log, cf.read_target(str(path), "target"), expected)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_every_frame_gives_the_same_log_and_answer(kind, table, actions, expected):
    library = pytest.importorskip(kind)
    frame = {"pandas": table.to_pandas, "polars": lambda: library.from_arrow(table), "pyarrow": lambda: table}[kind]()
    check(cf.read_log(frame, actions=actions), cf.read_target(frame, "target"), expected)


# layouts of probabilities


LAYOUTS = {
    "list": lambda lists, _: {"": pa.array(lists)},
    "large_list": lambda lists, _: {"": pa.array(lists, pa.large_list(pa.float64()))},
    "fixed_size_list": lambda lists, _: {"": pa.array(lists, pa.list_(pa.float64(), 3))},
    "chunks": lambda lists, _: {"": pa.chunked_array([lists[:7], lists[7:]])},
    "slice": lambda lists, _: {"": pa.array(lists[:5] + lists)[5:]},
    "struct": lambda lists, actions: {"": objects(lists, actions)},
    "struct in another order": lambda lists, actions: {"": objects([row[::-1] for row in lists], actions[::-1])},
    "JSON": lambda lists, _: {"": [json.dumps(row) for row in lists]},
    "JSON as string_view": lambda lists, _: {"": pa.array([json.dumps(row) for row in lists], pa.string_view())},
    "columns with dots": spread("."),
    "columns with underscores": spread("_"),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_of_probabilities_gives_the_same_answer(layout, columns, actions, expected):
    parts = {name + end: part for name in MATRICES for end, part in layout(columns[name].tolist(), actions).items()}
    table = table_of(columns | dict.fromkeys(MATRICES) | parts)
    check(cf.read_log(table, actions=actions), cf.read_target(table, "target"), expected)


def test_json_objects_name_the_actions(columns, actions, tmp_path, expected):
    path = tmp_path / "log.jsonl"
    path.write_bytes(json_lines(table_of(columns, logging_probs=objects(columns["logging_probs"].tolist(), actions))))
    check(cf.read_log(path, actions=actions), columns["target"], expected)
    with pytest.raises(cf.DataError, match="in a known order, got 3 without names for the actions blue, green, red"):
        cf.evaluate(cf.read_log(path), columns["target"])


def test_empty_objects_name_no_action(columns):
    with pytest.raises(cf.DataError, match=r"^column `p` must name actions, got empty objects in all 120 rows\.$"):
        cf.read_log(table_of(columns, p=["{}"] * 120), logging_probs="p")


def test_a_column_of_numbers_is_a_target_of_logged_actions(table, columns):
    numbers = columns["logging_probs"][:, 0].astype(np.float32)
    assert cf.read_target(table.append_column("pi", pa.array(numbers)), "pi").tolist() == numbers.tolist()


# columns by name


def test_columns_are_mapped_by_name(columns, table, actions, expected):
    names = {"action": "Aktion № 1", "reward": "the reward", "logging_probs": "p0", "height": "größe"}
    renamed = table.rename_columns([names.get(name, name) for name in table.column_names])
    log = cf.read_log(renamed, action="Aktion № 1", reward="the reward", logging_probs="p0", actions=actions)
    assert log.context_names == ("age", "größe")
    check(log, columns["target"], expected)


def test_context_is_every_other_numeric_column(columns):
    more = {
        "clicked": [True, False] * 60,
        "price": pa.array(range(120)).cast(pa.decimal128(21, 2)),
        "name": ["x"] * 120,
        "when": np.arange(120).astype("M8[s]"),
        "group": [1, 2, 3] * 40,
        "pi": [0.5] * 120,
    }
    log = cf.read_log(table_of(columns, **more), ignore=["target", "pi"], actions=ACTIONS)
    assert log.context_names == ("age", "height", "clicked", "price")


def test_large_numbers_become_context_as_they_do_from_numpy(columns):
    users = 2**62 + np.arange(120)
    log = cf.read_log(table_of(columns, user=users), context=["user"], actions=ACTIONS)
    np.testing.assert_array_equal(log.context[:, 0], users.astype(float))


@pytest.mark.parametrize("name", ["group_size", "propensity_score", "action_id", "reward.usd"])
def test_a_column_that_begins_like_a_role_is_context(name, columns):
    log = cf.read_log(table_of(columns, **{name: [3, 4] * 60}), actions=ACTIONS)
    assert log.context_names == ("age", "height", name)


def test_context_can_be_listed_and_lists_are_spread(columns):
    table = table_of(columns, place=np.column_stack([columns["age"], columns["height"]]))
    log = cf.read_log(table, context=["height", "place"], actions=ACTIONS)
    assert log.context_names == ("height", "place.0", "place.1")
    np.testing.assert_array_equal(log.context, np.column_stack([columns[n] for n in ("height", "age", "height")]))
    assert cf.read_log(table, context=[], actions=ACTIONS).context_names == ()


def test_context_columns_may_begin_with_anything(columns):
    table = table_of(columns, _age=columns["age"], _height=columns["age"], **{".x": columns["age"]})
    assert cf.read_log(table, actions=ACTIONS).context_names == ("age", "height", "_age", "_height", ".x")


@pytest.mark.parametrize(("name", "role"), [("action", "action"), ("gain", "reward")])
def test_context_must_not_give_the_answer_away(name, role, columns):
    table = table_of(columns, gain=columns["reward"])
    with pytest.raises(cf.DataError, match=rf"^`context` must not hold column `{name}`, which is the {role}\.$"):
        cf.read_log(table, reward="gain", context=["age", name])


# bad tables

HALF = "in 60 of 120 rows, first at row 1."
BAD_COLUMN = {
    "reward of text": ("reward", ["x"], "column `c` must be numbers, got 'x' in 120 of 120 rows, first at row 0."),
    "reward of null": ("reward", [1, None], f"`reward` (column `c`) must be finite, got nan {HALF}"),
    "action of null": ("action", ["x", None], f"`action` (column `c`) must be a label in every row, got None {HALF}"),
    "group of null": ("group", ["x", None], f"`group` (column `c`) must be a label in every row, got None {HALF}"),
    "propensity of 0": ("propensity", [0.5, 0.0], f"`propensity` (column `c`) must be in (0, 1], got 0.0 {HALF}"),
    "probs of null": ("logging_probs", [[1, 0, 0], None], f"`c` must be lists in every row, got None {HALF}"),
    "probs ragged": ("logging_probs", [[1, 0], [1]], f"`c` must be lists of one length, 2 as in row 0, got 1 {HALF}"),
    "null in a list": ("available", [[1, 1, None]], "`available` (column `c`) must be true or false, got nan in 120 "),
    "probs nested": ("logging_probs", [[[1.0]]], "column `c` must be lists of numbers, got list<item: list<"),
    "action of lists": ("action", [["x"]], "column `c` must be labels, got list<"),
    "probs a number": ("logging_probs", [0.5], "column `c` must be lists of numbers, got double."),
    "probs of words": (
        "logging_probs",
        ["[1]", "x"],
        "column `c` must be lists like [0.2, 0.8], got 'x', first at row",
    ),
    "probs of texts": ("logging_probs", ['["x", 0]'], "column `c` must be lists of numbers like [0.2, 0.8]"),
    "probs of 0": ("logging_probs", [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]], "`logging_probs` (column `c`) must be "),
}


@pytest.mark.parametrize(("role", "values", "message"), BAD_COLUMN.values(), ids=BAD_COLUMN)
def test_a_bad_column_is_named_in_one_sentence(role, values, message, columns):
    known = None if role == "action" else ACTIONS
    with pytest.raises(cf.DataError) as caught:
        cf.read_log(table_of(columns, c=values * (120 // len(values))), **{role: "c"}, actions=known)
    assert str(caught.value).startswith(message)


def test_columns_named_like_another_role_are_named_once(columns):
    with pytest.raises(cf.DataError, match=r"^`action` \(column `reward`\) must be a label in every row, got None in"):
        cf.read_log(table_of(columns, reward=["a", None] * 60, action=[1, 2] * 60), action="reward", reward="action")


@pytest.mark.parametrize(("given", "wanted"), [("actoin", "action"), ("reward_usd", "reward"), ("hight", "height")])
def test_a_missing_column_is_named_with_the_nearest(given, wanted, columns):
    table = table_of({given if name == wanted else name: column for name, column in columns.items()})
    with pytest.raises(
        cf.DataError, match=rf"^column `{wanted}` must be there\. Did you mean `{given}`\? Found: age, "
    ):
        cf.read_log(table, context=["age", "height"])


@pytest.mark.parametrize("name", ["reward", "age"])
def test_repeated_column_names_are_refused_by_name(name, table):
    with pytest.raises(cf.DataError, match=rf"`{name}`.*\.$"):
        cf.read_log(table.append_column(name, table["reward"]))


# bad files

HEADER = b"action,reward,propensity\n"
BAD_FILE = {
    "nothing.csv": (lambda _: b"", "must not be empty, got 0 bytes"),
    "header.csv": (lambda _: HEADER, "at least 2 rows|empty"),
    "header without end.csv": (lambda _: HEADER.strip(), "at least 2 rows|[Ee]mpty"),
    "no rows.parquet": (lambda table: parquet(table[:0]), "at least 2 rows|empty"),
    "cut.parquet": (lambda table: parquet(table)[:-50], "could not be read as Parquet: "),
    "cut.arrow": (lambda table: FORMATS["log.arrow"](table)[:-50], "could not be read as Arrow: "),
    "cut stream.arrow": (lambda table: FORMATS["stream.arrow"](table)[:-50], "could not be read as Arrow: "),
    "cut.jsonl": (lambda table: json_lines(table)[:-50], "could not be read as JsonLines: "),
    "list.jsonl": (lambda _: b"[1]\n", "could not be read as JsonLines: every line must be one object"),
    "cut.csv": (
        lambda table: csv(table) + b"0.5,0.1",
        r"could not be read as Csv: all lines must have 6 fields, .* got 1 of \d+ others; .*, `0.5,0.1`, with 2; put",
    ),
    "comma.csv": (
        lambda _: HEADER + b"a,1,1\n" * 9 + b"b, or c,0,1\n" * 2,
        "got 2 of 11 others; the first is line 11, `b, or c,0,1`, with 4; put quotes around texts that hold `,`",
    ),
    "remark.csv": (
        lambda _: b"# exported today\n" + HEADER + b"a,1,1\n" * 9,
        "the first line must name all columns, but has 1 of them, and line 2, `action,reward,propensity`, has 3; take",
    ),
    "no header.csv": (
        lambda _: b"1,0.0,0.5\n2,1.0,0.25\n",
        "The first line of a file must hold the names of its columns",
    ),
    "total.csv": (
        lambda _: HEADER + b"a,1,1\n" * 9 + b"total,9,\n",
        "`propensity` must be finite, .* leave these rows out",
    ),
    "commas.jsonl": (lambda _: b'{"action": 1},\n' * 3, "lines must not end with a comma"),
    "broken.jsonl": (
        lambda table: json_lines(table) + b'{"action": "a"\n',
        r"object member in row \d+; mend that line, or take it away",
    ),
    "two ways.jsonl": (
        lambda _: b'{"reward": 1.5}\n{"reward": "1"}\n',
        r"Column\(/reward\) changed from number to string in row 1; write all values of a column in one way",
    ),
    "cut.csv.gz": (lambda table: gzip.compress(csv(table))[:-50], "could not be read as Csv: "),
    "text.parquet": (csv, "could not be read as Parquet: "),
    "latin.csv": (lambda _: HEADER + b"\xe9,1,1\nb,2,1\n", "(?i)utf-?8"),
    "label.csv": (lambda _: HEADER + b",1,1\nb,2,1\n", "`action` must be a label in every row, .* first at row 0"),
    "log.xlsx": (csv, r"must end in one of \.arrow, .*\.parquet, \.pq, .*got `\.xlsx`"),
    "log": (csv, r"must end in one of \.arrow, .*, got `log`"),
}


@pytest.mark.parametrize("name", BAD_FILE)
def test_a_bad_file_gets_one_sentence(name, table, tmp_path):
    content, message = BAD_FILE[name]
    (tmp_path / name).write_bytes(content(table))
    with pytest.raises(cf.DataError) as caught:
        cf.read_log(tmp_path / name)
    assert re.search(message, str(caught.value))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["", "none.csv"], ids=["empty folder", "no file"])
def test_no_file_is_said_by_its_path(name, tmp_path):
    with pytest.raises(cf.DataError, match=rf"^`{re.escape(str(tmp_path / name))}` must "):
        cf.read_log(tmp_path / name)


@pytest.mark.parametrize("source", [3, None, [1, 2], {"action": [1, 2], "reward": [1.0]}], ids=str)
def test_a_source_that_is_no_table_is_refused(source):
    with pytest.raises(
        cf.DataError, match=f"^`source` must be a path, a data frame or a query, got {type(source).__name__}"
    ):
        cf.read_log(source)
