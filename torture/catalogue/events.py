"""Events of other tools: dsjson and text of Vowpal Wabbit with lines that are cut, mixed or of other kinds."""

import gzip
import json

from torture.cases import LogCase
from torture.catalogue import AGREED, EITHER, REFUSED, RIGHT, entry
from torture.logs import know_answer, make_event, make_rows, write_json, write_vw

TARGET = "context.target"
LINES = [json.dumps(make_event(row)) for row in make_rows()]
TEXT = "\n".join([*LINES, ""])
WORDS = write_vw().splitlines()


def add(name, data, allowed, file="log.dsjson", known=None, **columns):
    """Register a file with these bytes, this text, or these lines."""

    @entry(name, allowed)
    def make(folder):
        made = "\n".join([*data, ""]) if isinstance(data, list) else data
        (folder / file).write_bytes(made.encode() if isinstance(made, str) else made)
        return LogCase(folder / file, known or know_answer(), TARGET, columns)


def change(place, **fields):
    """Return the lines with other fields in one of them."""
    lines = list(LINES)
    lines[place] = json.dumps(make_event(make_rows()[place]) | fields)
    return lines


def replace(place, line, lines=LINES):
    """Return the lines with another one."""
    return [*lines[:place], line, *lines[place + 1 :]]


add("clean", TEXT, RIGHT)
add("clean, gzip", gzip.compress(TEXT.encode(), mtime=0), RIGHT, "log.dsjson.gz")
add("clean, lines end in CRLF", TEXT.replace("\n", "\r\n"), RIGHT)
add("clean, byte order mark", "\ufeff" + TEXT, RIGHT)
add("clean, no newline at the end", TEXT.rstrip("\n"), RIGHT)
add("clean, json by its format", TEXT, RIGHT, "log.json", format="dsjson")
add("clean, text", write_vw(), RIGHT, "log.vw")
add("outcomes between events", replace(3, LINES[3] + '\n{"EventId": "x", "RewardValue": 1}'), RIGHT)
add("another tool's rows", write_json(), REFUSED)
add("text by another name", write_vw(), REFUSED)
add("events by another name", TEXT, REFUSED, "log.vw")
add("events as plain JSON lines", TEXT, REFUSED, "log.jsonl")
add("an unknown format", TEXT, REFUSED, format="dsjon")

for name, line in {
    "null": "null",
    "an array": "[1]",
    "garbage": "}{",
    "two events": LINES[0] + LINES[1],
    "a comment": "// comment",
    "NULs": "\0\0\0",
    "a cut event": LINES[5][:100],
    "a nest": "[" * 100_000,
    "a deep context": '{"c": {"a":' + '{"a":' * 50_000 + "1" + "}" * 50_002,
}.items():
    add(f"{name} in a line", replace(5, line), REFUSED)

for name, fields in {
    "no probabilities": {"p": []},
    "too few probabilities": {"p": [0.5, 0.5]},
    "probabilities that do not add up": {"p": [0.5, 0.5, 0.5]},
    "probabilities of others": {"p": [0.2, 0.2, 0.6]},
    "negative probabilities": {"p": [1.5, -0.25, -0.25]},
    "texts as probabilities": {"p": ["0.5", "0.25", "0.25"]},
    "probability of 0": {"_label_probability": 0.0},
    "probability beyond 1": {"_label_probability": 1.5},
    "probability that is NaN": {"_label_probability": float("nan")},
    "actions from 0 on": {"a": [0, 1, 2]},
    "an action twice": {"a": [1, 1, 2]},
    "an action that there is not": {"_label_Action": 7},
    "a negative action": {"_label_Action": -1},
    "true as an action": {"_label_Action": True},
    "a cost that is NaN": {"_label_cost": float("nan")},
    "a cost that is text": {"_label_cost": "1"},
    "a cost beyond all floats": {"_label_cost": 10**400},
    "always dropped": {"pdrop": 1},
    "several slots": {"_slots": [], "_outcomes": [{"_a": [1]}]},
    "an infinite context": {"c": make_event(make_rows()[5])["c"] | {"x0": float("inf")}},
}.items():
    add(name, change(5, **fields), REFUSED)

add(
    "a number that is text once",
    change(5, c=make_event(make_rows()[5])["c"] | {"x0": "n.a."}),
    EITHER,
    known=know_answer(context=("x1",)),
)
add("a text that is cut", write_vw().encode()[:-20], AGREED, "log.vw")
for name, line in {"no bar": "1:1:0.5", "no probability": "1:1 | x0:1", "a word": "1:1:x | a", "NULs": "\0|\0"}.items():
    add(f"text, {name}", replace(5, line, WORDS), REFUSED, "log.vw")
