"""CSV and JSON as people have them: types that all rows have, dialects, and a sentence for what cannot be read."""

import gzip
import json
import re

import numpy as np
import pytest

import counterfold as cf
from counterfold.io.files import Files

ROWS = 300


def make_rows(**changes):
    """Return rows of a log as dictionaries; `changes` are {column: {row: value}}."""
    rng = np.random.default_rng(0)
    rows = []
    for place in range(ROWS):
        action = int(rng.integers(2))
        rows.append({"action": "ab"[action], "reward": round(action + rng.normal(), 3), "propensity": 0.5,
                     "target": 0.9 if action else 0.1, "age": int(rng.integers(90))})  # fmt: skip
        for name, values in changes.items():
            if place in values:
                rows[-1][name] = values[place]
    return rows


def to_csv(rows, delimiter=","):
    lines = [delimiter.join(rows[0]), *(delimiter.join(map(str, row.values())) for row in rows)]
    return "\n".join(lines).encode()


def to_json(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


@pytest.fixture
def save(tmp_path):
    def write(content, name="log.csv"):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return write


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr("counterfold.io.formats.csv.BLOCK", 1000)
    monkeypatch.setattr("counterfold.io.formats.json_lines.LEAST", 1000)
    monkeypatch.setattr("counterfold.io.formats.json_lines.MOST", 1000)


def answers(path):
    return [cf.evaluate(path, "target", engine=engine, progress=False) for engine in ("memory", "local")]


def refused(path, message):
    for engine in ("memory", "local"):
        with pytest.raises(cf.DataError, match=message):
            cf.evaluate(path, "target", engine=engine, progress=False)


def kinds(path):
    return {one.name: str(one.type) for one in Files.of(path).schema}


# types


@pytest.mark.parametrize("row", [0, 250])
@pytest.mark.parametrize(("name", "write"), [("log.csv", to_csv), ("log.jsonl", to_json)])
def test_a_column_has_the_type_of_all_its_rows(row, name, write, save):
    path = save(write(make_rows(age={row: 31.5})), name)
    assert kinds(path)["age"] == "double"
    memory, local = answers(path)
    assert memory.contents.context == local.contents.context == ("age",)


@pytest.mark.parametrize("value", ["n.a.", "12%", "1.5.2"])
@pytest.mark.parametrize("row", [0, 250])
def test_one_bad_cell_is_said(value, row, save):
    """It used to take the whole column away without a word in memory, and to be an error in local."""
    path = save(to_csv(make_rows(age={row: value})))
    assert kinds(path)["age"] == "string"
    for result in answers(path):
        assert result.contents.context == ()
        assert "is text" in result.contents.left_out["age"]


def test_labels_that_look_like_numbers_at_first_are_texts(save):
    rows = make_rows(action={250: "b7"})
    for row in rows:
        row["action"] = {"a": "1", "b": "2"}.get(row["action"], row["action"])
    path = save(to_csv(rows))
    assert kinds(path)["action"] == "string"
    memory, local = answers(path)
    assert memory.value == pytest.approx(local.value, rel=0.02)


def test_columns_that_are_empty_at_first(save):
    rows = make_rows()
    for place, row in enumerate(rows):
        row["note"] = "" if place < 200 else place / 2
    assert kinds(save(to_csv(rows)))["note"] == "double"


def test_spaces_around_numbers_are_no_text(save):
    assert kinds(save(to_csv(make_rows(age={200: " 7.5 "}))))["age"] == "double"


def test_fields_may_come_late_in_json(save):
    path = save(to_json(make_rows(extra=dict.fromkeys(range(200, 300), 1))), "log.jsonl")
    memory, local = answers(path)
    assert memory.contents.left_out["extra"] == local.contents.left_out["extra"]
    assert memory.contents.left_out["extra"].startswith("it is missing in ")
    assert memory.value == pytest.approx(local.value, rel=1e-9)


def test_keys_may_come_late_in_json(save):
    rows = make_rows()
    for place, row in enumerate(rows):
        later = place >= 150
        row["logging_probs"] = {"a": 0.5, "b": 0.25, "c": 0.25} if later else {"a": 0.5, "b": 0.5}
        row["propensity"] = row["logging_probs"][row["action"]]
    memory, local = answers(save(to_json(rows), "log.jsonl"))
    assert memory.contents.to_dict()["actions"] == local.contents.to_dict()["actions"] == list("abc")
    assert memory.value == pytest.approx(local.value, rel=0.02)


def test_times_and_texts_are_texts(save):
    rows = make_rows()
    for place, row in enumerate(rows):
        row["when"] = "2024-01-01" if place < 200 else "later"
    assert kinds(save(to_json(rows), "log.jsonl"))["when"] == "string"


# dialects


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_the_header_tells_what_separates_fields(delimiter, save):
    one, other = save(to_csv(make_rows(), delimiter)), save(to_csv(make_rows()), "comma.csv")
    assert [one.value for one in answers(one)] == [one.value for one in answers(other)]


def test_a_byte_order_mark_is_no_part_of_a_name(save):
    assert "action" in kinds(save(b"\xef\xbb\xbf" + to_csv(make_rows())))


def test_windows_ends_of_lines(save):
    memory, local = answers(save(to_csv(make_rows()).replace(b"\n", b"\r\n")))
    assert memory.contents.rewards.count == local.contents.rewards.count == ROWS


def test_newlines_in_quotes_are_no_rows(save):
    rows = make_rows()
    for row in rows:
        row["note"] = '"first line\nsecond, longer line\n"'
    memory, local = answers(save(to_csv(rows)))
    assert memory.contents.rewards.count == local.contents.rewards.count == ROWS


def test_na_is_a_label_in_quotes_and_missing_without(save):
    rows = make_rows()
    for row in rows:
        row["action"] = '"NA"' if row["action"] == "a" else "b"
    labels = Files.of(save(to_csv(rows))).table().column("action").to_pylist()
    assert set(labels) == {"NA", "b"}
    refused(save(to_csv(make_rows(action={7: "NA"}))), r"`action` must .* row 7")


def test_text_that_is_not_utf_8(save):
    refused(
        save(to_csv(make_rows(action={7: "é"})).decode().encode("latin-1")),
        "`action` must be text in UTF-8, got .* first at row 7",
    )
    refused(save(to_csv(make_rows()).replace(b"age", b"\xe2ge")), "could not be read as Csv: .*utf-8")
    refused(
        save(to_json(make_rows()).replace(b"age", b"\xe2ge"), "log.jsonl"), "could not be read as JsonLines: .*utf-8"
    )


def test_a_quote_that_is_not_closed(save):
    refused(save(to_csv(make_rows(action={7: '"a'}))), "could not be read as Csv")


def test_packed_text_that_is_cut(save):
    packed = gzip.compress(to_csv(make_rows()))
    refused(save(packed[:-200], "log.csv.gz"), "could not be read as Csv")


def test_a_semicolon_in_a_name_separates_nothing(save):
    rows = [{"a;b;c;d;e;f": 1, **row} for row in make_rows()]
    assert "reward" in kinds(save(to_csv(rows)))


def test_what_is_packed_twice_is_said(save):
    packed = gzip.compress(gzip.compress(to_csv(make_rows())))
    refused(save(packed, "log.csv.gz"), "holds a file that is packed by gzip, which its name does not say: unpack it")


def test_missing_labels_are_explained(save):
    refused(save(to_csv(make_rows(action={7: "NA"}))), "NA and empty fields are missing unless they are in quotes")


@pytest.mark.parametrize(("texts", "is_number"), [(["10.0.0.7", "1.3.3"], False), (["1,234.5", "0,5", "12%"], True)])
def test_what_looks_like_a_number(texts, is_number, save):
    rows = make_rows(note={place: f'"{texts[place % len(texts)]}"' for place in range(ROWS)})
    for found in answers(save(to_csv(rows))):
        assert ("note" in found.contents.left_out) == is_number


# JSON


def test_brackets_in_texts_are_not_deep(save):
    path = save(to_json(make_rows(note=dict.fromkeys(range(ROWS), '[[[["{{' * 40))), "log.jsonl")
    assert answers(path)[0].contents.rewards.count == ROWS


def test_a_byte_order_mark_before_json(save):
    assert answers(save(b"\xef\xbb\xbf" + to_json(make_rows()), "log.jsonl"))[1].contents.rewards.count == ROWS


DEEP = b'{"action": "a", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
LINES = {
    "null": (b"null\n", "every line must be one object, not a part or a list, but one starts with 'n'"),
    "list": (b"[1, 2]\n", r"every line must be one object, not a part or a list, but one starts with '\['"),
    "number": (b"7\n", "every line must be one object"),
    "two": (b'{"action": "a"} {"action": "a"}\n', "every line must be one object, got"),
    "deep": (DEEP, "lists and objects must be at most 100 deep, got 10000"),
    "twice": (b'{"action": "a", "action": "b"}\n', "specified twice in row"),
    "huge": (b'{"action": "a", "reward": 1e999}\n', "Number too big .* in row"),
    "mixed": (
        b'{"action": 7}\n',
        "changed from string to number in row|changed from number to string in row|incompatible types",
    ),
    "half": (b'{"action": "a", "rew\n', "could not be read as JsonLines"),
}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("line", "message"), LINES.values(), ids=LINES)
def test_lines_that_are_no_objects(line, message, first, save, evaluate_apart):
    """Some used to end the process, so that it takes another one to see it."""
    rows = to_json(make_rows())
    path = save(line + rows if first else rows + line, "log.jsonl")
    told = evaluate_apart(path)
    assert len(told) == 2
    assert all(re.search(message, sentence) for sentence in told), told


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize(
    ("line", "shown"),
    [(b"a,1,\xff", "a,1,\ufffd"), ("caf\u00e9,1".encode(), "caf\u00e9,1"), (b"\xe9t\xe9", "\ufffdt\ufffd")],
)
def test_an_uneven_line_in_other_bytes_than_utf8_is_refused_without_a_traceback(line, shown, engine, tmp_path, capfd):
    good = b"".join(b"%c,%d,0.5,%d\n" % (b"ab"[row % 2], row % 3, row) for row in range(50))
    path = tmp_path / "log.csv"
    path.write_bytes(b"action,reward,propensity,x\n" + good + line + b"\n")
    with pytest.raises(cf.DataError) as caught:
        cf.evaluate(path, "a", engine=engine, progress=False)
    assert (
        f"all lines must have 4 fields, as the first one has, got 1 of 51 others; the first is line 52, `{shown}`"
        in str(caught.value)
    )
    assert capfd.readouterr() == ("", "")
