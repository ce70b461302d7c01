"""For every kind of bad input exit code 2, one sentence on stderr, nothing else; odd input is answered."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest


def strict(text):
    """Return JSON that holds no NaN and no infinity, which other languages refuse."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))


# bad input


def refused(code, out, err):
    """Say whether there is one sentence on stderr, and nothing else."""
    return code == 2 and not out and re.fullmatch(r"Error: [^\n]+[.?]\n", err)


BAD = {
    "missing column": ({"action": None}, "", "column `action` must be there. Found: age, height, reward,"),
    "missing target": (
        {},
        "--target targte",
        "column `targte` must be there, or be an action that the target always takes. Did you mean `target`? Found: ",
    ),
    "nan": ({"r": [1.0, None] * 60}, "--reward r", "`reward` (column `r`) must be finite, got nan in 60 of 120 rows"),
    "propensity": ({"p": [2.0] * 120}, "--propensity p", "`propensity` (column `p`) must be in (0, 1], got 2.0 in 120"),
    "sum": ({"t": [[0.5, 0.2, 0.2]] * 120}, "--target t", "`target` (column `t`) must be rows of probabilities that"),
    "predictions": ({"q": [[1, 2, None]] * 120}, "--predictions q", "(column `q`) must be finite, got nan in 120 of"),
    "flat predictions": ({}, "--predictions age", "column `age`"),
    "label": ({}, "--actions 0,1,9", "`action` must be one of the 3 known actions (0, 1, 9), got 2 in"),
    "constant reward": ({"reward": [1] * 120}, "", "`reward` must vary, got 1.0 in all 120 rows"),
    "one action": ({"action": [1] * 120, "logging_probs": [[1.0]] * 120}, "", "at least 2 actions, got 1"),
    "one group": ({"u": [1] * 120}, "--group u", "`group` (column `u`) must have at least 2 different groups, got 1."),
    "newline": ({"a\nb": [1] * 120}, "--action x", "column `x` must be there"),
    "estimator": ({}, "--candidates dr,snip", "unknown estimator `snip`. Did you mean `snips`?"),
    "set": ({}, "--candidates papr", "Did you mean `paper`?"),
    "selector": ({}, "--selector kfold", "unknown selector `kfold`. Did you mean `kfold-cv`?"),
    "model": ({}, "--reward-model peraction1", "unknown model `peraction1`. Did you mean `per-action`?"),
    "twice": ({}, "--splits 4 --selector ocv:splits=3", "`splits` must be set once, got it again in `ocv:splits=3`."),
    "setting": ({}, "--candidates switch-dr:treshold=5", "`switch-dr` takes `threshold`, got `treshold=5`."),
    "splits of folds": ({}, "--selector kfold-cv --splits 3", "`kfold-cv` takes `validator`, `folds` or `rule`, got"),
    "value": ({}, "--candidates switch-dr:threshold=-1", "`threshold` must be a number of at least 0, got -1.0."),
    "validator": (
        {},
        "--reward-model none --validator dr",
        "the validator DR needs a reward model, but there is none.",
    ),
    "no candidate": (
        {},
        "--reward-model none --candidates dm",
        "`candidates` must hold an estimator that applies, got",
    ),
    "class": ({}, "--reward-model per-action:estimator=sklearn.Nope", "`estimator` must be a class like sklearn."),
    "no class": ({}, "--reward-model per-action:estimator=os.getcwd", "`estimator` must be a class like sklearn."),
    "no default": ({}, "--reward-model per-action:estimator=sklearn.pipeline.Pipeline", "`estimator` must be"),
    "level": ({}, "--level 1.5", "`level` must be in (0, 1), got 1.5."),
    "threads": ({}, "--threads 0", "`threads` must be a whole number of at least 1, got 0."),
    "seed": ({}, "--seed -1", "`seed` must be a whole number of at least 0, got -1."),
    "splits": ({}, "--splits ten", "--splits"),
    "option": ({}, "--tagret target", "--tagret"),
}


@pytest.mark.parametrize(("changes", "options", "message"), BAD.values(), ids=BAD)
def test_bad_input_gets_one_sentence_and_writes_nothing(changes, options, message, run, save, tmp_path):
    path = save(**changes)
    code, out, err = run("evaluate", path, *options.split())
    assert refused(code, out, err), err
    assert message in err
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("arguments", [["evaluate"], ["evaluate", "none.csv"], ["chekc", "log.csv"]], ids=" ".join)
def test_bad_commands_get_one_sentence(arguments, run):
    assert refused(*run(*arguments))


@pytest.mark.parametrize("content", [b"", b"null\n", b"[]\n", b"{}\n", b'{"action": 1'], ids=repr)
def test_a_bad_file_gets_one_sentence(content, run, tmp_path):
    (tmp_path / "log.jsonl").write_bytes(content)
    assert refused(*run("check", "log.jsonl"))


def test_a_bad_file_gets_one_sentence_from_the_installed_command(tmp_path):
    (tmp_path / "log.jsonl").write_bytes(b"[]\n")
    command = [Path(sys.executable).with_name("counterfold"), "check", "log.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused(done.returncode, done.stdout, done.stderr)


# odd input


@pytest.mark.parametrize("name", ["[/b]", "[red]", ":smile:", "größe 1"])
def test_names_are_shown_as_they_are(name, run, save):
    path = save(f"{name.replace('/', '')}.parquet", **{name: [1, 2] * 60})
    code, out, err = run("evaluate", path, "--candidates", "ips")
    assert (code, err) == (0, "")
    assert f"age, height, {name}" in out


def test_a_constant_answer_is_strict_json(run, save):
    flat = {"action": [0, 1, 2] * 40, "reward": [0, 0, 0, 1, 1, 1] * 20, "target": [[1, 0, 0]] * 120}
    flat |= {"logging_probs": [[0.5, 0.25, 0.25]] * 120} | dict.fromkeys(["age", "height", "pi"])
    code, out, err = run("evaluate", save(**flat), "--candidates", "dm", "--reward-model", "ridge-per-action", "--json")
    assert (code, err) == (0, "")
    assert strict(out)["evaluations"][0]["value"] == 0.5


EXTREME = {
    "tiny propensity": {"propensity": [1e-300] + [0.5] * 119, "logging_probs": None},
    "smallest propensity": {"propensity": [5e-324] + [0.5] * 119, "logging_probs": None},
    "huge reward": {"reward": [1e200, -1e200] * 60},
    "largest reward": {"reward": [1.7e308, -1.7e308] * 60},
    "huge context": {"age": [1e200, -1e200] * 60},
}


@pytest.mark.parametrize("name", EXTREME)
def test_extreme_numbers_are_refused_or_answered_but_never_crash(name, run, save):
    code, out, err = run("evaluate", save(**EXTREME[name]), "--json")
    assert "overflow" not in err
    if not refused(code, out, err):
        verdict = strict(out)["evaluations"][0]["verdict"]
        assert verdict == "not answerable" or "propensity" not in name
