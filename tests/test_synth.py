"""Synthetic logs: the same whatever the threads, true to what they state, whole or not there, and what is refused."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

import counterfold as cf
from counterfold.cli.synth import parse_size as size
from counterfold.experiments import synthetic_file
from counterfold.experiments.synthetic import EXPLORATION, Synthetic, effects
from counterfold.experiments.synthetic_file import Destination, truth_of, write
from counterfold.progress import bar

COMMAND = [sys.executable, "-c", "from counterfold.cli import main; main()", "synth"]

VARIANTS = {
    "default": Synthetic(),
    "few actions": Synthetic(actions=2, context=1, seed=1),
    "many actions": Synthetic(actions=60, context=4),
    "three targets": Synthetic(targets=3, seed=2),
    "continuous": Synthetic(reward="continuous"),
    "users": Synthetic(groups=300, seed=3),
    "logged only": Synthetic(logged_only=True, targets=2),
    "no context": Synthetic(context=0, logged_only=True),
    "no context, all actions": Synthetic(context=0, seed=2**40),
}


@pytest.fixture(params=VARIANTS)
def problem(request):
    return VARIANTS[request.param]


@pytest.fixture
def small_blocks(monkeypatch):
    """Make blocks so small that a few thousand rows have many."""
    monkeypatch.setattr("counterfold.experiments.synthetic.LARGEST_BLOCK", 512)


def written(problem, rows, path, *, threads=None, **more):
    return write(problem, rows, Destination(path, **more), threads)


def drawn(problem, rows, blocks=1):
    """Return the columns of a few blocks, and the true value of each target on them."""
    found = [problem.block(number, rows) for number in range(blocks)]
    columns = {name: np.concatenate([one.columns[name] for one in found]) for name in found[0].columns}
    return columns, sum(one.sums for one in found) / (rows * blocks)


# what is in a log


@pytest.mark.usefixtures("small_blocks")
def test_the_columns_and_the_row_groups(problem, tmp_path):
    written(problem, 1100, tmp_path / "log.parquet")
    file = pq.ParquetFile(tmp_path / "log.parquet")
    assert [file.metadata.row_group(group).num_rows for group in range(3)] == [512, 512, 76]
    types = {field.name: str(field.type) for field in file.schema_arrow}
    whole = "double" if problem.logged_only else "list<element: double>"
    expected = {f"x{place}": "double" for place in range(problem.context)}
    expected |= {"action": "int64", "reward": "double", "propensity": "double"}
    expected |= {} if problem.logged_only else {"logging_probs": whole}
    expected |= dict.fromkeys(["target", "target_2", "target_3"][: problem.targets], whole)
    assert types == expected | ({"group": "int64"} if problem.groups else {})


def test_probabilities_are_probabilities_and_agree(problem):
    columns, truth = drawn(problem, 2000)
    assert set(np.unique(columns["action"])) <= set(range(problem.actions))
    assert columns["propensity"].min() >= EXPLORATION / problem.actions
    assert np.all((truth > 0) & (truth < 1))
    if problem.logged_only:
        assert all(((columns[name] >= 0) & (columns[name] <= 1)).all() for name in problem.target_names)
        return
    for name in ("logging_probs", *problem.target_names):
        assert columns[name].sum(axis=1) == pytest.approx(1, abs=1e-12)
        assert columns[name].min() >= 0
    assert np.array_equal(columns["logging_probs"][np.arange(2000), columns["action"]], columns["propensity"])


def test_logged_only_leaves_out_and_changes_nothing_else():
    full, truth = drawn(Synthetic(targets=2), 500)
    less, same = drawn(Synthetic(targets=2, logged_only=True), 500)
    assert np.array_equal(truth, same)
    assert set(full) - set(less) == {"logging_probs"}
    for name, column in less.items():
        expected = full[name] if full[name].ndim == 1 else full[name][np.arange(500), full["action"]]
        assert np.array_equal(column, expected)


def test_context_is_plain_heavy_tailed_and_binary_and_correlated():
    columns, _ = drawn(Synthetic(context=6), 50_000)
    kurtosis = [stats.kurtosis(columns[f"x{place}"]) for place in (0, 3, 1, 4)]
    assert max(np.abs(kurtosis[:2])) < 0.2
    assert min(kurtosis[2:]) > 20
    assert all(set(np.unique(columns[name])) == {0.0, 1.0} for name in ("x2", "x5"))
    assert np.corrcoef(columns["x0"], columns["x3"])[0, 1] == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_large_but_not_hopeless(seed):
    columns, truth = drawn(Synthetic(seed=seed), 2**17)
    weights = columns["target"][np.arange(2**17), columns["action"]] / columns["propensity"]
    assert 10 < weights.max() <= 50
    assert 0.1 < weights.sum() ** 2 / (weights**2).sum() / 2**17 < 0.6
    assert truth[0] > columns["reward"].mean() + 0.03


@pytest.mark.statistical
def test_actions_are_drawn_as_stated():
    """Fails by chance once in a thousand seeds."""
    columns, _ = drawn(Synthetic(actions=5), 50_000)
    probs = columns["logging_probs"]
    excess = np.eye(5)[columns["action"]] - probs
    scores = excess.sum(axis=0) / np.sqrt((probs * (1 - probs)).sum(axis=0))
    assert np.abs(scores).max() < stats.norm.isf(0.001 / 10)


@pytest.mark.statistical
def test_the_stated_truth_is_what_weighted_rewards_say(problem, tmp_path):
    """Each of a dozen comparisons fails by chance once in ten thousand seeds; a naive loop, no package code."""
    path = tmp_path / "log.parquet"
    truth = written(problem, 20_000, path).truth
    rows = pq.read_table(path).to_pylist()
    for name in problem.target_names:
        parts = []
        for row in rows:
            probability = row[name] if problem.logged_only else row[name][row["action"]]
            parts.append(row["reward"] * probability / row["propensity"])
        stderr = np.std(parts, ddof=1) / np.sqrt(len(parts))
        assert abs(np.mean(parts) - truth[name]) < stats.norm.isf(0.5e-4) * stderr
        assert stderr < 0.03


@pytest.mark.statistical
def test_rewards_of_a_user_go_together():
    """Fails by chance once in a thousand seeds."""
    columns, _ = drawn(Synthetic(groups=50, reward="continuous"), 50_000)
    users, codes, counts = np.unique(columns["group"], return_inverse=True, return_counts=True)
    means = np.bincount(codes, columns["reward"]) / counts
    assert counts.max() > 3 * counts.min()
    assert stats.pearsonr(means, effects(users, 0)).pvalue < 0.001
    everybody = effects(np.arange(100_000), 0)
    assert everybody.mean() == pytest.approx(0, abs=0.5 * stats.norm.isf(0.0005) / np.sqrt(100_000))
    assert everybody.std() == pytest.approx(0.5, abs=0.01)


@pytest.mark.statistical
def test_evaluate_covers_the_truth(problem, tmp_path):
    """Asks for intervals of level 0.999."""
    path = tmp_path / "log.parquet"
    truth = written(problem, 8000, path).truth
    log = cf.read_log(path, ignore=problem.target_names)
    assert (len(log), len(log.context_names)) == (8000, problem.context)
    for name in problem.target_names:
        result = cf.evaluate(log, cf.read_target(path, name), level=0.999)
        assert result.interval.low < truth[name] < result.interval.high
        assert result.diagnostics.verdict != "not answerable"


# the same log again


@pytest.mark.usefixtures("small_blocks")
def test_threads_never_change_a_byte_and_seeds_do(tmp_path):
    problem = Synthetic(groups=50, targets=2)
    truths = [written(problem, 5000, tmp_path / f"{n}.parquet", threads=n).truth for n in (1, 2, 5)]
    assert truths[0] == truths[1] == truths[2]
    contents = {(tmp_path / f"{n}.parquet").read_bytes() for n in (1, 2, 5)}
    assert len(contents) == 1
    other = written(Synthetic(groups=50, targets=2, seed=1), 5000, tmp_path / "other.parquet")
    assert set(other.truth.values()).isdisjoint(truths[0].values())


@pytest.mark.parametrize("threads", [1, 3])
def test_a_stream_is_in_order_and_only_a_little_ahead(threads):
    started = []

    def halved(item):
        started.append(item)
        return item / 2

    assert list(cf.Pool(threads).stream(halved, range(10))) == [item / 2 for item in range(10)]
    assert list(cf.Pool(threads).stream(halved, [])) == []
    started.clear()
    stream = cf.Pool(threads).stream(halved, iter(range(10**9)))
    assert [next(stream), next(stream)] == [0, 0.5]
    stream.close()
    assert set(started) <= set(range(threads + 2))


def test_blocks_differ():
    problem = Synthetic()
    first, second = (problem.block(number, 100).columns["x0"] for number in (0, 1))
    assert not np.array_equal(first, second)


def test_logs_of_many_actions_have_shorter_blocks():
    sizes = [Synthetic(actions=actions).block_rows for actions in (10, 100, 1000, 10**7)]
    assert sizes == [2**17, 2**14, 2**11, 1]


@pytest.mark.usefixtures("small_blocks")
def test_a_folder_holds_what_it_states(tmp_path):
    found = written(Synthetic(targets=2), 3001, tmp_path / "log", files=3)
    files = sorted((tmp_path / "log").iterdir())
    assert [file.name for file in files] == [f"part-0000{number}.parquet" for number in range(3)]
    assert [pq.read_metadata(file).num_rows for file in files] == [1001, 1000, 1000]
    assert (found.rows, found.files, found.bytes) == (3001, 3, sum(file.stat().st_size for file in files))
    assert truth_of(tmp_path / "log") == pytest.approx(found.truth, rel=1e-12)
    assert truth_of(files[0]) != truth_of(files[1])
    assert len(cf.read_log(tmp_path / "log", ignore=["target", "target_2"])) == 3001


def test_metadata_state_the_truth_and_the_settings(tmp_path):
    path = tmp_path / "log.parquet"
    found = written(Synthetic(actions=3, seed=4), 1000, path)
    stated = json.loads(pq.read_metadata(path).metadata[b"counterfold"])
    assert (stated["rows"], stated["actions"], stated["seed"], stated["truth"]) == (1000, 3, 4, found.truth)
    assert truth_of(path) == found.truth
    pq.write_table(pq.read_table(path).replace_schema_metadata(), path)
    with pytest.raises(cf.DataError, match="must be a log that `counterfold synth` made"):
        truth_of(path)


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
    assert found["truth"] == truth_of(Path("log.parquet"))
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
    assert size("rows", text) == SIZES[text]


@pytest.mark.parametrize("text", ["ten", "", "k", "-5", "1.5", "nan", "inf", "1e999999999", "10MB", "1e-3", "1,000"])
def test_what_is_no_size_gets_one_sentence(text):
    with pytest.raises(cf.ParameterError, match=r"^`rows` must be a whole number of at most .* or 1e6, got '.*'\.$"):
        size("rows", text)


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


def test_the_bar_says_how_many_rows_and_how_fast(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    with bar("Writing", after=0, unit="rows") as progress:
        time.sleep(0.2)
        progress(1500, 10_000)
    assert re.search(r"Writing.* 1,500 of 10,000 rows, [\d,]+/s", capsys.readouterr().err)


# whole or not there


def test_what_is_there_stays_unless_forced(run, tmp_path):
    for arguments in (["log.parquet"], ["log", "--files", 2]):
        assert run("synth", *arguments, "--rows", 100)[0] == 0
        before = [file.read_bytes() for file in synthetic_file.parts(Path(arguments[0]))]
        code, _, err = run("synth", *arguments, "--rows", 100, "--seed", 1)
        assert code == 2
        assert "must not be there yet: give another name, or `--force` to replace it." in err
        assert [file.read_bytes() for file in synthetic_file.parts(Path(arguments[0]))] == before
        assert run("synth", *arguments, "--rows", 100, "--seed", 1, "--force")[0] == 0
        after = [file.read_bytes() for file in synthetic_file.parts(Path(arguments[0]))]
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
        write(Synthetic(seed=1), 6000, Destination(path, files, force=True), 2, stop)
    assert truth_of(path) == pytest.approx(before.truth, rel=1e-12)
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
    assert truth_of(tmp_path / "log") == pytest.approx(before.truth, rel=1e-12)
    assert list(tmp_path.iterdir()) == [tmp_path / "log"]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("arguments", [["log.parquet"], ["log", "--files", "500"]], ids=["file", "folder"])
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
