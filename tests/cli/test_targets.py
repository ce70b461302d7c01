"""Options that say what a target's column holds: actions that it would take, or probabilities of the logged ones."""

import json
import sys

import numpy as np
import pytest


@pytest.fixture
def found(run):
    """Return a function that runs a command and returns what `--json` prints."""

    def answer(*arguments):
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return answer


@pytest.fixture
def path(save):
    """Return a log whose actions are numbered, with two targets as columns of numbers."""
    rng = np.random.default_rng(3)
    action, chosen = rng.integers(2, size=(2, 120))
    numbers = {"action": action, "chosen": chosen, "agrees": (action == chosen).astype(float)}
    return save(
        **numbers
        | {
            "uniform": None,
            "word": np.where(chosen, "1", "0"),
            "says": ["no"] * 120,
            "logging_probs": None,
            "propensity": [0.5] * 120,
        }
    ).name


def test_actions_and_probabilities_of_the_logged_ones_weigh_alike(path, found):
    options = ["--target", "word", "--target-action", "chosen", "--target-probability", "agrees", "--candidates", "ips"]
    several = found("evaluate", path, *options)["evaluations"]
    assert [one["target"] for one in several] == ["word", "chosen", "agrees"]
    assert len({one["value"] for one in several}) == 1


def test_a_label_is_a_target(path, found):
    answer = found("evaluate", path, "--target", "1", "--target-action", "0", "--candidates", "ips")
    values = [one["value"] for one in answer["evaluations"]]
    assert [one["target"] for one in answer["evaluations"]] == ["1", "0"]
    assert values[0] != values[1]


BAD = {
    "--target chosen": "got 0 and 1 alone, which are labels of actions, too. If they are the actions that the target",
    "--target chosen --target-action chosen": "`target` must be given once each, got `chosen` more than once.",
    "--target-action reward": "column `reward` must have one role, got `reward` and `target`. Name another target.",
    "--target-action nothing": "column `nothing` must be there, or be an action that the target always takes.",
    "--target-probability nothing": "column `nothing` must be there.",
    "--target-probability says": "column `says` must be numbers, got 'no' in 120 of 120 rows",
}


@pytest.mark.parametrize("command", ["evaluate", "check", "compare"])
@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize(("options", "message"), BAD.items(), ids=BAD)
def test_what_is_wrong_is_one_sentence(options, message, engine, command, path, run):
    code, out, err = run(command, path, *options.split(), "--engine", engine)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


POLICIES = """
import numpy as np

def agree(context):
    return np.full((len(context), 2), 0.5)
"""


def test_a_policy_may_be_written_down(path, found, tmp_path, monkeypatch):
    (tmp_path / "policies_on_the_command_line.py").write_text(POLICIES)
    monkeypatch.setattr("sys.path", [*sys.path])
    written = ["uniform", "0.5*always:0 + 0.5*1", "policies_on_the_command_line:agree", "logger"]
    options = [part for text in written for part in ("--target", text)]
    for command in ("evaluate", "compare", "check"):
        for engine in ("memory", "local"):
            more = () if command == "check" else ("--candidates", "ips")
            answer = found(command, path, *options, *more, "--engine", engine)
            several = answer["diagnostics" if command == "check" else "evaluations"]
            assert [one["target"] for one in several] == written
            if command == "evaluate":
                assert len({round(one["value"], 12) for one in several}) == 1


WRONG = {
    "unifrom": "Did you mean `uniform`?",
    "gredy:score": "Did you mean `greedy`?",
    "0.2*uniform + 0.9*1": "the shares of a mixture must sum to 1, got 1.1.",
    "softmax:score:temperature=0": "`temperature` must be a finite number above 0, got 0.0.",
    "greedy:scores": "column `scores` must be there.",
    "nowhere:policy": "There is no module `nowhere`.",
    "policy.pkl": "`target` must be no pickle, which can run any code",
    "skops:nothing.skops": "skops",
    "onnx:nothing.onnx": "onnx",
}


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize(("text", "message"), WRONG.items(), ids=WRONG)
def test_a_policy_that_is_written_wrong_is_one_sentence(text, message, engine, path, run):
    code, out, err = run("evaluate", path, "--target", text, "--engine", engine)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
