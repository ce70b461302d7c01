"""Where the answer cannot be written, or memory ends: one sentence on stderr, an exit code, and no traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from counterfold.evaluation import assembly

COMMANDS = {
    "help": ["--help"],
    "nothing": [],
    "version": ["--version"],
    "help of a command": ["evaluate", "--help"],
    "evaluate": ["evaluate", "log.parquet"],
    "evaluate as JSON": ["evaluate", "log.parquet", "--json"],
    "compare": ["compare", "log.parquet"],
    "check": ["check", "log.parquet", "--json"],
    "methods": ["methods"],
    "methods as Markdown": ["methods", "--markdown"],
    "synth": ["synth", "new.parquet", "--rows", "50"],
}
USUAL_COMMANDS = {"help", "evaluate", "evaluate as JSON", "synth"}
"""Those of which `make test` starts a process; the others write in the same ways."""
FULL = Path("/dev/full")
RUN = "from counterfold.cli import main; main()"
RUN_ALL = """
import json, sys
from counterfold.cli import main
codes = []
for sys.argv[1:] in json.loads(sys.argv[1]):
    try:
        main()
    except SystemExit as ended:
        codes.append(ended.code or 0)
print("codes", codes)
"""
"""Several commands, one after another in one process, and their exit codes."""


def start(*arguments, code=RUN, **options):
    """Return the process of a command, which has ended."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | options.pop("env", {})
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, env=environment, check=False, timeout=120, **{"stderr": subprocess.PIPE, **options})


def is_sentence(err, text):
    """Say whether stderr holds one sentence, with this text in it."""
    lines = err.decode().splitlines()
    return len(lines) == 1 and lines[0].startswith("Error: ") and lines[0].endswith(".") and text in lines[0]


@pytest.mark.skipif(not FULL.exists(), reason="there is no full device")
@pytest.mark.parametrize(
    "command",
    [pytest.param(COMMANDS[one], id=one, marks=[] if one in USUAL_COMMANDS else pytest.mark.slow) for one in COMMANDS],
)
def test_a_full_disk_behind_stdout_is_one_sentence(command, save, tmp_path):
    save()
    with FULL.open("wb") as full:
        ended = start(*command, stdout=full, cwd=tmp_path)
    assert ended.returncode == 2
    assert is_sentence(ended.stderr, "the output could not be written: No space left on device")


def test_a_closed_stdout_is_one_sentence_and_nothing_is_done(tmp_path):
    ended = start("synth", "new.parquet", "--rows", "50", cwd=tmp_path, preexec_fn=lambda: os.close(1))
    assert ended.returncode == 2
    assert is_sentence(ended.stderr, "stdout must be open")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["evaluate", "log.parquet"],
        pytest.param(["methods"], marks=pytest.mark.slow),
        pytest.param(["methods", "--json"], marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_reader_that_has_seen_enough_ends_the_command_quietly(command, save, tmp_path):
    save()
    reading, writing = os.pipe()
    os.close(reading)
    ended = start(*command, stdout=writing, cwd=tmp_path)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, b"")


@pytest.mark.skipif(not FULL.exists(), reason="there is no full device")
def test_where_stderr_is_full_the_exit_code_tells():
    with FULL.open("wb") as full:
        assert start("evaluate", "none.parquet", stdout=subprocess.PIPE, stderr=full).returncode == 2


ENVIRONMENTS = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "plain locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "narrow": {"COLUMNS": "20"},
    "one column": {"COLUMNS": "1"},
    "no colour": {"NO_COLOR": "1", "TERM": "xterm"},
    "colour": {"FORCE_COLOR": "1", "TERM": "xterm-256color"},
    "narrow and in colour": {"COLUMNS": "20", "FORCE_COLOR": "1", "TERM": "xterm-256color"},
}


USUAL = ("ascii", "narrow and in colour")
PLACES = [
    pytest.param(settings, id=name, marks=[] if name in USUAL else [pytest.mark.slow])
    for name, settings in ENVIRONMENTS.items()
]


@pytest.mark.parametrize("environment", PLACES)
def test_any_terminal_can_show_any_label(environment, save, tmp_path):
    labels = ["é", "日本", "😀"]
    save(
        action=[labels[row % 3] for row in range(120)],
        logging_probs=None,
        propensity=np.full(120, 1 / 3),
        größe=[1.5] * 120,
    )
    asked = ["log.parquet", "--target", labels[1]]
    commands = [["evaluate", *asked], ["evaluate", *asked, "--json"], ["evaluate", *asked, "--seed", "-1"]]
    commands.append(["check", *asked])
    ended = start(json.dumps(commands), code=RUN_ALL, stdout=subprocess.PIPE, cwd=tmp_path, env=environment)
    assert ended.stdout.endswith(b"codes [0, 0, 2, 0]\n"), ended.stderr
    assert b"Traceback" not in ended.stderr
    if environment.get("PYTHONIOENCODING") == "ascii":
        assert ended.stdout.isascii()
        assert rb"3: \xe9, \u65e5\u672c, \U0001f600" in ended.stdout


# memory


def exhaust_numpy():
    np.ones(2**50)


def exhaust_arrow():
    raise pa.ArrowMemoryError("realloc of size 16777216 failed")


def exhaust_a_thread():
    from counterfold.base.threads import Pool

    Pool(2).map(lambda _: np.ones(2**50), range(4))


@pytest.mark.parametrize("exhaust", [exhaust_numpy, exhaust_arrow, exhaust_a_thread])
def test_too_little_memory_is_one_sentence_on_the_command_line(exhaust, save, run, monkeypatch):
    path = save()
    monkeypatch.setattr(assembly, "evaluate_targets", lambda *_, **__: exhaust())
    code, out, err = run("evaluate", path)
    assert (code, out) == (2, "")
    assert err.startswith("Error: this took more memory than there is: use `--engine local`")


def test_too_little_memory_stays_a_memory_error_in_python():
    with pytest.raises(MemoryError):
        exhaust_a_thread()


LIMITED = "import resource; resource.setrlimit(resource.{0}, ({1}, {1})); " + RUN


def test_what_needs_more_memory_than_allowed_leaves_nothing(tmp_path):
    code = LIMITED.format("RLIMIT_AS", 4 * 2**30)
    wide = ["--rows", "100", "--actions", "2000000", "--context", "1000"]  # 16 GB of slopes
    ended = start("synth", "new.parquet", *wide, code=code, stdout=subprocess.PIPE, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, b""), ended.stderr
    assert is_sentence(ended.stderr, "more memory than there is")
    assert not list(tmp_path.iterdir())


# files


def test_a_file_that_cannot_be_written_to_its_end_is_not_left_behind(tmp_path):
    code = LIMITED.format("RLIMIT_FSIZE", 10_000)
    ended = start("synth", "new.parquet", "--rows", "20k", code=code, stdout=subprocess.PIPE, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, b""), ended.stderr
    assert is_sentence(ended.stderr, "`new.parquet` must be a place that can be written to: ")
    assert not list(tmp_path.iterdir())


CLOSED = """
import os, pyarrow.dataset, pyarrow.parquet, sklearn.linear_model, zoneinfo
from counterfold.base import registry
import counterfold.evaluation.assembly, counterfold_lab.synthetic.file, counterfold.report.text
several = "engines", "readers", "models", "estimators", "selectors"
every = [registry.find(folder, name) for folder in several for name in registry.names(folder)]
if os.getuid() == 0:  # whom no folder is closed to
    os.setgid(65534)
    os.setuid(65534)
"""


BEHIND = [
    ["synth", "closed/new.parquet", "--rows", "50"],
    ["synth", "closed/in/new", "--files", "2", "--rows", "50"],
    ["evaluate", "closed/in/log.parquet"],
    ["evaluate", "closed/in/log.parquet", "--engine", "local"],
]


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="folders are closed in another way")
def test_a_closed_folder_is_one_sentence(tmp_path):
    inside = tmp_path / "closed" / "in"
    inside.mkdir(parents=True)
    (inside / "log.parquet").write_bytes(b"")
    (tmp_path / "closed").chmod(0)
    try:
        ended = start(json.dumps(BEHIND), code=CLOSED + RUN_ALL, stdout=subprocess.PIPE, cwd=tmp_path)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert ended.stdout == b"codes [2, 2, 2, 2]\n", ended.stderr
    said = ended.stderr.splitlines()
    assert len(said) == len(BEHIND)
    assert all(is_sentence(one, "ermission denied") for one in said)
    assert [path.name for path in inside.iterdir()] == ["log.parquet"]


@pytest.mark.parametrize("place", ["file/out", "n" * 300], ids=["behind a file", "name too long"])
@pytest.mark.parametrize(
    "command",
    [
        "bench selection --families binary --problems 1 --jobs 1 --out",
        "paper table --datasets ecoli --runs 1 --out",
        "synth --rows 50 --files 2",
    ],
)
def test_a_place_that_cannot_be_is_one_sentence(command, place, run, tmp_path):
    (tmp_path / "file").write_text("")
    code, out, err = run(*command.split(), place)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("Error: `")
    assert "that can be written to" in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_infinity_is_null_in_json(save, run, monkeypatch):
    path = save()
    honest = assembly.evaluate_targets

    def answer(*given, **options):
        from dataclasses import replace

        results, contents = honest(*given, **options)["reward"]
        one = results["target"]
        endless = [replace(line, score=float("inf"), stderr=float("nan")) for line in one.table]
        return {"reward": assembly.Results({"target": replace(one, table=endless)}, contents)}

    monkeypatch.setattr(assembly, "evaluate_targets", answer)
    code, out, _ = run("evaluate", path, "--json")
    assert code == 0
    lines = json.loads(out, parse_constant=pytest.fail)["evaluations"][0]["table"]
    assert {line["score"] for line in lines} == {line["stderr"] for line in lines} == {None}
