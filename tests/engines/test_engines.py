"""Large logs: what is refused and how, which engine is chosen, what the command line says, and memory."""

import gzip
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.base import capacity
from counterfold.base.threads import Pool
from counterfold.engines import choose_engine
from counterfold.engines.memory import Memory
from counterfold.io.files import Files
from counterfold_lab.synthetic.file import Destination, write_log
from counterfold_lab.synthetic.generator import Synthetic
from large_logs import REFIT, ROWS

# bad data

BAD = {
    "reward": (
        ["reward", 2500, np.nan],
        r"`reward` must be finite, got nan in 1 of 700 rows from row 2100 on, .*row 2500",
    ),
    "propensity": (
        ["propensity", 1999, 0.0],
        r"`propensity` must be in \(0, 1\], got 0\.0 in 1 of .* first at row 1999",
    ),
    "context": (["x1", 2999, np.inf], "`context` column `x1` must be finite, got inf in 1 of .* first at row 2999"),
    "action": (["action", 2222, 9], r"`action` must be one of the 4 known actions .* got 9 .* first at row 2222"),
    "list": (["target", 2300, [0.5, 0.5]], "must be lists of one length|one column per action"),
    "probabilities": (
        ["target", 1400, [0.5, 0.6, 0.0, 0.0]],
        "`target` must be rows of probabilities that sum to 1.*1400",
    ),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD)
def test_bad_rows_are_named_by_their_place_in_the_file(change, message, table, save_table, monkeypatch):
    monkeypatch.setattr("counterfold.engines.local.HEAD", 500)
    name, row, value = change
    values = table.column(name).to_pylist()
    values[row] = value
    path = save_table(table.set_column(table.column_names.index(name), name, [values]))
    with pytest.raises(cf.DataError, match=message):
        cf.evaluate(path, engine="local", progress=False)


def test_the_column_of_a_role_is_named(table, save_table):
    values = table.column("reward").to_pylist()
    values[1500] = None
    renamed = table.drop_columns(["reward"]).append_column("clicks", [values])
    scan = cf.LogScan(save_table(renamed), reward="clicks", ignore=["target", "target_2"])
    with pytest.raises(cf.DataError, match=r"`reward` \(column `clicks`\) must be finite"):
        cf.evaluate(scan, engine="local", progress=False)
    with pytest.raises(
        cf.DataError, match=r"column `targets` must be there, or be an action .*\. Did you mean `target`"
    ):
        cf.evaluate(save_table(table), "targets", engine="local", progress=False)


@pytest.mark.parametrize("model", ["default", None])
def test_a_log_as_a_whole_must_be_one(model, table, save_table):
    def refuse(changed, message, **settings):
        path = save_table(changed, "bad.parquet")
        with pytest.raises(cf.DataError, match=message):
            cf.evaluate(path, engine="local", progress=False, reward_model=model, **settings)

    place = table.column_names.index("reward")
    refuse(table.set_column(place, "reward", [np.ones(ROWS)]), "`reward` must vary, got 1.0 in all 3000 rows")
    refuse(table.slice(0, 1), "a log must have at least 2 rows, got 1")
    refuse(table.slice(0, 0), "must hold at least 2 rows, got none")
    if model:
        one = table.append_column("group", [np.zeros(ROWS, dtype=int)])
        refuse(one, "`group` must have at least 2 different groups, got 1")


def test_damaged_and_missing_files_give_one_sentence(table, save_table, tmp_path):
    path = save_table(table)
    content = bytearray(path.read_bytes())
    content[2000:9000] = b"\0" * 7000
    path.write_bytes(content)
    with pytest.raises(cf.DataError, match="could not be read as Parquet"):
        cf.evaluate(path, engine="local", progress=False)
    with pytest.raises(cf.DataError, match="must be a file or folder, but there is none"):
        cf.evaluate(tmp_path / "none.parquet", engine="local")


def test_what_needs_memory_says_so_before_anything_is_read(table, save_table):
    path = save_table(table)
    for name in ("theory", "pasif", "pseudo-target"):
        with pytest.raises(cf.ParameterError, match="needs the log in memory; use engine 'memory'"):
            cf.evaluate(path, selector=name, engine="local")
    with pytest.raises(cf.ParameterError, match="`reward_model` must be a model where the log is not in memory"):
        cf.evaluate(path, reward_model=np.zeros((ROWS, 4)), engine="local")
    doses = pa.table({"dose": [1.0, 2.0], "reward": [0.0, 1.0], "propensity": [0.5, 0.5], "target": [1.0, 2.0]})
    with pytest.raises(cf.DataError, match="a log of doses must be evaluated in memory; use engine 'memory'"):
        cf.evaluate(save_table(doses, "doses.parquet"), engine="local")
    with pytest.raises(cf.ParameterError, match="`engine` must be 'memory' for a log in memory, got 'local'"):
        cf.evaluate(cf.read_log(path), [0.5] * ROWS, engine="local")
    with pytest.raises(cf.ParameterError, match="`engine` must be `auto`, `local`, `memory` or `spark`, got 'lokal'"):
        cf.evaluate(path, engine="lokal")


# where


def test_large_files_are_not_read_into_memory(table, save_table, monkeypatch):
    path = save_table(table)
    scan = cf.LogScan(path)
    assert isinstance(choose_engine(scan, "auto", Pool()), Memory)
    monkeypatch.setattr(capacity, "LARGE", 1000)
    assert choose_engine(scan, "auto", Pool()).rows.path == path
    assert isinstance(choose_engine(scan, "memory", Pool()), Memory)
    assert isinstance(choose_engine(cf.LogScan(table), "auto", Pool()), Memory)


def test_the_size_of_a_file_is_that_of_its_decoded_rows(tmp_path):
    """Constant rows take next to nothing on the disk."""
    table = pa.table({"reward": np.zeros(100_000), "probs": [[0.25] * 4] * 100_000, "label": ["x" * 100] * 100_000})
    text = "reward,other\n" + "0.0,1.0\n" * 100_000
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "log.jsonl.gz").write_bytes(gzip.compress(b'{"reward": 0.5, "other": 1.5}\n' * 100_000))
    pa.parquet.write_table(table, tmp_path / "log.parquet")
    with pa.ipc.new_file(
        tmp_path / "log.arrow", table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
    ) as to:
        to.write(table)
    decoded = {path.name: Files.of(path).size for path in tmp_path.iterdir()}
    assert max(path.stat().st_size for path in tmp_path.iterdir()) < 600_000
    assert decoded == pytest.approx(
        {
            "log.csv.gz": 16 * 100_000,
            "log.jsonl.gz": 16 * 100_000,
            "log.parquet": 44 * 100_000,
            "log.arrow": 148 * 100_000,
        },
        rel=0.05,
    )


def test_progress_tells_rows(table, save_table):
    moved = []
    cf.evaluate(save_table(table), engine="local", threads=1, progress=lambda *where: moved.append(where))
    assert moved == [(done, ROWS) for _ in range(2) for done in (700, 1400, 2100, 2800, 3000)]


def test_the_command_line_evaluates_and_checks_files_of_any_size(table, save_table, run):
    import json

    path = save_table(table)
    options = "--target", "target", "--target", "target_2", "--json"
    answers = {}
    for engine in ("memory", "local"):
        for command in ("evaluate", "check"):
            more = ("--selector", REFIT) if command == "evaluate" else ()
            code, out, err = run(command, path, *options, "--engine", engine, *more)
            assert (code, err) == (0, "")
            answers[command, engine] = json.loads(out)
    for command, part in (("evaluate", "evaluations"), ("check", "diagnostics")):
        memory, local = answers[command, "memory"], answers[command, "local"]
        assert memory["log"] == local["log"]
        assert [one["target"] for one in local[part]] == ["target", "target_2"]
    first = [answers["check", engine]["diagnostics"][0]["effective_rows"] for engine in ("memory", "local")]
    assert first[0] == pytest.approx(first[1])
    code, out, _ = run("evaluate", path, "--engine", "local")
    assert (code, "rows             3,000" in out) == (0, True)
    assert run("evaluate", path, "--engine", "lokal")[0] == 2


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path):
    """The larger log alone takes 190 MB more than the smaller one."""
    code = (
        "import sys, resource, counterfold as cf;"
        "cf.evaluate(sys.argv[1], candidates='paper', engine='local', threads=2, progress=False);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peak = []
    for rows in (1_000_000, 2_000_000):
        path = tmp_path / f"{rows}.parquet"
        write_log(Synthetic(), rows, Destination(path))
        peak.append(int(subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=True).stdout))
    assert peak[1] < peak[0] + 60_000
    assert peak[1] < 1_500_000
