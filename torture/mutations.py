"""Mutated files: a bit flipped at a place, or a cut at a length, with what an independent parser makes of them.

The name of a mutation tells how to make it: `flips/csv/120 4` flips bit 4 of byte 120 of the small CSV, and
`flips/csv/cut 300` keeps its first 300 bytes.
"""

import csv
import gzip
import io
import json
import re

from torture.cases import LogCase
from torture.catalogue import AGREED, EITHER, ENGINES, REFUSED, Entry
from torture.logs import (
    Answer,
    know_answer,
    make_event,
    make_rows,
    make_table,
    write_arrow,
    write_csv,
    write_json,
    write_parquet,
    write_vw,
)

ROWS = 24
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
NUMBERS = ("reward", "propensity", "target")


def make_small(kind):
    """Return the small log as the bytes of a format."""
    rows, table = make_rows()[:ROWS], make_table().slice(0, ROWS)
    makers = {
        "csv": lambda: write_csv(rows).encode(),
        "csv.gz": lambda: gzip.compress(write_csv(rows).encode(), mtime=0),
        "jsonl": lambda: write_json(rows).encode(),
        "parquet": lambda: write_parquet(table, write_page_checksum=True, compression="none", row_group_size=10),
        "arrow": lambda: write_arrow(table, "file", 10),
        "arrows": lambda: write_arrow(table, "stream", 10),
        "dsjson": lambda: write_json(map(make_event, rows)).encode(),
        "vw": lambda: write_vw(rows).encode(),
    }
    return makers[kind]()


KINDS = ("csv", "csv.gz", "jsonl", "parquet", "arrow", "arrows")


def mutate(data, what):
    """Return mutated bytes."""
    place, _, bit = what.partition(" ")
    if place == "cut":
        return data[: int(bit)]
    return data[: int(place)] + bytes([data[int(place)] ^ 1 << int(bit)]) + data[int(place) + 1 :]


def list_mutations(kind, flips, cuts, rng):
    """Return the names of some mutations: every byte if there are enough, else a sample."""
    size = len(make_small(kind))
    places = range(size) if flips >= size else sorted(rng.choice(size, flips, replace=False).tolist())
    lengths = range(size) if cuts >= size else sorted(rng.choice(size, cuts, replace=False).tolist())
    bits = rng.integers(8, size=len(places)).tolist()
    flipped = [f"flips/{kind}/{place} {bit}" for place, bit in zip(places, bits, strict=True)]
    return flipped + [f"flips/{kind}/cut {length}" for length in lengths]


def make_entry(name):
    """Return the entry of a mutation, with how it may end."""
    _, kind, what = name.split("/")
    clean = make_small(kind)
    data = mutate(clean, what)
    allowed, known = judge_data(kind, data, what, clean)

    def make(folder):
        path = folder / f"log.{kind}"
        path.write_bytes(data)
        return LogCase(path, known)

    return Entry(name, allowed, ENGINES, make)


def judge_data(kind, data, what, clean):
    """Return how mutated data may end, and what is known of them."""
    same = know_answer(make_rows()[:ROWS], context=())
    if kind in {"csv", "jsonl"}:
        return parse(data, {"csv": parse_csv, "jsonl": parse_json}[kind])
    if kind == "csv.gz":
        return EITHER, same
    if what.startswith("cut "):
        return EITHER, same
    is_in_pages = kind == "parquet" and int(what.split()[0]) < clean.rindex(b"x0") - 400
    return (EITHER if is_in_pages else AGREED), same


def parse(data, read):
    """Return how a text may end by an independent parser: a text that it refuses must be refused."""
    try:
        rows = read(data.decode(errors="surrogateescape"))
        known = know_answer(rows)
    except (ArithmeticError, KeyError, TypeError, ValueError, csv.Error, RecursionError):
        return REFUSED, None
    return EITHER, Answer(known.value, None, len(rows), tuple(name for name in ("x0", "x1") if name in rows[0]))


def parse_csv(text):
    """Return the rows of a CSV; the numbers that a log needs must be numbers."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    rows = list(reader)
    if any(None in row or None in row.values() for row in rows) or len({*reader.fieldnames}) < len(reader.fieldnames):
        raise ValueError("rows have other lengths, or a name is there twice")
    return [read_numbers(row) for row in rows]


def read_numbers(row):
    """Return a row with numbers."""
    if not all(NUMBER.fullmatch(row[name].strip(" ")) for name in NUMBERS) or not row["action"]:
        raise ValueError("not a number")
    return row | {name: float(row[name]) for name in NUMBERS}


def parse_json(text):
    """Return the rows of JSON lines; the numbers that a log needs must be numbers."""
    rows = [
        json.loads(line, object_pairs_hook=refuse_twice, parse_constant=refuse)
        for line in text.split("\n")
        if line.strip()
    ]
    for row in rows:
        if not all(type(row[name]) in {int, float} for name in NUMBERS) or not isinstance(row["action"], str):
            raise TypeError("not a number")
    return rows


def refuse_twice(pairs):
    """Return an object whose keys are all different."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is there twice")
    return dict(pairs)


def refuse(name):
    """Refuse a number that JSON does not know."""
    raise ValueError(name)
