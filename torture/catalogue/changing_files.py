"""Files that change while they are read: they shrink, grow, or are replaced between the two passes over them.

In memory a file is read once.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from torture.cases import LogCase
from torture.catalogue import EITHER, entry
from torture.logs import make_rows, make_table, write_arrow, write_csv, write_json, write_parquet

FORMATS = {
    "parquet": lambda rows: write_parquet(make_table().slice(0, 0) if not rows else make_table().take(rows)),
    "csv": lambda rows: write_csv([make_rows()[row] for row in rows]).encode(),
    "jsonl": lambda rows: write_json([make_rows()[row] for row in rows]).encode(),
    "arrow": lambda rows: write_arrow(make_table().take(rows)),
}
ALL = list(range(240))


@dataclass
class Change:
    """A change of a file that happens once, when the first pass over it is done; `evaluate` calls it on its way."""

    path: Path
    change: callable
    is_done: bool = False

    def __call__(self, done, _count):
        """Change the file when all rows were read once."""
        if done >= len(ALL) and not self.is_done:
            self.is_done = True
            self.change(self.path)


def write_new(path, data):
    """Put another file in the place of one."""
    path.with_name("new").write_bytes(data)
    path.with_name("new").replace(path)


def write_back(path, data):
    """Write other bytes into a file, and set back its times."""
    before = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


for suffix, write in FORMATS.items():
    CHANGES = {
        "shrinks": lambda path, write=write: path.write_bytes(write(ALL[:60])),
        "grows": lambda path, write=write: path.write_bytes(write(ALL + ALL)),
        "is cut": lambda path: path.write_bytes(path.read_bytes()[:-300]),
        "is emptied": lambda path: path.write_bytes(b""),
        "is removed": lambda path: path.unlink(),
        "is replaced": lambda path, write=write: write_new(path, write(ALL[::-1])),
        "is replaced by half": lambda path, write=write: write_new(path, write(ALL[:120])),
        "is replaced and keeps its size and time": lambda path, write=write: write_back(
            path, write([*ALL[120:], *ALL[:120]])
        ),
    }
    for name, change in CHANGES.items():

        @entry(f"{suffix} {name}", EITHER, ("local",))
        def make(folder, suffix=suffix, write=write, change=change):
            """Write a log, and what changes it."""
            path = folder / f"log.{suffix}"
            path.write_bytes(write(ALL))
            return LogCase(path, options={"progress": Change(path, change)})


@entry("a file is added to a folder", EITHER, ("local",))
def added_file(folder):
    """Write a folder, and what adds a file to it."""
    log = folder / "log"
    log.mkdir()
    (log / "a.parquet").write_bytes(write_parquet())
    return LogCase(
        log, options={"progress": Change(log, lambda path: (path / "b.parquet").write_bytes(write_parquet()))}
    )


@entry("a file is removed from a folder", EITHER, ("local",))
def removed_file(folder):
    """Write a folder, and what removes a file from it."""
    log = folder / "log"
    log.mkdir()
    (log / "a.parquet").write_bytes(FORMATS["parquet"](ALL[:120]))
    (log / "b.parquet").write_bytes(FORMATS["parquet"](ALL[120:]))
    return LogCase(log, options={"progress": Change(log, lambda path: (path / "b.parquet").unlink())})
