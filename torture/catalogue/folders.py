"""Folders: hive partitions, hidden files and backups, tables of Delta and Iceberg, unlike files."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from torture.cases import LogCase
from torture.catalogue import AGREED, EITHER, REFUSED, RIGHT, WITH_SPARK, entry
from torture.logs import know_answer, make_rows, make_table, write_csv, write_parquet

HALF = 120


def write(table, path):
    """Write a Parquet file, and the folders it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)


def write_halves(folder, second=None, names=("part-0.parquet", "part-1.parquet")):
    """Write the log as two files, of which the second may be changed, and return the folder."""
    table = make_table()
    log = folder / "log"
    write(table.slice(0, HALF), log / names[0])
    write(table.slice(HALF) if second is None else second(table.slice(HALF)), log / names[1])
    return log


def add(name, allowed, change=None, second=None, known=None, **settings):
    """Register a folder of two files, after a change of it or of its second file."""

    @entry(name, allowed, **settings)
    def make(folder):
        log = write_halves(folder, second)
        if change is not None:
            change(log)
        return LogCase(log, known or know_answer())


add("clean", RIGHT, ways=WITH_SPARK)


@entry("hive partitions of the group", EITHER, WITH_SPARK)
def hive_group(folder):
    """Write a folder for each group; errors are by group."""
    rows = [row | {"group": number // 8} for number, row in enumerate(make_rows())]
    for group in range(len(rows) // 8):
        part = pa.Table.from_pylist(make_rows()[8 * group : 8 * group + 8])
        write(part, folder / "log" / f"group={group}" / "part.parquet")
    return LogCase(folder / "log", know_answer(rows, group="group"))


def write_actions(folder, naming):
    """Write a folder for each action, which alone tells the action."""
    for action in sorted({row["action"] for row in make_rows()}):
        rows = [
            {name: cell for name, cell in row.items() if name != "action"}
            for row in make_rows()
            if row["action"] == action
        ]
        write(pa.Table.from_pylist(rows), folder / "log" / naming.format(action) / "part.parquet")
    return LogCase(folder / "log")


entry("hive partitions of the action", EITHER)(lambda folder: write_actions(folder, "action={}"))
entry("folders that are named after actions", REFUSED)(lambda folder: write_actions(folder, "{}"))


@entry("hive partitions that contradict a column", EITHER)
def hive_contradiction(folder):
    """Write the action into the path, and another one into the file."""
    write(make_table().slice(0, HALF), folder / "log" / "action=red" / "a.parquet")
    write(make_table().slice(HALF), folder / "log" / "action=blue" / "b.parquet")
    return LogCase(folder / "log")


@entry("hive partitions of the date", EITHER)
def hive_date(folder):
    """Write a folder for each day."""
    write(make_table().slice(0, HALF), folder / "log" / "date=2024-01-01" / "a.parquet")
    write(make_table().slice(HALF), folder / "log" / "date=2024-01-02" / "a.parquet")
    return LogCase(folder / "log")


@entry("hive partitions with a null", EITHER)
def hive_null(folder):
    """Write a partition as Hive does for a null."""
    write(make_table().slice(0, HALF), folder / "log" / "group=1" / "a.parquet")
    write(make_table().slice(HALF), folder / "log" / "group=__HIVE_DEFAULT_PARTITION__" / "a.parquet")
    return LogCase(folder / "log", know_answer())


MORE_FILES = {
    "_SUCCESS": b"",
    "_metadata": b"garbage",
    "_temporary.parquet": write_parquet(),
    ".hidden.parquet": write_parquet(),
    ".part-0.parquet.crc": b"crc\0",
    "part-0.parquet.bak": write_parquet(),
    "part-0.parquet~": write_parquet(),
    "part-0.parquet.tmp": write_parquet(),
    "part-2.parquet.part": write_parquet()[:300],
    "README.md": b"# a log\n",
    "notes.csv": write_csv().encode(),
    ".DS_Store": b"\0\0",
    "Thumbs.db": b"\0",
    "_temporary/0/part-0.parquet": write_parquet(),
    ".ipynb_checkpoints/part-0.parquet": write_parquet(),
}
for name, data in MORE_FILES.items():

    def add_file(log, name=name, data=data):
        """Write the file."""
        (log / name).parent.mkdir(parents=True, exist_ok=True)
        (log / name).write_bytes(data)

    add(f"with {name}", EITHER, add_file)

BAD_FILES = {
    "an empty file": ("part-2.parquet", b"", REFUSED),
    "a cut file": ("part-2.parquet", write_parquet()[:-100], REFUSED),
    "garbage": ("part-2.parquet", b"garbage", REFUSED),
    "a file without rows": ("part-2.parquet", write_parquet(make_table().slice(0, 0)), RIGHT),
    "a file without columns": ("part-2.parquet", write_parquet(pa.table({})), EITHER),
    "a backup in a folder": ("backup/part-0.parquet", write_parquet(), EITHER),
    "an old folder": ("old/part-0.parquet", write_parquet(), EITHER),
    "a copy": ("part-0 (copy).parquet", write_parquet(make_table().slice(0, HALF)), AGREED),
    "a CSV named Parquet": ("part-2.parquet", write_csv().encode(), REFUSED),
}
for name, (file, data, allowed) in BAD_FILES.items():

    def add_bad_file(log, name=file, data=data):
        """Write the file."""
        (log / name).parent.mkdir(parents=True, exist_ok=True)
        (log / name).write_bytes(data)

    add(f"with {name}", allowed, add_bad_file)

SECOND = {
    "with a column less": (lambda table: table.drop_columns(["x1"]), EITHER),
    "without rewards": (lambda table: table.drop_columns(["reward"]), REFUSED),
    "with a column more": (lambda table: table.append_column("x2", [np.arange(HALF) / 7]), EITHER),
    "in another order": (lambda table: table.select(table.column_names[::-1]), RIGHT),
    "with rewards as texts": (lambda table: cast(table, "reward", pa.string()), EITHER),
    "with rewards as words": (lambda table: replace(table, "reward", ["much"] * HALF), REFUSED),
    "with rewards as float32": (lambda table: replace(table, "reward", np.full(HALF, 0.5, np.float32)), AGREED),
    "with rewards as whole numbers": (lambda table: replace(table, "reward", np.full(HALF, 2)), AGREED),
    "with rewards as lists": (lambda table: replace(table, "reward", [[1.0]] * HALF), REFUSED),
    "with labels as numbers": (lambda table: replace(table, "action", np.arange(HALF) % 3), AGREED),
    "with labels as binary": (lambda table: cast(table, "action", pa.binary()), EITHER),
    "with labels as a dictionary": (
        lambda table: replace(table, "action", table["action"].dictionary_encode()),
        EITHER,
    ),
    "with context as texts": (lambda table: cast(table, "x0", pa.string()), EITHER),
    "with context as nulls": (lambda table: replace(table, "x0", pa.nulls(HALF)), RIGHT),
    "with the name of a column in capitals": (
        lambda table: table.rename_columns([*map(str.upper, table.column_names)]),
        REFUSED,
    ),
}


def replace(table, name, values):
    """Return the table with another column in the place of one."""
    values = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([pa.array(values)])
    return table.set_column(table.column_names.index(name), name, values)


def cast(table, name, kind):
    """Return the table with a column of another type."""
    return replace(table, name, table[name].cast(kind))


for name, (second, allowed) in SECOND.items():
    add(f"second file {name}", allowed, second=second)
    add(
        f"first file {name}",
        allowed,
        second=second,
        change=lambda log: (log / "part-1.parquet").rename(log / "part--1.parquet"),
    )


def add_delta(log):
    """Write the log of a Delta table in which the second file was removed."""
    actions = [{"add": {"path": "part-0.parquet"}}, {"remove": {"path": "part-1.parquet"}}]
    (log / "_delta_log").mkdir()
    (log / "_delta_log" / f"{0:020}.json").write_text("\n".join(map(json.dumps, actions)))


def add_iceberg(log):
    """Move the files into an Iceberg table."""
    (log / "data").mkdir()
    for file in log.glob("*.parquet"):
        file.rename(log / "data" / file.name)
    (log / "metadata").mkdir()
    (log / "metadata" / "v1.metadata.json").write_text('{"format-version": 2}')
    (log / "metadata" / "version-hint.text").write_text("1")


def add_hudi(log):
    """Write the folder of a Hudi table."""
    (log / ".hoodie").mkdir()
    (log / ".hoodie" / "hoodie.properties").write_text("hoodie.table.name=log\n")


add("a table of Delta", REFUSED, add_delta)
add("a table of Iceberg", REFUSED, add_iceberg)
add("a table of Hudi", EITHER, add_hudi)
add("a link to itself", EITHER, lambda log: (log / "loop").symlink_to(log))
add("a dangling link", EITHER, lambda log: (log / "part-2.parquet").symlink_to("nowhere"))
add("a folder named like a file", EITHER, lambda log: (log / "part-2.parquet").mkdir())
add(
    "named like a file",
    EITHER,
    lambda log: log.rename(log.with_suffix(".csv")) and log.symlink_to(log.with_suffix(".csv")),
)


@entry("without files", REFUSED)
def empty(folder):
    """Make a folder with nothing in it."""
    (folder / "log").mkdir()
    return LogCase(folder / "log")


@entry("with folders alone", REFUSED)
def folders_alone(folder):
    """Make a folder with an empty one in it."""
    (folder / "log" / "a" / "b").mkdir(parents=True)
    return LogCase(folder / "log")


@entry("of CSV files", EITHER)
def csv_files(folder):
    """Write two CSV files."""
    (folder / "log").mkdir()
    (folder / "log" / "a.csv").write_text(write_csv(make_rows()[:HALF]))
    (folder / "log" / "b.csv").write_text(write_csv(make_rows()[HALF:]))
    return LogCase(folder / "log")


@entry("that is the current one", EITHER)
def current(folder):
    """Name the current folder by a dot."""
    log = write_halves(folder)
    for file in log.iterdir():
        shutil.move(file, folder / file.name)
    log.rmdir()
    return LogCase(".")
