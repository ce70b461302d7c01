"""Every text of a log holds what terminals obey, or markup: commands show it, and nothing obeys it."""

import json

import numpy as np
import pytest

BAD = "\x1b[31m\x1b]0;title\x07[red]x[/red][/]\r\n\u202e\u200b\x9b2J\x7f\u2028\ufeff:smile:"
LABELS = [f"{BAD}{letter}" for letter in "abc"]
ROWS = 120


@pytest.fixture
def hostile(save):
    """Return a log whose name, columns, labels and groups are hostile, and the options that name its columns."""
    rng = np.random.default_rng(0)
    code = rng.integers(3, size=ROWS)
    reward = rng.normal(size=ROWS)
    texts = {
        f"a{BAD}": [LABELS[one] for one in code],
        f"r{BAD}": reward,
        f"p{BAD}": np.full(ROWS, 1 / 3),
        f"t{BAD}": [LABELS[one] for one in rng.integers(3, size=ROWS)],
        f"never{BAD}": [LABELS[0]] * ROWS,
        f"g{BAD}": [f"{BAD}{row % 30}" for row in range(ROWS)],
        f"outcome{BAD}": code + 0.1 * rng.normal(size=ROWS),
        f"copy{BAD}": reward,
    }
    left_out = dict.fromkeys(["action", "reward", "logging_probs", "target", "uniform", "pi", "q", "user"])
    log = save(f"log{BAD.replace('/', '')}.parquet", **left_out, **texts)
    named = [("action", "a"), ("reward", "r"), ("propensity", "p"), ("group", "g")]
    return [log, *(word for role, name in named for word in (f"--{role}", f"{name}{BAD}"))]


TARGETS = ["--target", f"t{BAD}", "--target", f"never{BAD}"]
COMMANDS = {
    "evaluate": ["evaluate", "LOG", *TARGETS],
    "evaluate all": ["evaluate", "LOG", *TARGETS, "--all", "--candidates", "paper"],
    "evaluate local": ["evaluate", "LOG", *TARGETS, "--engine", "local"],
    "evaluate required": ["evaluate", "LOG", *TARGETS, "--require", "good"],
    "compare": ["compare", "LOG", *TARGETS],
    "compare with baseline": ["compare", "LOG", *TARGETS, "--baseline", f"t{BAD}"],
    "check": ["check", "LOG", *TARGETS],
    "demo": ["demo"],
    "methods": ["methods"],
    "synth": ["synth", f"new{BAD.replace('/', '')}.parquet", "--rows", "50"],
    "synth again": ["synth", "LOG", "--rows", "50"],
    "synth bad name": ["synth", BAD],
    "missing file": ["evaluate", f"{BAD}.parquet"],
    "missing column": ["evaluate", "LOG", "--context", f"zz{BAD}", *TARGETS],
    "missing target": ["evaluate", "LOG", "--target", f"zz{BAD}"],
    "baseline": ["compare", "LOG", *TARGETS, "--baseline", BAD],
    "target twice": ["compare", "LOG", *TARGETS, "--target", f"t{BAD}"],
    "two roles": ["evaluate", "LOG", "--target", f"r{BAD}"],
    "labels": ["evaluate", "LOG", *TARGETS, "--actions", f"q{BAD},s{BAD}"],
    "features": ["evaluate", "LOG", *TARGETS, "--action-features", "LOG"],
    "candidates": ["evaluate", "LOG", *TARGETS, "--candidates", BAD],
    "setting": ["evaluate", "LOG", *TARGETS, "--selector", f"ocv:{BAD}={BAD}"],
    "model": ["evaluate", "LOG", *TARGETS, "--reward-model", f"per-action:estimator={BAD}"],
    "engine": ["evaluate", "LOG", *TARGETS, "--engine", BAD],
    "number": ["evaluate", "LOG", *TARGETS, "--seed", BAD],
    "range": ["evaluate", "LOG", *TARGETS, "--reward-range", BAD],
    "require": ["check", "LOG", *TARGETS, "--require", BAD],
    "extra argument": ["methods", BAD],
    "option": ["check", "LOG", f"--{BAD}"],
    "command": [BAD],
    "figure": ["paper", BAD, "--out", "out"],
    "datasets": ["paper", "figure1", "--out", "out", "--datasets", BAD],
    "class": ["paper", "figure1", "--out", "out", "--add", f"{BAD}:{BAD}"],
    "data": ["paper", "table", "--out", "out", "--data", BAD],
    "benchmark": ["bench", BAD],
    "families": ["bench", "selection", "--out", "out", "--families", BAD],
    "out": [
        *("bench", "selection", "--families", "binary", "--problems", "1", "--training", "10"),
        *("--out", f"LOG{BAD}/{BAD}"),
    ],
}


def fill_in(command, log):
    """Return a command on a log; the options that name its columns are given to commands that read it."""
    named = log[1:] if {"evaluate", "compare", "check"} & {*command[:1]} else []
    return [*(log[0] if word == "LOG" else word for word in command), *named]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_control_character_but_line_breaks_reaches_the_terminal(command, hostile, run):
    code, out, err = run(*fill_in(command, hostile))
    assert code in {0, 2, 3}
    for line in [*out.split("\n"), *err.split("\n")]:
        assert line.isprintable()
    assert code == 0 or 0 < max(map(len, err.splitlines())) <= 1000
    assert code != 2 or not out


@pytest.mark.parametrize("name", ["evaluate", "compare", "check"])
def test_json_has_texts_as_they_are(name, hostile, run):
    code, out, err = run(*fill_in([*COMMANDS[name], "--json"], hostile))
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert out.isascii()
    assert answer["log"]["file"] == str(hostile[0])
    assert answer["log"]["actions"] == LABELS
    found = answer["diagnostics" if name == "check" else "evaluations"]
    assert [one["target"] for one in found] == [f"t{BAD}", f"never{BAD}"]
    assert f"copy{BAD}" in answer["log"]["left_out"]


def test_markup_is_shown_as_it_is(run, save):
    odd = "[red]x[/red] [/] [link=http://a]b :smile: \\[bold]"
    path = save(**{odd: np.arange(120.0) % 7})
    code, out, _ = run("evaluate", path)
    assert code == 0
    assert odd in out


def test_long_labels_are_cut(run, save):
    label = "a label of a hundred kilobytes " * 3300
    path = save(action=[f"{label}{row % 2}" for row in range(120)], logging_probs=None, propensity=np.full(120, 0.5))
    code, out, err = run("evaluate", path, "--target", f"{label}1")
    assert (code, err) == (0, "")
    assert len(out) < 20_000
    assert run("evaluate", path, "--target", f"{label}2")[0] == 2
