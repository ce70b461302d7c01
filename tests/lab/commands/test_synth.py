"""The command synth: what it says and refuses, and that a log is whole or not there."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import counterfold as cf
from counterfold_lab.commands.synth import parse_size
from counterfold_lab.synthetic.file import Destination, list_files, read_truth, write_log
from counterfold_lab.synthetic.generator import Synthetic
from synthetic_logs import written

COMMAND = [sys.executable, "-c", "from counterfold.cli import main; main()", "synth"]


# the command


def test_json_and_the_table_say_the_same(run):
    code, out, err = run("synth", "log.parquet", "--rows", "2k", "--targets", 2, "--groups", "1k", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert {name: found[name] for name in ("path", "files", "rows")} == {
        "path": "log.parquet",
        "files": 1,
        "rows": 2000,
    }
    assert found["bytes"] == Path("log.parquet").stat().st_size
    assert found["settings"]["groups"] == 1000
    assert found["truth"] == read_truth(Path("log.parquet"))
    code, out, _ = run("synth", "log.parquet", "--rows", "2k", "--targets", 2, "--groups", "1k", "--force")
    assert code == 0
    lines = [line.split() for line in out.splitlines() if line.strip()]
    assert ["truth", "of", "target_2", f"{found['truth']['target_2']:.6f}"] in lines
    assert ["rows", "2,000"] in lines
    code, out, _ = run("evaluate", "log.parquet", "--target", "target", "--target", "target_2", "--json")
    assert code == 0
    assert json.loads(out)["log"]["groups"] > 500


SIZES = {
    "10M": 10_000_000,
    "100k": 100_000,
    "100K": 100_000,
    "2.5M": 2_500_000,
    "0.001M": 1000,
    "2B": 2_000_000_000,
    "1G": 1_000_000_000,
    "1_000_000": 1_000_000,
    "1e6": 1_000_000,
    "1.5e3k": 1_500_000,
    " 5 ": 5,
}


@pytest.mark.parametrize("text", SIZES)
def test_sizes(text):
    assert parse_size("rows", text) == SIZES[text]


@pytest.mark.parametrize("text", ["ten", "", "k", "-5", "1.5", "nan", "inf", "1e999999999", "10MB", "1e-3", "1,000"])
def test_what_is_no_size_gets_one_sentence(text):
    with pytest.raises(cf.ParameterError, match=r"^`rows` must be a whole number of at most .* or 1e6, got '.*'\.$"):
        parse_size("rows", text)


BAD = {
    "log.parquet --rows ten": "`rows` must be a whole number",
    "log.parquet --rows 1": "`rows` must be a whole number of at least 2, got 1.",
    "log.parquet --groups 1": "`groups` must be a whole number of at least 2, got 1.",
    "log.parquet --groups x": "`groups` must be a whole number",
    "log.parquet --actions 1": "`actions` must be a whole number of at least 2, got 1.",
    "log.parquet --context -1": "`context` must be a whole number of at least 0, got -1.",
    "log.parquet --targets 0": "`targets` must be a whole number of at least 1, got 0.",
    "log.parquet --reward cont": "`reward` must be `binary` or `continuous`, got 'cont'.",
    "log.parquet --seed -1": "`seed` must be a whole number of at least 0, got -1.",
    "log.parquet --threads 0": "`threads` must be a whole number of at least 1, got 0.",
    "log.csv": "`log.csv` must end in .parquet, or be a folder for several `--files`.",
    "log": "`log` must end in .parquet",
    "log.parquet --files 2": "`log.parquet` must have no ending, because `--files` go to a folder.",
    "log --files 0": "`files` must be a whole number of at least 1, got 0.",
    "log --files 5 --rows 4": "`files` must be at most the number of rows (4), got 5.",
    "nowhere/log.parquet": "`nowhere/log.parquet` must be a place that can be written to: ",
    "nowhere/log --files 2": "`nowhere/log` must be a place that can be written to: ",
}


@pytest.mark.parametrize("arguments", BAD)
def test_bad_input_gets_one_sentence_and_writes_nothing(arguments, run, tmp_path):
    code, out, err = run("synth", *arguments.split())
    assert (code, out) == (2, "")
    assert re.fullmatch(r"Error: [^\n]+\.\n", err)
    assert BAD[arguments] in err
    assert list(tmp_path.iterdir()) == []


# whole or not there


def test_what_is_there_stays_unless_forced(run, tmp_path):
    for arguments in (["log.parquet"], ["log", "--files", 2]):
        assert run("synth", *arguments, "--rows", 100)[0] == 0
        before = [file.read_bytes() for file in list_files(Path(arguments[0]))]
        code, _, err = run("synth", *arguments, "--rows", 100, "--seed", 1)
        assert code == 2
        assert "must not be there yet: give another name, or `--force` to replace it." in err
        assert [file.read_bytes() for file in list_files(Path(arguments[0]))] == before
        assert run("synth", *arguments, "--rows", 100, "--seed", 1, "--force")[0] == 0
        after = [file.read_bytes() for file in list_files(Path(arguments[0]))]
        assert set(after).isdisjoint(before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "log.parquet"]


def test_force_replaces_no_folder_of_other_things(run, tmp_path):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "thesis.txt").write_text("years of work")
    (tmp_path / "log.parquet").mkdir()
    (tmp_path / "file").write_text("text")
    for arguments in (["log", "--files", 2], ["log.parquet"], ["file", "--files", 2]):
        code, _, err = run("synth", *arguments, "--rows", 100, "--force")
        assert code == 2
        assert "must not be there, or be a log of the same form to replace" in err
    assert (tmp_path / "log" / "thesis.txt").read_text() == "years of work"


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("files", [None, 3])
def test_an_error_halfway_leaves_what_was_there(files, tmp_path):
    path = tmp_path / ("log" if files else "log.parquet")
    before = written(Synthetic(), 100, path, files=files)

    def stop(done, _):
        if done > 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_log(Synthetic(seed=1), 6000, Destination(path, files, force=True), 2, stop)
    assert read_truth(path) == pytest.approx(before.truth, rel=1e-12)
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_take_its_place_brings_the_old_one_back(tmp_path, monkeypatch):
    before = written(Synthetic(), 100, tmp_path / "log", files=2)
    move = Path.replace

    def refuse(path, to):
        if (path.name, to.name) == (f".{os.getpid()}.log", "log"):
            raise OSError(28, "No space left on device")
        return move(path, to)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(cf.DataError, match=r"log` must be a place that can be written to: .*No space left on device"):
        written(Synthetic(seed=1), 100, tmp_path / "log", files=2, force=True)
    assert read_truth(tmp_path / "log") == pytest.approx(before.truth, rel=1e-12)
    assert list(tmp_path.iterdir()) == [tmp_path / "log"]


@pytest.mark.parametrize(
    ("end", "arguments"),
    [
        (signal.SIGINT, ["log", "--files", "500"]),
        (signal.SIGKILL, ["log.parquet"]),
        pytest.param(signal.SIGINT, ["log.parquet"], marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, ["log", "--files", "500"], marks=pytest.mark.slow),
    ],
    ids=["stopped folder", "killed file", "stopped file", "killed folder"],
)
def test_a_kill_leaves_no_log(end, arguments, tmp_path):
    process = subprocess.Popen([*COMMAND, *arguments, "--rows", "1B"], cwd=tmp_path, stderr=subprocess.PIPE)
    for _ in range(600):
        if sum(file.stat().st_size for file in tmp_path.rglob("*.parquet")) > 1000:
            break
        time.sleep(0.05)
    process.send_signal(end)
    _, err = process.communicate()
    assert process.returncode == (130 if end == signal.SIGINT else -end)
    assert err == b""
    left = [path.name for path in tmp_path.iterdir()]
    assert left == ([] if end == signal.SIGINT else [f".{process.pid}.{arguments[0]}"])


def test_memory_does_not_grow_with_the_rows(tmp_path):
    peaks = [peak(tmp_path / "log.parquet", rows) for rows in ("300k", "1.5M")]
    assert peaks[1] - peaks[0] < 0.5 * 1_200_000 * 33 * 8


def peak(path, rows):
    """Return the most memory that a process of its own took, in bytes."""
    process = subprocess.Popen([*COMMAND, path, "--rows", rows, "--force", "--threads", "1"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
