"""Paths that name no log, files that are not what their names say, and files that change while they are read."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import counterfold as cf
from counterfold.io.files import Files


def make_table(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    action = rng.integers(2, size=rows)
    columns = {"action": action, "reward": action + rng.normal(size=rows), "propensity": np.full(rows, 0.5)}
    return pa.table(columns | {"target": np.where(action, 0.9, 0.1)})


def refused(path, message):
    for engine in ("auto", "memory", "local"):
        with pytest.raises(cf.DataError, match=message):
            cf.evaluate(path, "target", engine=engine, progress=False)


def test_paths_that_name_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(make_table(), tmp_path / "a.parquet")
    refused("", "must be the path of a file or folder, got an empty text; is a variable not set")
    refused("  ", "got an empty text")
    refused("none.parquet", "`none.parquet` must be a file or folder, but there is none")
    refused("x" * 4000 + ".parquet", "could not be opened: File name too long")
    refused("a\0b.parquet", "could not be opened: embedded null byte|null")
    refused("~nobody-of-this-name/log.parquet", "could not be opened: Could not determine home directory")
    refused("a.parquet/b.parquet", "could not be opened: Not a directory|there is none")
    (tmp_path / "link.parquet").symlink_to("gone.parquet")
    refused("link.parquet", "there is none")
    (tmp_path / "loop.parquet").symlink_to("loop.parquet")
    refused("loop.parquet", "could not be opened: Too many levels|symlink")


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "log.csv")
    refused(tmp_path / "log.csv", "must be a file, got a pipe, which can be read only once; write its rows to a file")
    refused("/dev/zero", "must be a file, got a device")


def test_a_name_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / os.fsdecode(b"log-\xff.parquet")
    try:
        path.write_bytes(b"PAR1")
    except OSError:
        pytest.skip("this disk takes no such names")
    refused(path, r"log-\?.parquet` must have a name in UTF-8; rename it")


def test_home_is_known(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    pq.write_table(make_table(), tmp_path / "log.parquet")
    assert Files.of("~/log.parquet").rows == 400


CLOSED = """
import os, sys, counterfold as cf
folder = sys.argv[1]
cf.evaluate(folder + "/log.parquet", "target", engine="local")  # imports what it needs
os.chmod(folder, 0)
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
for engine in ("memory", "local"):
    try:
        cf.evaluate(folder + "/log.parquet", "target", engine=engine)
    except cf.DataError as error:
        print(error)
"""


def test_a_file_in_a_closed_folder_is_one_sentence(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    pq.write_table(make_table(), closed / "log.parquet")
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o755)
    try:
        done = subprocess.run([sys.executable, "-c", CLOSED, closed], capture_output=True, text=True, check=True)
    finally:
        closed.chmod(0o755)
    assert done.stdout == f"`{closed}/log.parquet` could not be opened: Permission denied.\n" * 2


KINDS = {
    "gzip": ("log.csv", gzip.compress(b"action,reward\n"), "is packed by gzip, .*: unpack it, or .* log.csv.gz"),
    "no gzip": ("log.csv.gz", b"action,reward\n0,1\n", "is not packed by gzip, as its name says: name it `log.csv`"),
    "UTF-16": ("log.csv", "action,reward\n".encode("utf-16"), "is UTF-16 text, .*: save it as UTF-8"),
    "Parquet": ("log.csv", b"PAR1....PAR1", "is Parquet, .*: name it like log.csv.parquet"),
    "Excel": ("log.csv", b"PK\x03\x04....", "is a zip archive or an Excel workbook, .*export it as CSV"),
    "SQLite": ("log.parquet", b"SQLite format 3\0", "is an SQLite database, .*export it as Parquet or CSV"),
    "pickle": ("log.json", b"\x80\x04\x95..", "is a pickle of Python"),
    "empty": ("log.json", b"", "must not be empty, got 0 bytes"),
    "unknown": ("log.xyz", b"x", "must end in one of .*, got `.xyz`"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), KINDS.values(), ids=KINDS)
def test_a_file_is_what_its_name_says(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    refused(tmp_path / name, message)


# files that change

CHANGES = {
    "shorter": lambda path: pq.write_table(make_table(100), path),
    "longer": lambda path: pq.write_table(make_table(4000), path),
    "other rows": lambda path: pq.write_table(make_table(seed=1), path),
    "replaced": lambda path: (pq.write_table(make_table(), f"{path}.new"), Path(f"{path}.new").replace(path)),
    "gone": lambda path: path.unlink(),
    "touched": lambda path: os.utime(path, (1, 1)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("name", ["log.parquet", "folder/log.parquet"])
def test_a_file_may_not_change_between_two_readings(change, name, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    pq.write_table(make_table(), path)
    files = Files.of(path if name == "log.parquet" else path.parent)
    assert files.table().num_rows == 400
    change(path)
    with pytest.raises(cf.DataError, match=r"must not change while it is read|changed while it was read|there is none"):
        files.table()


def test_no_file_may_come(tmp_path):
    pq.write_table(make_table(), tmp_path / "a.parquet")
    files = Files.of(tmp_path)
    pq.write_table(make_table(300), tmp_path / "b.parquet")
    with pytest.raises(cf.DataError, match="must not change while it is read, but its files did"):
        files.table()


@pytest.mark.parametrize("change", ["shorter", "longer", "other rows", "gone"])
@pytest.mark.parametrize("when", [1, 2])
def test_the_passes_of_the_local_engine_see_the_same_file(change, when, tmp_path, monkeypatch):
    path = tmp_path / "log.parquet"
    pq.write_table(make_table(), path)
    readings = []

    def read(files, columns, plain=Files.pieces):
        readings.append(columns)
        if len(readings) == 1 + when:
            CHANGES[change](path)
        return plain(files, columns)

    monkeypatch.setattr(Files, "pieces", read)
    with pytest.raises(cf.DataError, match=r"must not change while it is read|changed while it was read|there is none"):
        cf.evaluate(path, "target", engine="local", progress=False)
    assert len(readings) == 1 + when
