"""JSON lines: lines that are no objects, nesting, odd numbers, keys, types that change, and cut files."""

import gzip
import json

from torture.cases import LogCase
from torture.catalogue import AGREED, EITHER, ENGINES, REFUSED, RIGHT, WITH_SPARK, entry
from torture.logs import know_answer, make_rows, write_json

TEXT = write_json()
LINES = TEXT.splitlines()
DEEP = 100_000


def add(name, data, allowed, file="log.jsonl", known=None, **settings):
    """Register a file with these bytes, this text, or these lines."""

    @entry(name, allowed, **settings)
    def make(folder):
        made = data() if callable(data) else data
        made = "\n".join([*made, ""]) if isinstance(made, list) else made
        (folder / file).write_bytes(made.encode() if isinstance(made, str) else made)
        return LogCase(folder / file, known or know_answer())


def replace(place, line):
    """Return the lines with another one."""
    lines = list(LINES)
    lines[place] = line
    return lines


def change(place, **cells):
    """Return the lines with other values in one of them; a text in `<>` is written as it is."""
    row = json.dumps(dict(make_rows()[place]) | cells)
    return replace(place, row.replace('"<', "").replace('>"', ""))


def write_rows(change_row):
    """Return all rows after a change."""
    return write_json([change_row(dict(row)) for row in make_rows()])


add("clean", TEXT, RIGHT, ways=WITH_SPARK)
add("clean, ndjson", TEXT, RIGHT, "log.ndjson")
add("clean, json", TEXT, RIGHT, "log.json")
add("clean, gzip", gzip.compress(TEXT.encode(), mtime=0), RIGHT, "log.jsonl.gz")
add("clean, lines end in CRLF", TEXT.replace("\n", "\r\n"), RIGHT)
add("clean, keys in another order", write_rows(lambda row: dict(reversed(row.items()))), RIGHT)
add("clean, no newline at the end", TEXT.rstrip("\n"), RIGHT)

NO_OBJECTS = {
    "null": "null",
    "an array": "[1, 2]",
    "a number": "5",
    "a text": '"text"',
    "true": "true",
    "an empty object": "{}",
    "an empty array": "[]",
    "garbage": "}{",
    "an open object": '{"x0": 1',
    "an open text": '{"x0": "1',
    "two objects": LINES[0] + LINES[1],
    "a trailing comma": LINES[0].replace("}", ",}"),
    "a comment": "// comment",
    "single quotes": LINES[0].replace('"', "'"),
    "an object in an array": f"[{LINES[0]}]",
    "NULs": "\0\0\0\0",
}
for name, line in NO_OBJECTS.items():
    for place, row in {"first": 0, "last": -1}.items():
        add(f"{name} in the {place} line", replace(row, line), AGREED if name == "two objects" else REFUSED)

NUMBERS = {
    "NaN": "<NaN>",
    "Infinity": "<Infinity>",
    "minus Infinity": "<-Infinity>",
    "10 to the 400": 10**400,
    "1e400": "<1e400>",
    "2 to the 64": "<18446744073709551616>",
    "a text": "1.5",
    "null": None,
    "true": True,
    "an object": {"a": 1},
    "a list": [1.0],
    "a leading zero": "<01>",
    "hexadecimal": "<0x1F>",
    "a plus": "<+1>",
}
for name, value in NUMBERS.items():
    for column in ("reward", "x0"):
        for place, row in {"first": 0, "last": -1}.items():
            allowed = EITHER if column == "x0" else REFUSED
            allowed = AGREED if name == "2 to the 64" else allowed
            case = {"ways": WITH_SPARK} if (name, column, place) == ("Infinity", "reward", "last") else {}
            add(f"{name} in {column} of the {place} line", change(row, **{column: value}), allowed, **case)

for name in ("action", "reward", "propensity", "target"):
    add(
        f"{name} missing in one line",
        replace(7, json.dumps({k: v for k, v in make_rows()[7].items() if k != name})),
        REFUSED,
    )
add("x0 missing in one line", replace(7, json.dumps({k: v for k, v in make_rows()[7].items() if k != "x0"})), EITHER)

KEYS = {
    "a key twice": (replace(7, LINES[7].replace("{", '{"reward": 9.0, ')), REFUSED),
    "a key twice in every line": ([line.replace("{", '{"reward": 9.0, ') for line in LINES], REFUSED),
    "a key that is not UTF-8": (TEXT.replace("x0", "gr\xf6").encode("latin-1"), REFUSED),
    "a late key that is not UTF-8": (TEXT.encode() + LINES[0].replace("x0", "\xf6").encode("latin-1"), REFUSED),
    "a label that is not UTF-8": (TEXT.replace("green", "gr\xfcn").encode("latin-1"), REFUSED),
    "half a surrogate in a label": (TEXT.replace("green", "\\ud800"), EITHER),
    "NUL escaped in a label": (TEXT.replace("green", "gr\\u0000n"), EITHER),
    "an escape sequence in a label": (TEXT.replace("green", "\\u001b[31mgreen"), EITHER),
    "an escape sequence in a key": (TEXT.replace("x0", "\\u001b[31mx0"), EITHER),
    "an empty key": (TEXT.replace("x0", ""), EITHER),
    "a key of 1 MB in one line": (replace(7, LINES[7].replace("{", '{"' + "k" * 1_000_000 + '": 1, ')), EITHER),
    "1,000 keys": (write_rows(lambda row: row | {f"k{n}": "a" for n in range(1000)}), EITHER),
    "more keys in each line": (write_json([row | {f"k{n}": "a"} for n, row in enumerate(make_rows())]), EITHER),
    "a role missing": (TEXT.replace("reward", "click"), REFUSED),
    "labels of two kinds": (
        replace(7, LINES[7].replace('"red"', "1").replace('"green"', "1").replace('"blue"', "1")),
        REFUSED,
    ),
    "labels that are lists": (TEXT.replace('"green"', '["green"]'), REFUSED),
}
for name, (data, allowed) in KEYS.items():
    add(name, data, allowed, known=know_answer(context=()), ways=(*ENGINES, "command memory", "command local"))

FORMS = {
    "byte order mark": "\ufeff" + TEXT,
    "UTF-16": TEXT.encode("utf-16"),
    "blank lines": TEXT.replace("\n", "\n\n"),
    "one array of objects": json.dumps(make_rows()),
    "objects over several lines": "\n".join(json.dumps(row, indent=2) for row in make_rows()),
    "all in one line": "".join(LINES),
    "records separated by RS": "".join(f"\x1e{line}\n" for line in LINES),
    "columns instead of rows": json.dumps({name: [row[name] for row in make_rows()] for name in make_rows()[0]}),
    "an object with the rows": json.dumps({"data": make_rows()}),
    "numbers as texts": write_rows(lambda row: row | {"reward": str(row["reward"])}),
    "rewards that are true and false": write_rows(lambda row: row | {"reward": row["reward"] > 1}),
}
for name, data in FORMS.items():
    add(name, data, AGREED if name.startswith("rewards") else EITHER)

CUT = {
    "cut in the last line": TEXT[:-20],
    "gzip, cut": gzip.compress(TEXT.encode())[:-200],
    "gzip, one byte flipped": bytes(b ^ (4 * (i == 900)) for i, b in enumerate(gzip.compress(TEXT.encode(), mtime=0))),
}
for name, data in CUT.items():
    add(name, data, REFUSED, "log.jsonl.gz" if "gzip" in name else "log.jsonl")
add("nothing", "", REFUSED)
add("one newline", "\n", REFUSED)
add("one line", LINES[0], REFUSED)
add("gzip, not named so", gzip.compress(TEXT.encode()), EITHER)

NESTED = {
    "lists": "[" * DEEP + "]" * DEEP,
    "objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "open lists": "[" * DEEP,
    "open objects": '{"a":' * DEEP,
}
for name, value in NESTED.items():
    add(
        f"{DEEP:,} {name} in each other",
        replace(7, LINES[7][:-1] + f', "deep": {value}}}'),
        EITHER,
        known=know_answer(context=()),
    )
    add(f"{DEEP:,} {name} in each other, as a line", replace(0, value), REFUSED)
    add(
        f"{DEEP:,} {name} in each other, as a reward",
        replace(-1, LINES[-1].replace('"reward": ', f'"reward": {value}, "r": ')),
        REFUSED,
    )
