"""The command line when a log lacks doses, loggers or features of actions that the options need."""

import json
import re

import numpy as np
import pytest


def refused(code, out, err):
    return code == 2 and not out and re.fullmatch(r"Error: [^\n]+[.?]\n", err)


LACKING = {
    "--candidates mips": "MIPS needs features of the actions, but the log has no `action_features`",
    "--candidates off-cem": "OffCEM needs features of the actions",
    "--candidates kernel-ips": "KernelIPS is for doses, but the actions of this log are labels",
    "--selector pseudo-target": "the selector PseudoTarget needs a log of several policies, but this one has no",
    "--selector theory": "Theory tunes one estimator at a time, got 7: DM, DR, IPS, SNDR, SNIPS, ....",
    "--selector theory --candidates plain": "Theory tunes one estimator at a time, got 5: DM, DR, IPS, SNDR, SNIPS.",
    "--selector theory --candidates ips": "IPS has no tuning rule of its own; use another selector.",
    "--validator kernel-dr": "the validator KernelDR",
    "--reward-model ridge-on-dose": "`reward_model` must suit actions that are labels, got RidgeOnDose.",
    "--dose age": "a log of doses must have `propensity`, the probability density of each, got none.",
    "--dose age --action action": "a log must have `action`",
    "--logger user": "`logger` (column `user`) and `logger_probs` must come together",
    "--logger-probs logging_probs": "column `logging_probs` must have one role, got `logger_probs` and",
    "--action-features none.csv": "in `action_features`, `none.csv` must be a file or folder, but there is none.",
    "--action-features log.parquet": "in `action_features`, column `action` must hold each action once, got",
    "--candidates learned-mips --target pi": "LearnedMIPS needs the target's probabilities of all actions",
}


@pytest.mark.parametrize("options", LACKING)
def test_what_a_log_of_labels_lacks_is_one_sentence(options, run, save, tmp_path):
    path = save()
    code, out, err = run("evaluate", path.name, *options.split())
    assert refused(code, out, err), err
    assert LACKING[options] in err
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("option", ["by", "context", "ignore", "actions"])
def test_a_text_without_a_name_is_refused(option, run, save):
    for text in ("", " , "):
        code, out, err = run("evaluate", save(), f"--{option}", text)
        assert (code, out, err) == (2, "", f"Error: `{option}` must hold a name, got '{text}'.\n")


def test_full_probabilities_are_asked_for_by_name(run, save, items):
    path = save(logging_probs=None, propensity=[0.5] * 120)
    code, out, err = run("evaluate", path, "--action-features", items, "--candidates", "mips")
    assert refused(code, out, err)
    assert "MIPS needs the logging policy's probabilities of all actions, but only propensities were given" in err


BAD_DOSES = {
    "dr": ({}, "--candidates dr", "DR is for actions that are labels, but those of this log are doses"),
    "mips": ({}, "--candidates mips", "MIPS is for actions that are labels"),
    "validator": ({}, "--validator ips", "the validator IPS is for actions that are labels"),
    "selector": ({}, "--selector pseudo-target", "the selector PseudoTarget is for actions that are labels"),
    "model": ({}, "--reward-model ridge-per-action", "`reward_model` must suit actions that are doses, got RidgePerA"),
    "no rule": ({}, "--selector theory --candidates kernel-ips", "KernelIPS has no tuning rule of its own"),
    "predictions": ({}, "--predictions draws", "`reward_model` (column `draws`) must predict the logged dose and each"),
    "features": ({}, "--action-features log.parquet", "`action_features` goes with `action`, got it with `dose`."),
    "actions": ({}, "--actions 1,2", "`actions` goes with `action`, got it with `dose`."),
    "probabilities": ({}, "--logging-probs draws", "`logging_probs` goes with `action`, got it with `dose`."),
    "both": ({}, "--action age --dose dose", "a log must have `action`"),
    "nan": ({"dose": [1.0, np.nan] * 75}, "", "`dose` must be finite, got nan in 75 of 150 rows, first at row 1."),
    "text": ({"dose": ["cheap", "dear"] * 75}, "", "column `dose` must be numbers, got 'cheap' in 150 of 150 rows"),
    "zero density": (
        {"propensity": [0.5, 0.0] * 75},
        "",
        "`propensity` must be a probability density of at least 1e-30",
    ),
    "no density": ({"propensity": None}, "", "a log of doses must have `propensity`"),
    "nan target": ({"t": [1.0, None] * 75}, "--target t", "`target` (column `t`) must be finite, got nan in 75 of 150"),
    "text target": (
        {"t": ["x"] * 150},
        "--target t",
        "`target` (column `t`) must be numbers, got 'x' in 150 of 150 rows, first at row 0.",
    ),
    "ragged": (
        {"t": [[1.0, 2.0], [1.0]] * 75},
        "--target t",
        "`t` must be lists of one length, 2 as in row 0, got 1 in",
    ),
    "no target": ({"target": None}, "", "column `target` must be there."),
}


@pytest.mark.parametrize(("changes", "options", "message"), BAD_DOSES.values(), ids=BAD_DOSES)
def test_what_a_log_of_doses_lacks_is_one_sentence(changes, options, message, run, doses, tmp_path):
    path = doses(**changes)
    code, out, err = run("evaluate", path, *options.split())
    assert refused(code, out, err), err
    assert message in err
    assert [one.name for one in tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("command", ["evaluate", "check"])
def test_both_commands_take_every_option_of_a_log(command, run):
    words = set(re.findall(r"--[\w-]+", run(command, "--help")[1]))
    columns = "target action dose reward propensity logging-probs logger logger-probs context group available"
    assert {f"--{name}" for name in [*columns.split(), "actions", "action-features", "json", "seed"]} <= words


EXTREME = {
    "huge doses": {"dose": [1e200, -1e200] * 75},
    "large doses": {"dose": [1e59, -1e59] * 75},
    "tiny doses": {"dose": [1e-200, 2e-200] * 75},
    "two doses": {"dose": [1, 2] * 75},
    "huge densities": {"propensity": [1e200] * 150},
    "tiny densities": {"propensity": [1e-29] * 150},
    "huge target": {"target": [1e59] * 150},
    "one draw": {"target": [[1.0]] * 150},
    "no draws": {"target": [[]] * 150},
}


@pytest.mark.parametrize("changes", EXTREME.values(), ids=EXTREME)
def test_extreme_doses_are_refused_or_answered_but_never_crash(changes, run, doses):
    code, out, err = run("evaluate", doses(**changes), "--json")
    assert refused(code, out, err) or (code == 0 and json.loads(out, parse_constant=pytest.fail)), err
    assert "overflow" not in err
    assert "Warning" not in err
