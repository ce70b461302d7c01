"""Parquet: flipped bytes with and without page checksums, cut files, footers and page headers that lie, odd columns."""

import numpy as np
import pyarrow as pa

from torture import thrift
from torture.cases import LogCase
from torture.catalogue import AGREED, EITHER, REFUSED, RIGHT, WITH_SPARK, entry
from torture.logs import know_answer, make_table, write_arrow, write_csv, write_json, write_parquet
from torture.thrift import read_footer, replace_footer, zigzag

DATA = write_parquet()
CHECKED = write_parquet(write_page_checksum=True)
COLUMNS = ("x0", "action", "reward", "propensity", "target")
ANYTHING = know_answer(context=())


def add(name, data, allowed, file="log.parquet", known=None, **settings):
    """Register a file with these bytes, or those that a function makes."""

    @entry(name, allowed, **settings)
    def make(folder):
        (folder / file).write_bytes(data() if callable(data) else data)
        return LogCase(folder / file, known or know_answer())


def flip(data, place, bit=0):
    """Return the bytes with one bit flipped."""
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


CLEAN = {
    **{f"packed by {codec}": {"compression": codec} for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4")},
    "with page checksums": {"write_page_checksum": True},
    "with pages of version 2": {"data_page_version": "2.0"},
    "without dictionaries": {"use_dictionary": False},
    "without statistics": {"write_statistics": False},
    "in row groups of 7": {"row_group_size": 7},
    "of format 1.0": {"version": "1.0"},
    "with tiny pages": {"data_page_size": 64, "write_batch_size": 8},
    "split into streams of bytes": {"use_dictionary": False, "use_byte_stream_split": ["reward", "x0"]},
}
for name, settings in CLEAN.items():
    ways = {"ways": WITH_SPARK} if name == "with page checksums" else {}
    add(f"clean, {name}", lambda settings=settings: write_parquet(**settings), RIGHT, **ways)
add("clean, named pq", DATA, RIGHT, "log.pq")


def find_pages(data, column, group=1):
    """Return where the pages of a column begin and end in a row group, and where its data page begins."""
    footer, _ = read_footer(data)
    chunk = footer[4][1][1][group][1][1][1][make_table().column_names.index(column)]
    facts = chunk[3][1]
    page = facts[9][1] >> 1
    start = min(page, facts[11][1] >> 1) if 11 in facts else page
    return start, start + (facts[7][1] >> 1), page


def flip_in_page(settings, column, share):
    """Return a file with a bit flipped at a share of the way through the pages of a column."""
    data = write_parquet(**settings)
    start, end, _ = find_pages(data, column)
    return flip(data, min(start + int(share * (end - start)), end - 1), bit=3)


PLACES = {"header": 0.02, "middle": 0.5, "last byte": 1.0}
for column in COLUMNS:
    for codec in ("none", "snappy", "zstd"):
        for label, share in PLACES.items():
            settings = {"compression": codec, "use_dictionary": column == "action"}
            ways = {"ways": WITH_SPARK} if (column, codec, label) == ("reward", "none", "middle") else {}
            add(
                f"a flipped bit in the {label} of {column}, {codec}, with checksums",
                lambda s=settings, c=column, p=share: flip_in_page(s | {"write_page_checksum": True}, c, p),
                EITHER,
                **ways,
            )
    add(f"a flipped bit in {column}, without checksums", lambda c=column: flip_in_page({}, c, 0.5), AGREED)

FOOTER = read_footer(DATA)[1]
for number, place in enumerate(np.random.default_rng(0).integers(FOOTER, len(DATA) - 8, size=24).tolist()):
    add(f"a flipped bit in the footer, {number}", flip(DATA, place, bit=number % 8), AGREED)
CHECKED_GROUPS = write_parquet(write_page_checksum=True, store_schema=False)
START = read_footer(CHECKED_GROUPS)[1]
for number, place in enumerate(np.random.default_rng(1).integers(START, len(CHECKED_GROUPS) - 8, size=12).tolist()):
    add(
        f"a flipped bit in the footer without Arrow's schema, {number}",
        flip(CHECKED_GROUPS, place, bit=number % 8),
        AGREED,
    )

CUT = {
    "nothing": b"",
    "4 bytes": DATA[:4],
    "8 bytes": b"PAR1PAR1",
    "12 bytes": b"PAR1\0\0\0\0PAR1",
    "cut in half": DATA[: len(DATA) // 2],
    "cut before the footer": DATA[:FOOTER],
    "cut in the footer": DATA[:-100],
    "the last byte missing": DATA[:-1],
    "the first byte missing": DATA[1:],
    "the first half zeros": bytes(len(DATA) // 2) + DATA[len(DATA) // 2 :],
    "nothing but zeros": bytes(len(DATA)),
    "zeros for the first page": DATA[:4] + bytes(200) + DATA[204:],
    "wrong magic at the end": DATA[:-4] + b"PAR2",
    "encrypted by its magic": DATA[:-4] + b"PARE",
    "a footer longer than the file": DATA[:-8] + b"\xff\xff\xff\x7fPAR1",
    "a footer of no length": DATA[:-8] + b"\0\0\0\0PAR1",
    "a negative footer": DATA[:-8] + b"\xff\xff\xff\xffPAR1",
    "a CSV": write_csv().encode(),
    "JSON lines": write_json().encode(),
    "an Arrow file": write_arrow(),
}
for name, data in CUT.items():
    add(name, data, REFUSED, ways=WITH_SPARK) if name == "cut in half" else add(name, data, REFUSED)
add("garbage behind", DATA + b"garbage", REFUSED)
add("wrong magic at the start", b"PAR2" + DATA[4:], EITHER)
add("two files in one", DATA + DATA, EITHER)
for file in ("log.csv", "log.jsonl", "log.arrow", "log.csv.gz", "log", "log.xlsx"):
    add(f"named {file}", DATA, REFUSED, file)


def lie(path, value):
    """Return a change of a footer: a path of numbers of fields and places in lists, and the new value."""

    def change(footer):
        place = footer
        for step in path[:-1]:
            place = place[step][1]
        place[path[-1]][1] = value

    return lambda: replace_footer(CHECKED, change)


def lie_of_group(field, value, column=None):
    """Return a file whose first row group says something else, or a column of it."""

    def change(footer):
        one = footer[4][1][1][0]
        facts = one if column is None else one[1][1][1][make_table().column_names.index(column)][3][1]
        facts[field][1] = value

    return lambda: replace_footer(CHECKED, change)


def lie_of_schema(field, value, place=4):
    """Return a file whose schema says something else of a column; 4 is that of the reward."""

    def change(footer):
        footer[2][1][1][place][field][1] = value

    return lambda: replace_footer(write_parquet(write_page_checksum=True, store_schema=False), change)


NUMBERS = {
    "0": 0,
    "1": 1,
    "fewer": 90,
    "one more": 101,
    "1000": 1000,
    "2 to the 31": 2**31,
    "2 to the 62": 2**62,
    "-1": -1,
}
for name, value in NUMBERS.items():
    stored = zigzag(value)
    add(f"rows of the file: {name}", lie([3], stored), EITHER)
    add(f"rows of a row group: {name}", lie_of_group(3, stored), EITHER)
    add(f"bytes of a row group: {name}", lie_of_group(2, stored), EITHER)
    for field, what in {5: "values", 6: "bytes unpacked", 7: "bytes packed", 9: "first page"}.items():
        add(f"{what} of the reward: {name}", lie_of_group(field, stored, "reward"), EITHER)
for number in range(9):
    add(f"codec {number} of the reward", lie_of_group(4, zigzag(number), "reward"), EITHER)
    add(f"type {number} of the reward", lie_of_schema(1, zigzag(number)), AGREED)
add("no row groups", lambda: replace_footer(CHECKED, lambda footer: footer[4][1].__setitem__(1, [])), REFUSED)
add(
    "a row group twice",
    lambda: replace_footer(CHECKED, lambda footer: footer[4][1][1].append(footer[4][1][1][0])),
    EITHER,
)
add("a row group missing", lambda: replace_footer(CHECKED, lambda footer: footer[4][1][1].pop()), EITHER)
add("a column missing in a row group", lambda: replace_footer(CHECKED, lambda f: f[4][1][1][0][1][1][1].pop()), REFUSED)
add(
    "columns of a row group turned around",
    lambda: replace_footer(CHECKED, lambda f: f[4][1][1][0][1][1][1].reverse()),
    EITHER,
)
add(
    "more columns in the schema",
    lambda: replace_footer(CHECKED, lambda f: f[2][1][1][0][5].__setitem__(1, zigzag(9))),
    REFUSED,
)
add(
    "fewer columns in the schema",
    lambda: replace_footer(CHECKED, lambda f: f[2][1][1][0][5].__setitem__(1, zigzag(2))),
    EITHER,
)
add("a name that is not UTF-8", lie_of_schema(4, b"gr\xf6", place=1), EITHER, known=ANYTHING)
add("a name with an escape sequence", lie_of_schema(4, b"\x1b[2Jx0", place=1), EITHER, known=ANYTHING)
add("two columns with one name", lie_of_schema(4, b"x1", place=1), REFUSED)
add("a name of 1 MB", lie_of_schema(4, b"x" * 1_000_000, place=1), EITHER, known=ANYTHING)


def lie_of_page(field, value, inner=None):
    """Return a file whose first page of rewards has a header that says something else."""
    data = write_parquet(use_dictionary=False, compression="none")
    _, _, page = find_pages(data, "reward", 0)
    source = thrift.Input(data[page:])
    header = source.struct()
    facts = header if inner is None else header[inner][1]
    facts[field][1] = value
    made = thrift.write_struct(header)
    gap = source.place - len(made)
    return (
        data[:page] + made + data[page + len(made) + gap :]
        if gap == 0
        else data[:page] + made + data[page + source.place :]
    )


for name, value in {"0": 0, "1": 1, "99": 99, "1000": 1000, "2 to the 30": 2**30, "-1": -1}.items():
    add(f"values of a page: {name}", lambda v=value: lie_of_page(1, zigzag(v), 5), AGREED)
    add(f"bytes of a page: {name}", lambda v=value: lie_of_page(2, zigzag(v)), AGREED)
    add(f"packed bytes of a page: {name}", lambda v=value: lie_of_page(3, zigzag(v)), AGREED)

ODD = {
    "no rows": (make_table().slice(0, 0), REFUSED),
    "one row": (make_table().slice(0, 1), REFUSED),
    "no columns": (pa.table({}), REFUSED),
    "an index of pandas": (make_table(__index_level_0__=list(range(240))), RIGHT),
    "a column of nulls": (make_table(x2=pa.nulls(240)), EITHER),
    "a column of binary": (make_table(x2=[b"\xff"] * 240), EITHER),
    "a column of structs": (make_table(x2=[{"a": {"b": [1]}}] * 240), EITHER),
    "a column of maps": (make_table(x2=pa.array([[("a", 1.0)]] * 240, pa.map_(pa.string(), pa.float64()))), EITHER),
    "a column with an empty name": (make_table(**{"": [1.5, 2.0] * 120}), EITHER),
    "a column with a newline in its name": (make_table(**{"x\ny": [1.5, 2.0] * 120}), EITHER),
}
for name, (table, allowed) in ODD.items():
    add(name, lambda table=table: write_parquet(table), allowed)
