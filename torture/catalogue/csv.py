"""CSV: encodings, dialects, bad cells early and late, headers, rows, and compressed files."""

import bz2
import gzip
import io
import lzma
import zipfile

import pyarrow as pa

from torture.cases import LogCase
from torture.catalogue import AGREED, EITHER, ENGINES, REFUSED, RIGHT, WITH_SPARK, entry
from torture.logs import Answer, know_answer, make_rows, write_csv

TEXT = write_csv()
LINES = TEXT.splitlines()
HEAD, BODY = LINES[0], LINES[1:]


def add(name, data, allowed, file="log.csv", ways=None, known=None, **settings):
    """Register a file with these bytes, this text, or these lines."""
    given = {} if ways is None else {"ways": ways}

    @entry(name, allowed, **given, **settings)
    def make(folder):
        made = data() if callable(data) else data
        made = "\n".join([*made, ""]) if isinstance(made, list) else made
        (folder / file).write_bytes(made.encode() if isinstance(made, str) else made)
        return LogCase(folder / file, known or know_answer())


def change(place, column, cell):
    """Return the lines with another cell."""
    lines = list(BODY)
    cells = lines[place].split(",")
    cells[HEAD.split(",").index(column)] = cell
    lines[place] = ",".join(cells)
    return [HEAD, *lines]


add("clean", TEXT, RIGHT, ways=WITH_SPARK)
add("clean, tabs", write_csv(delimiter="\t"), RIGHT, "log.tsv", ways=WITH_SPARK)
add("clean, text file", TEXT, RIGHT, "log.txt")
add("clean, lines end in CRLF", write_csv(newline="\r\n"), RIGHT)
add("clean, no newline at the end", TEXT.rstrip("\n"), RIGHT)
add("clean, all quoted", "\n".join(",".join(f'"{c}"' for c in line.split(",")) for line in LINES) + "\n", RIGHT)

ENCODINGS = {
    "byte order mark": "\ufeff".encode() + TEXT.encode(),
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-16 without mark": TEXT.encode("utf-16-le"),
    "UTF-32": TEXT.encode("utf-32"),
    "label in Latin-1": TEXT.replace("green", "grün").encode("latin-1"),
    "late label in Latin-1": TEXT.encode()[:-20].replace(b"zzz", b"") + TEXT[-20:].replace("e", "é").encode("latin-1"),
    "header in Latin-1": TEXT.replace("x0", "größe").encode("latin-1"),
    "half a character at the end": TEXT.encode() + b"\xc3",
    "EBCDIC": TEXT.encode("cp500"),
}
for name, data in ENCODINGS.items():
    add(name, data, EITHER, ways=WITH_SPARK if name == "header in Latin-1" else None, known=know_answer(context=()))

DIALECTS = {
    "semicolons": write_csv(delimiter=";"),
    "semicolons and decimal commas": write_csv(delimiter=";").replace(".", ","),
    "tabs in a csv": write_csv(delimiter="\t"),
    "pipes": write_csv(delimiter="|"),
    "spaces": write_csv(delimiter=" "),
    "spaces after commas": write_csv().replace(",", ", "),
    "spaces in the header": TEXT.replace("reward,", " reward ,", 1),
    "header in capitals": HEAD.upper() + "\n" + "\n".join(BODY),
    "lines end in CR": write_csv(newline="\r"),
    "sep line of Excel": "sep=,\n" + TEXT,
    "comment before the header": "# made by a job\n" + TEXT,
    "blank lines between": TEXT.replace("\n", "\n\n"),
    "quotes around labels only": TEXT.replace("red", '"red"').replace("blue", '"blue"'),
    "single quotes": TEXT.replace("red", "'red'"),
}
for name, data in DIALECTS.items():
    add(name, data, EITHER, ways=WITH_SPARK if name == "semicolons" else None)

CELLS = {
    "text": "oops",
    "percent": "12%",
    "thousands": '"1,234.5"',
    "decimal comma": '"0,5"',
    "NA": "NA",
    "empty": "",
    "infinity": "inf",
    "NaN": "nan",
    "too large": "1e400",
    "hexadecimal": "0x1F",
    "date": "2024-01-31",
    "currency": "$5",
}
for column in ("x0", "reward", "propensity", "target"):
    for kind, cell in CELLS.items():
        for place, row in {"first": 0, "last": -1}.items():
            add(
                f"{kind} in {column} of the {place} row",
                change(row, column, cell),
                EITHER if column == "x0" else REFUSED,
            )

LATE = 300_000
"""So many rows that the last ones are not in the first block of any reader."""


def write_late(column, cell):
    """Return a long file with a bad cell in its last row."""
    repeated = "\n".join(BODY * (LATE // len(BODY)))
    return "\n".join([HEAD, repeated.rpartition("\n")[0], change(-1, column, cell)[-1], ""])


for column, cell in (("x0", "oops"), ("reward", "oops"), ("reward", "12%"), ("x0", ""), ("propensity", "NA")):
    name = f"{cell or 'nothing'} in {column} after {LATE:,} rows"
    add(
        name,
        lambda column=column, cell=cell: write_late(column, cell),
        EITHER,
        ways=ENGINES,
        known=Answer(know_answer().value, context=("x0", "x1")),
        is_slow=cell != "oops",
    )

ODD = {
    "empty action": (change(5, "action", ""), REFUSED),
    "a label that is NA": (TEXT.replace("blue", "NA"), EITHER),
    "a label that is null": (TEXT.replace("blue", "null"), EITHER),
    "a label that is None": (TEXT.replace("blue", "None"), EITHER),
    "a label that is nan": (TEXT.replace("blue", "nan"), EITHER),
    "labels true and false": (TEXT.replace("blue", "true").replace("green", "false"), EITHER),
    "labels that are numbers but one": (TEXT.replace("blue", "1").replace("green", "2"), EITHER),
    "labels with leading zeros": (TEXT.replace("blue", "001").replace("green", "01").replace("red", "1"), EITHER),
    "labels that are dates": (
        TEXT.replace("blue", "2024-01-01").replace("green", "2024-01-02").replace("red", "2024-01-03"),
        EITHER,
    ),
    "quoted newline in a label": (TEXT.replace("blue", '"dark\nblue"'), RIGHT),
    "quoted comma in a label": (TEXT.replace("blue", '"dark, blue"'), RIGHT),
    "quotes within a label": (TEXT.replace("blue", '"dark ""blue"""'), RIGHT),
    "escape sequence in a label": (TEXT.replace("blue", "\x1b[31mblue"), EITHER),
    "emoji in a label": (TEXT.replace("blue", "🟦"), RIGHT),
    "a label of 100,000 characters": (TEXT.replace("blue", "b" * 100_000), EITHER),
    "NUL in a label": (TEXT.replace("blue", "bl\0ue"), EITHER),
    "NUL in a number": (change(7, "reward", "1\x000"), REFUSED),
    "NULs at the end": (TEXT + "\0" * 4096, REFUSED),
    "nothing but NULs": ("\0" * 4096, REFUSED),
    "Arabic digits": (change(7, "reward", "١٢"), REFUSED),
    "minus sign of typographers": (change(7, "reward", "−1.5"), REFUSED),  # noqa: RUF001
    "10,000 digits": (change(7, "reward", "1" * 10_000), REFUSED),
    "underscores in a number": (change(7, "reward", "1_000"), REFUSED),
    "escape sequence in a number": (change(7, "reward", "\x1b[31m1"), REFUSED),
    "a bad cell of 1 MB": (change(7, "reward", "b" * 1_000_000), REFUSED),
    "propensity above 1": (change(7, "propensity", "1.5"), REFUSED),
    "propensity below 0": (change(7, "propensity", "-0.5"), REFUSED),
    "propensity 0": (change(7, "propensity", "0"), REFUSED),
    "target above 1": (change(7, "target", "1.5"), REFUSED),
    "target below 0": (change(7, "target", "-0.5"), REFUSED),
}
for name, (data, allowed) in ODD.items():
    add(
        name,
        data,
        allowed,
        ways=WITH_SPARK if name in {"quoted newline in a label", "escape sequence in a number"} else None,
    )

ROWS_AND_HEADERS = {
    "a short row": ([HEAD, *BODY[:9], "1,2", *BODY[9:]], REFUSED),
    "a long row": ([HEAD, *BODY[:9], BODY[9] + ",7", *BODY[10:]], REFUSED),
    "a short last row": ([*LINES[:-1], LINES[-1].rpartition(",")[0]], REFUSED),
    "a last row that is cut in a number": (TEXT[:-3], AGREED),
    "an open quote": (TEXT.replace("green", '"green', 1), REFUSED),
    "a quote within a cell": (TEXT.replace("green", 'gr"een', 1), EITHER),
    "header repeated within": ([*LINES[:99], HEAD, *LINES[99:]], REFUSED),
    "no header": (BODY, REFUSED),
    "header only": (HEAD + "\n", REFUSED),
    "one row": (LINES[:2], REFUSED),
    "nothing": ("", REFUSED),
    "one newline": ("\n", REFUSED),
    "spaces only": ("   \n", REFUSED),
    "byte order mark only": ("\ufeff", REFUSED),
    "a header twice": ([HEAD.replace("x1", "reward"), *BODY], REFUSED),
    "context columns with one name": ([HEAD.replace("x1", "x0"), *BODY], REFUSED),
    "a header without a name": ([HEAD.replace("x1", ""), *BODY], EITHER),
    "a header with an escape sequence": ([HEAD.replace("x1", "\x1b[2Jx1"), *BODY], EITHER),
    "a header of 1 MB": ([HEAD.replace("x1", "x" * 1_000_000), *BODY], EITHER),
    "a role missing": ([HEAD.replace("reward", "click"), *BODY], REFUSED),
    "a row of commas": ([*LINES, ",,,,,"], REFUSED),
    "a total below": ([*LINES, "total,,,480,,"], REFUSED),
    "a page of HTML": ("<!DOCTYPE html><html><body>404, not found</body></html>\n", REFUSED),
    "JSON": ('{"action": 1, "reward": 2}\n', REFUSED),
    "a pointer of Git LFS": ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n", REFUSED),
}
for name, (data, allowed) in ROWS_AND_HEADERS.items():
    known = know_answer(context=()) if "header" in name else None
    add(name, data, allowed, ways=WITH_SPARK if name in {"a long row", "a header twice"} else None, known=known)

PACKED = gzip.compress(TEXT.encode(), mtime=0)


def pack(codec):
    """Return the log, compressed by Arrow."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as out:
        out.write(TEXT.encode())
    return sink.getvalue().to_pybytes()


def pack_zip():
    """Return a ZIP archive with the log."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("log.csv", TEXT)
    return sink.getvalue()


COMPRESSED = {
    "gzip": (PACKED, "log.csv.gz", RIGHT),
    "gzip, cut": (PACKED[: len(PACKED) // 2], "log.csv.gz", REFUSED),
    "gzip, last 4 bytes missing": (PACKED[:-4], "log.csv.gz", EITHER),
    "gzip, wrong checksum": (PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:], "log.csv.gz", EITHER),
    "gzip, one byte flipped": (PACKED[:900] + bytes([PACKED[900] ^ 4]) + PACKED[901:], "log.csv.gz", EITHER),
    "gzip, garbage behind": (PACKED + b"garbage", "log.csv.gz", EITHER),
    "gzip, zeros behind": (PACKED + b"\0" * 512, "log.csv.gz", EITHER),
    "gzip, in two members": (
        gzip.compress(TEXT[:4000].encode()) + gzip.compress(TEXT[4000:].encode()),
        "log.csv.gz",
        EITHER,
    ),
    "gzip, second member cut": (PACKED + gzip.compress(TEXT[len(HEAD) + 1 :].encode())[:-30], "log.csv.gz", EITHER),
    "gzip, twice": (gzip.compress(PACKED), "log.csv.gz", EITHER),
    "gzip, header only": (PACKED[:10], "log.csv.gz", REFUSED),
    "gzip of nothing": (gzip.compress(b""), "log.csv.gz", REFUSED),
    "gzip, not named so": (PACKED, "log.csv", EITHER),
    "text named gzip": (TEXT.encode(), "log.csv.gz", EITHER),
    "gzip in capitals": (PACKED, "LOG.CSV.GZ", RIGHT),
    "bzip2": (bz2.compress(TEXT.encode()), "log.csv.bz2", RIGHT),
    "bzip2, cut": (bz2.compress(TEXT.encode())[:-50], "log.csv.bz2", REFUSED),
    "bzip2, one byte flipped": (
        bytes(b ^ (i == 900) for i, b in enumerate(bz2.compress(TEXT.encode()))),
        "log.csv.bz2",
        EITHER,
    ),
    "zstd": (pack("zstd"), "log.csv.zst", RIGHT),
    "zstd, cut": (pack("zstd")[:-50], "log.csv.zst", REFUSED),
    "lz4": (pack("lz4"), "log.csv.lz4", RIGHT),
    "lz4, cut": (pack("lz4")[:-50], "log.csv.lz4", REFUSED),
    "xz": (lzma.compress(TEXT.encode()), "log.csv.xz", EITHER),
    "ZIP": (pack_zip(), "log.csv.zip", EITHER),
    "ZIP, not named so": (pack_zip(), "log.csv", REFUSED),
}
for name, (data, file, allowed) in COMPRESSED.items():
    add(name, data, allowed, file)

for count in (2, 3, 5):
    add(f"{count} rows", write_csv(make_rows()[:count]), EITHER, known=know_answer(make_rows()[:count], context=()))
