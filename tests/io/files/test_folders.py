"""Folders: which files are the log, and what the names of their folders say."""

import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import counterfold as cf
from counterfold.io.files import Files


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    rows = 600
    action, group = rng.integers(2, size=rows), np.arange(rows) // 10
    return pa.table(
        {
            "action": np.array(["a", "b"])[action],
            "reward": action + group % 7 + rng.normal(size=rows),
            "propensity": np.full(rows, 0.5),
            "target": np.where(action, 0.9, 0.1),
            "age": rng.normal(size=rows),
            "group": group,
        }
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "log").mkdir()
    return tmp_path / "log"


def answer(path, engine, **columns):
    return cf.evaluate(cf.LogScan(path, **columns), "target", engine=engine, progress=False)


def refused(path, message):
    for engine in ("memory", "local"):
        with pytest.raises(cf.DataError, match=message):
            answer(path, engine)


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("keys", [["group"], ["action"], ["action", "group"]])
def test_names_of_folders_are_columns_on_every_engine(keys, engine, table, folder):
    pq.write_to_dataset(table, folder, partition_cols=keys)
    expected = table.sort_by([(key, "ascending") for key in keys])
    whole, parts = answer(expected, "memory"), answer(folder, engine)
    assert parts.contents.groups == 60
    assert parts.value == pytest.approx(whole.value, rel=0.02)
    assert parts.interval.high - parts.interval.low == pytest.approx(
        whole.interval.high - whole.interval.low, rel=0.5
    )  # a bucket or a row; the rows of a group are not independent


def test_names_of_folders_are_decoded_and_may_lack_a_value(table, folder):
    for name in ("action=a%20b", "action=__HIVE_DEFAULT_PARTITION__"):
        (folder / name).mkdir()
        pq.write_table(table.drop_columns(["action"]).slice(0, 5 + len(name)), folder / name / "part.parquet")
    assert set(Files.of(folder).table().column("action").to_pylist()) == {"a b", None}


def test_numbers_with_leading_zeros_are_texts(table, folder):
    for place, name in enumerate(("action=01", "action=2")):
        (folder / name).mkdir()
        pq.write_table(table.drop_columns(["action"]).slice(place), folder / name / "part.parquet")
    assert Files.of(folder).schema.field("action").type == pa.string()


def test_a_column_in_files_and_in_the_names_of_folders_must_agree(table, folder):
    for label in "ab":
        (folder / f"action={label}").mkdir()
        one = table.filter(pa.compute.equal(table.column("action"), label))
        pq.write_table(one, folder / f"action={label}" / "part.parquet")
    assert answer(folder, "local").value == pytest.approx(answer(folder, "memory").value, rel=0.02)
    (folder / "action=b").rename(folder / "action=c")
    refused(folder, "column `action` must be c in all rows, as the name of its folder says")


def test_only_folders_below_the_path_are_columns(table, tmp_path):
    (tmp_path / "age=7").mkdir()
    pq.write_table(table, tmp_path / "age=7" / "log.parquet")
    assert answer(tmp_path / "age=7" / "log.parquet", "memory").value == answer(table, "memory").value


def test_files_of_any_format_make_a_folder(table, folder):
    for start in (0, 300):
        pa.csv.write_csv(table.slice(start, 300), folder / f"part-{start}.csv")
    assert answer(folder, "memory").value == pytest.approx(answer(table, "memory").value)
    assert answer(folder, "local").contents.rewards.count == 600


def test_hidden_files_are_none_of_the_log(table, folder):
    pq.write_table(table, folder / "part.parquet")
    (folder / "_SUCCESS").write_text("")
    (folder / ".part.parquet.crc").write_text("x")
    (folder / "_temporary").mkdir()
    assert answer(folder, "local").contents.rewards.count == 600


def copy_below(name):
    return lambda folder: shutil.copytree(folder, folder / name)


BAD = {
    "backup": ("the folder `backup`: name the folder whose files are the log", copy_below("backup")),
    "copy": ("must differ, but are the same", lambda f: shutil.copy(f / "a.parquet", f / "a (copy).parquet")),
    "Delta": (r"is a table of Delta, .*DeltaTable\(path\)", lambda f: (f / "_delta_log").mkdir()),
    "Hudi": ("is a table of Hudi", lambda f: (f / ".hoodie").mkdir()),
    "notes": ("must end in one of", lambda f: (f / "notes.md").write_text("x")),
    "two formats": ("must hold files of one format, got Parquet and Csv", lambda f: (f / "b.csv").write_text("a,b")),
    "empty file": ("b.parquet` must not be empty, got 0 bytes", lambda f: (f / "b.parquet").write_text("")),
    "some keys": (r"must have folders named alike, got .*a.parquet` and .*day=1", copy_below("day=1")),
}  # fmt: skip


@pytest.mark.parametrize(("message", "spoil"), BAD.values(), ids=BAD)
def test_what_is_no_log_is_refused_with_a_way_out(message, spoil, table, folder):
    pq.write_table(table, folder / "a.parquet")
    spoil(folder)
    refused(folder, message)


def test_a_table_of_iceberg_is_refused(table, folder):
    (folder / "metadata").mkdir()
    (folder / "metadata" / "v1.metadata.json").write_text("{}")
    (folder / "data").mkdir()
    pq.write_table(table, folder / "data" / "a.parquet")
    refused(folder, "is a table of Iceberg, .*pyiceberg")


def test_an_empty_folder_is_refused(folder):
    refused(folder, "must hold the files of a log, got an empty folder")


def test_a_column_that_only_some_files_have_is_no_context(table, folder):
    """It used to be left out without a word, or to be missing in all other rows."""
    pq.write_table(table, folder / "a.parquet")
    pq.write_table(table.append_column("height", [np.arange(600.0)]), folder / "b.parquet")
    for engine in ("memory", "local"):
        assert answer(folder, engine).contents.left_out["height"] == "it is missing in 1 of 2 files"


def test_names_of_folders_are_no_context_by_themselves(table, folder):
    for day in ("1", "2", "__HIVE_DEFAULT_PARTITION__"):
        (folder / f"day={day}").mkdir()
        pq.write_table(table, folder / f"day={day}" / "part.parquet")  # the same rows are other ones on another day
    for engine in ("memory", "local"):
        found = answer(folder, engine)
        assert found.contents.context == ("age",)
        assert "it is in the names of folders" in found.contents.left_out["day"]


def test_empty_parts_are_no_copies(table, folder):
    for part, rows in enumerate((600, 0, 0)):
        pq.write_table(table.slice(0, rows), folder / f"{part}.parquet")
    assert answer(folder, "local").contents.rewards.count == 600


@pytest.mark.parametrize("order", [1, -1])
def test_labels_that_are_text_in_one_file_are_text_in_all(order, table, folder):
    """Whichever file comes first."""
    codes = (np.array(table.column("action")) == "b").astype(int)
    for part, labels in enumerate([codes, np.where(np.arange(600) == 7, "other", codes.astype(str))][::order]):
        pa.csv.write_csv(table.set_column(0, "action", [labels]), folder / f"{part}.csv")
    memory, local = (answer(folder, engine) for engine in ("memory", "local"))
    assert memory.contents.to_dict()["actions"] == ["0", "1", "other"]
    assert memory.value == pytest.approx(local.value, rel=0.05)


def test_whole_numbers_and_fractions_are_one_column(table, folder):
    pq.write_table(table.set_column(4, "age", [np.arange(600)]), folder / "a.parquet")
    pq.write_table(table, folder / "b.parquet")
    assert Files.of(folder).schema.field("age").type == pa.float64()
    assert answer(folder, "local").value == pytest.approx(answer(folder, "memory").value, rel=0.02)
