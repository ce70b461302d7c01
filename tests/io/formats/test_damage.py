"""Files that were damaged, cut or patched: refused by one sentence, and never read as something else."""

import struct
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import counterfold as cf
from counterfold.io.files import Files

ROWS = 2000


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    action = rng.integers(2, size=ROWS)
    columns = {"action": np.array(["a", "b"])[action], "reward": action + rng.normal(size=ROWS)}
    return pa.table(columns | {"propensity": np.full(ROWS, 0.5), "target": np.where(action, 0.9, 0.1)})


def refused(path, message):
    for engine in ("memory", "local"):
        with pytest.raises(cf.DataError, match=message):
            cf.evaluate(path, "target", engine=engine, progress=False)


# Parquet


def flip_reward(path, table, place=1000):
    """Set the highest bits of one reward, in a file that is not packed."""
    content = bytearray(path.read_bytes())
    at = content.index(struct.pack("<d", table.column("reward")[place].as_py())) + 7
    content[at] ^= 0x44
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("checksums", "statistics", "message"),
    [
        (True, False, "could not be read as Parquet: .*CRC checksum verification failed"),
        (False, True, "column `reward` must be from .* as the file itself says, got .*; the file is damaged"),
    ],
)
def test_a_flipped_byte_is_seen(checksums, statistics, message, table, tmp_path):
    path = tmp_path / "log.parquet"
    pq.write_table(
        table,
        path,
        compression="none",
        use_dictionary=False,
        write_page_checksum=checksums,
        write_statistics=statistics,
    )
    cf.evaluate(path, "target", progress=False)
    flip_reward(path, table)
    refused(path, message)


def test_nan_is_not_outside_of_any_range(table, tmp_path):
    """It is refused for what it is."""
    rewards = table.column("reward").to_numpy().copy()
    rewards[500:1000] = np.nan
    path = tmp_path / "log.parquet"
    pq.write_table(table.set_column(1, "reward", [rewards]), path)
    refused(path, "`reward` must be finite, got nan in 500 of 2000 rows.* first at row 500")


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.999])
def test_a_cut_file_is_refused(kept, table, tmp_path):
    path = tmp_path / "log.parquet"
    pq.write_table(table, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    refused(path, "could not be read as Parquet")


def test_texts_that_are_not_utf_8_are_refused(table, tmp_path):
    path = tmp_path / "log.parquet"
    labels = pa.array([b"\xff\xfe", b"b"] * (ROWS // 2), pa.binary()).view(pa.string())
    pq.write_table(table.set_column(0, "action", labels), path)
    refused(path, "could not be read as Parquet: .*UTF8")


def test_columns_that_nobody_needs_may_be_of_any_kind(table, tmp_path):
    path = tmp_path / "log.parquet"
    kinds = {"wait": np.arange(ROWS).astype("m8[s]"), "when": np.arange(ROWS).astype("M8[s]")}
    kinds["user"] = pa.array([bytes([place % 50]) * 16 for place in range(ROWS)], pa.uuid())
    for name, values in kinds.items():
        table = table.append_column(name, [values] if isinstance(values, np.ndarray) else values)
    pq.write_table(table, path)
    for engine in ("memory", "local"):
        cf.evaluate(path, "target", engine=engine, progress=False)
        found = cf.evaluate(cf.LogScan(path, group="user"), "target", engine=engine, progress=False)
        assert found.contents.groups == 50


def test_bins_of_pandas_are_labels(table):
    pandas = pytest.importorskip("pandas")
    frame = table.to_pandas()
    frame["action"] = pandas.cut(frame["reward"], 3)
    assert len(cf.evaluate(frame, "target").contents.to_dict()["actions"]) == 3


# Arrow


def write_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table, max_chunksize=500)


def test_a_stream_must_end_where_it_says(table, tmp_path):
    path = tmp_path / "log.arrows"
    write_stream(table, path)
    content = path.read_bytes()
    cf.evaluate(path, "target", progress=False)
    path.write_bytes(content[:-8])
    refused(path, "the mark at the end of the stream is missing, so rows may be; write the file again")
    path.write_bytes(content + content)
    refused(path, f"{len(content)} bytes follow the end of the stream")


def test_a_stream_cut_between_two_batches_is_refused(table, tmp_path):
    path = tmp_path / "log.arrows"
    write_stream(table.slice(0, 500), path)
    one = len(path.read_bytes())
    write_stream(table, path)
    path.write_bytes(path.read_bytes()[: one - 8])
    refused(path, "the mark at the end of the stream is missing")


@pytest.mark.parametrize("name", ["log.arrow", "log.arrows"])
@pytest.mark.parametrize("offset", [1 << 30, -5, 0x7FFFFFFF])
def test_patched_offsets_are_refused(name, offset, table, tmp_path, evaluate_apart):
    """They used to end the process, so that it takes another one to see it."""
    path = tmp_path / name
    writer = pa.ipc.new_file if name == "log.arrow" else pa.ipc.new_stream
    with writer(path, table.schema) as to:
        to.write_table(table)
    content = path.read_bytes()
    at = content.index(struct.pack("<6i", *range(100, 106)))  # the places where the labels begin
    path.write_bytes(content[:at] + struct.pack("<i", offset) + content[at + 4 :])
    told = evaluate_apart(path)
    assert ["could not be read as Arrow" in sentence for sentence in told] == [True, True]


def test_indices_beyond_a_dictionary_are_refused(table, tmp_path):
    path = tmp_path / "log.arrow"
    labels = pa.DictionaryArray.from_arrays(pa.array([0, 7] * (ROWS // 2), pa.int32()), ["a", "b"], safe=False)
    patched = table.set_column(0, "action", labels)
    with pa.ipc.new_file(path, patched.schema) as to:
        to.write_table(patched)
    refused(path, "could not be read as Arrow: .*out of bounds")
    with pytest.raises(
        cf.DataError, match=r"`source` must be a path, a data frame or a query, got Table: .*out of bounds"
    ):
        cf.evaluate(cf.LogScan(patched), "target")


def test_a_file_of_no_batches_holds_no_rows(table, tmp_path):
    with pa.ipc.new_file(tmp_path / "log.arrow", table.schema):
        pass
    refused(tmp_path / "log.arrow", "must hold at least 2 rows, got none")
    assert Files.of(tmp_path / "log.arrow").rows == 0


FLIP = """
import sys, counterfold as cf
from pathlib import Path
from counterfold.io.files import Files
path = Path(sys.argv[1])
content = path.read_bytes()
size = int.from_bytes(content[-8:-4], "little")
for place in range(len(content) - 8 - size, len(content) - 8):
    path.write_bytes(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])
    try:
        Files.of(path).table()
    except cf.DataError:
        pass
print("done")
"""


def test_no_flipped_bit_at_the_end_of_a_file_ends_the_process(table, tmp_path):
    """Some used to, as soon as one asked for a column of a row group."""
    path = tmp_path / "log.parquet"
    pq.write_table(table.slice(0, 30), path, row_group_size=10)
    done = subprocess.run([sys.executable, "-c", FLIP, path], capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr[-300:]


def test_cells_that_are_not_utf_8_do_not_take_a_column_away_without_a_word(tmp_path):
    rng = np.random.default_rng(0)
    drawn = zip(rng.integers(2, size=200), rng.normal(size=200), strict=True)
    lines = [f"{code},{code + noise:.3f},0.5,{0.9 if code else 0.1},{noise:.3f}" for code, noise in drawn]
    path = tmp_path / "log.csv"
    path.write_bytes("\n".join(["action,reward,propensity,target,age", *lines]).encode() + b"\n0,0.1,0.5,0.1,0.\xff")
    for engine in ("memory", "local"):
        found = cf.evaluate(path, "target", engine=engine, progress=False)
        assert "is text, though rows hold numbers, but not row 200" in found.contents.left_out["age"]
