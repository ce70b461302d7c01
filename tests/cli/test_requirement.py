"""What the commands do where the log cannot answer, and `--require`, by whose exit code a pipeline can go."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

COMMANDS = ("evaluate", "compare", "check")


def split_lines(out):
    return [line.split() for line in out.splitlines() if line.strip()]


def split_targets(out):
    """Return what is said of `half` and what is said of `never`."""
    before, after = re.split(r"^ *never *$", out, flags=re.MULTILINE)
    return before, after


@pytest.fixture
def ask(run, unanswerable):
    """Return a function that asks about two targets: the log can answer for the first, and not for the second."""

    def command(name, *options):
        return run(name, unanswerable, "--target", "half", "--target", "never", *options)

    return command


@pytest.fixture
def unanswerable(save):
    """Save a log that can answer for `half`, which is the log's own policy, and not for `never`."""
    half, never = [[0.5, 0.5, 0.0]] * 120, [[0.0, 0.0, 1.0]] * 120
    return save(half=half, never=never, logging_probs=half, action=[0, 1] * 60)


def test_no_number_is_shown_where_the_log_cannot_answer(ask):
    code, out, _ = ask("evaluate")
    assert code == 0
    answered, withheld = split_targets(out)
    assert {"value", "interval", "more"} & {line[0] for line in split_lines(answered)}
    said = split_lines(withheld)
    assert " ".join(said[0]) == "value withheld, because the log cannot answer"
    assert not {"difference", "answer", "agreement", "estimator", "IPS", "DR"} & {line[0] for line in said}
    assert "what 5 estimators say (--all shows it)" in withheld
    assert ["verdict", "not", "answerable"] in said
    assert " ".join(said[3]).startswith("because the target never takes a logged action")
    assert " ".join(said[4]).startswith("next step Do not ship it by this log, which cannot answer: check that")
    shown = split_lines(split_targets(ask("evaluate", "--all")[1])[1])
    assert {"estimator", "DM"} <= {line[0] for line in shown}


def test_json_keeps_the_numbers_and_marks_them(ask):
    _, out, _ = ask("evaluate", "--json")
    marked = {one["target"]: (one["answerable"], one["verdict"]) for one in json.loads(out)["evaluations"]}
    assert marked == {"half": (True, "good"), "never": (False, "not answerable")}
    assert all(isinstance(one["value"], float) for one in json.loads(out)["evaluations"])


def test_differences_to_and_from_what_cannot_be_answered_are_withheld(ask):
    lines = {line[0]: line for line in reversed(split_lines(ask("compare")[1]))}
    assert lines["never"] == ["never", "withheld", "withheld", "not", "answerable", "log", "more"]
    assert "to" in lines["half"]
    lines = {line[0]: line for line in reversed(split_lines(ask("compare", "--baseline", "never")[1]))}
    assert lines["never"] == ["never", "withheld", "baseline", "not", "answerable"]
    assert lines["half"][2:] == ["withheld", "not", "answerable", "log", "more"]
    for baseline, expected in ((), [True, False]), (("--baseline", "never"), [False]):
        found = json.loads(ask("compare", *baseline, "--json")[1])["differences"]
        assert [one["answerable"] for one in found] == expected


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_a_verdict_that_is_worse_than_required_is_exit_code_3(command, form, ask):
    plain = ask(command, *form)
    several = {"good": "good", "undecided": "good or undecided", "caution": "good, undecided or caution"}
    for required, wanted in several.items():
        code, out, err = ask(command, *form, "--require", required)
        assert (code, out) == (3, plain[1])
        last = f"Error: every verdict must be {wanted}, but that on `never` is not answerable."
        assert err == f"{plain[2]}{last}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_verdict_that_is_good_enough_is_an_answer(command, run, unanswerable):
    assert run(command, unanswerable, "--target", "half", "--require", "good")[::2] == (0, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_caution_is_enough_if_it_is_asked_for(command, run, save):
    path = save(group=[row % 5 for row in range(120)])
    codes = [run(command, path, "--require", required)[0] for required in ("good", "caution")]
    assert codes == [3, 0]


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_undecided_is_worse_than_good_and_better_than_caution(command, run, tmp_path):
    """Some 16 of 2,000 decisions have a click: a quarter less and a quarter more both fit the log."""
    rng = np.random.default_rng(0)
    action, clicks = rng.integers(2, size=2000), np.zeros(2000)
    for code in range(2):
        clicks[np.flatnonzero(action == code)[::120]] = 1.0
    table = {"action": np.array(["a", "b"])[action], "reward": clicks, "propensity": np.full(2000, 0.5)}
    table["target"] = np.full(2000, "b")
    path = tmp_path / "small.parquet"
    pa.parquet.write_table(pa.table(table), path)
    codes = [run(command, path, "--require", required)[0] for required in ("good", "undecided", "caution")]
    assert codes == [3, 0, 0]
    said = json.loads(run(command, path, "--json")[1])
    assert said["evaluations"][0]["verdict"] == "undecided"
    assert run(command, path, "--require", "good")[2].endswith("must be good, but that on `target` is undecided.\n")
    assert run("check", path, "--require", "good")[0] == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_other_verdicts_cannot_be_required(command, run, save):
    code, out, err = run(command, save(), "--require", "great")
    assert (code, out, err) == (2, "", "Error: `require` must be `good`, `undecided` or `caution`, got great.\n")
