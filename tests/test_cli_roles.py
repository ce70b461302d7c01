"""The command line on logs of doses, of several loggers and with features of actions, and when a log lacks them."""

import json
import re

import numpy as np
import pytest

from tables import FORMATS, table_of


@pytest.fixture
def doses(tmp_path):
    """Save a log of prices with a column of other numbers, or change it (None leaves a column out)."""
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 80, size=150)
    price = rng.normal(age / 5, 2.0)
    table = {
        "age": age,
        "dose": price,
        "reward": price * (price < age / 5 + 1) + rng.normal(size=150),
        "propensity": np.exp(-(((price - age / 5) / 2.0) ** 2) / 2) / 2.0 / np.sqrt(2 * np.pi),
        "target": age / 5 - 0.5,
        "draws": age[:, None] / 5 + rng.normal(size=(150, 3)),
        "far": age + 500,
        "q": np.ones((150, 2)),
    }

    def write(name="log.parquet", **changes):
        (tmp_path / name).write_bytes(FORMATS[name](table_of(table | changes)))
        return name

    return write


@pytest.fixture
def loggers(save, columns):
    """Save a log of two policies, and return its name."""

    def write(**changes):
        old, new = columns["logging_probs"], columns["target"][:, [1, 0, 2]]
        probs = {"logger_probs.old": old, "logger_probs.new": new}
        return save(**{"logging_probs": None, "logger": ["old", "new"] * 60} | probs | changes).name

    return write


@pytest.fixture
def items(tmp_path):
    """Save features of the actions, and return the name of the file."""
    (tmp_path / "items.csv").write_text("action,size,kind\n2,5,1\n0,3,1\n1,5,0\n7,1,1\n")
    return "items.csv"


@pytest.fixture
def found(run):
    """Return a function that runs a command and returns what `--json` prints."""

    def command(*arguments):
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))

    return command


@pytest.fixture
def said(run):
    """Return a function that runs a command and returns the lines that it prints, without repeated blanks."""

    def command(*arguments):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        return [" ".join(line.split()) for line in out.splitlines() if line.strip()]

    return command


# doses


@pytest.mark.parametrize("name", ["log.parquet", "log.csv", "log.jsonl", "log.arrow"])
def test_a_log_of_doses_is_answered_from_every_format(name, doses, found):
    answer = found("evaluate", doses(name))
    dose = answer["log"].pop("dose")
    assert dose["low"] < dose["high"]
    log = {"file": name, "rows": 150, "kind": "doses", "actions": [], "context": ["age", "far"]}
    assert answer["log"] == log | dict.fromkeys(["groups", "loggers", "action_features"])
    [one] = answer["evaluations"]
    assert one == found("evaluate", doses())["evaluations"][0]
    assert {line["name"].partition("(")[0] for line in one["table"]} == {"DM", "KernelIPS", "KernelDR"}
    assert (one["left_out"], one["diagnostics"]["unsupported_mass"]) == ({}, None)
    assert one["diagnostics"]["bandwidth"] > 0


@pytest.mark.parametrize("kind", ["kernel-ips", "kernel-dr"])
@pytest.mark.parametrize("target", ["target", "draws"])
def test_estimators_of_doses(kind, target, doses, found):
    path = doses(price=[*range(150)])
    answer = found("evaluate", path, "--dose", "price", "--target", target, "--candidates", kind)
    assert answer["log"]["dose"] == {"low": 0, "high": 149}
    assert {line["name"].partition("(")[0].lower() for line in answer["evaluations"][0]["table"]} == {
        kind.replace("-", "")
    }


@pytest.mark.parametrize("selector", ["ocv", "slope", "opera", "kfold-cv"])
def test_selectors_of_doses(selector, doses, said):
    lines = said("evaluate", doses(), "--candidates", "kernel-ips", "--selector", selector)
    assert any(line.startswith("by") and "KernelIPS(bandwidth=" in line for line in lines)


def test_the_terminal_tells_of_doses(doses, said):
    lines = said("evaluate", doses(), "--context", "age")
    assert [line for line in lines if re.fullmatch(r"doses \S+ to \S+, mean \S+", line)]
    assert [line for line in lines if re.fullmatch(r"logging policy densities, logged doses had \S+ to \S+", line)]
    assert [line for line in lines if line.startswith("weights smoothed over doses within ")]
    assert not [line for line in lines if "support" in line or line.startswith("actions")]


def test_check_tells_when_no_logged_dose_is_near(doses, said, found):
    lines = said("check", doses(), "--target", "far", "--target", "draws")
    assert "verdict not answerable" in lines
    assert [line for line in lines if re.match(r"because no logged dose is within \S+ of the target's", line)]
    near, far = found("check", doses(), "--target", "target", "--target", "far")["diagnostics"]
    assert (near["verdict"] != "not answerable", far["effective_rows"]) == (True, 0)


def test_predictions_for_doses_have_a_column_for_the_logged_and_each_of_the_target(doses, found):
    answer = found("evaluate", doses(), "--predictions", "q", "--candidates", "dm")
    assert answer["evaluations"][0]["value"] == 1


# several loggers


@pytest.mark.parametrize("selector", ["pseudo-target", "theory", "opera", "slope"])
def test_a_log_of_several_loggers_is_answered(selector, loggers, found, said):
    command = "evaluate", loggers(), "--selector", selector, "--candidates", "truncated-ips"
    answer = found(*command)
    assert (answer["log"]["loggers"], answer["log"]["context"]) == (["old", "new"], ["age", "height", "pi"])
    assert 30 <= len(answer["evaluations"][0]["table"]) <= 31
    assert {"loggers 2: old, new", "rows 120"} <= set(said(*command))


def test_other_names_for_loggers(loggers, found):
    plain = found("evaluate", loggers())
    renamed = loggers(logger=None, who=["old", "new"] * 60)
    assert found("evaluate", renamed, "--logger", "who")["evaluations"] == plain["evaluations"]


def test_a_mixture_is_called_one_and_shows_its_shares(loggers, found, said):
    command = "evaluate", loggers(), "--selector", "opera", "--candidates", "plain"
    [answer] = found(*command)["evaluations"]
    shares = {line["name"]: line["share"] for line in answer["table"] if line["share"]}
    assert sum(shares.values()) == pytest.approx(1)
    assert len(shares) > 1
    lines = said(*command)
    assert f"by {answer['selected']}, a mixture of 5 candidates" in lines
    percents = {line.split()[0]: line for line in lines if line.endswith(" %")}
    assert set(percents) == set(shares)
    for name, share in shares.items():
        assert percents[name].endswith(f" {100 * share:.0f} %" if share >= 0.005 else " < 1 %")
    assert not [line for line in lines if line.endswith("chosen")]


def test_a_mixture_shows_every_candidate_with_a_share(loggers, found, said):
    command = "evaluate", loggers(), "--selector", "opera", "--candidates", "ips-lambda,dros,cab"
    table = found(*command)["evaluations"][0]["table"]
    lines = said(*command)
    assert sum(line.endswith(" %") for line in lines) == sum(line["share"] > 0 for line in table)
    assert "those with a share and the best of each estimator, among 90 candidates" in lines


def test_one_candidate_is_not_the_best_of_several(loggers, said):
    assert "by IPS, the only candidate" in said("evaluate", loggers(), "--candidates", "ips")


# features of actions


def test_estimators_that_need_features_of_actions(loggers, items, found, said):
    names = "mips,off-cem,policy-convolution,learned-mips,exponential-ips,control-variate-ips"
    command = "evaluate", loggers(), "--action-features", items, "--candidates", names
    answer = found(*command)
    assert (answer["log"]["action_features"], answer["evaluations"][0]["left_out"]) == (2, {})
    kinds = {line["name"].partition("(")[0].lower() for line in answer["evaluations"][0]["table"]}
    assert kinds == {name.replace("-", "") for name in names.split(",")}
    assert "action features 2 for each action" in said(*command)
    assert found("check", loggers(), "--action-features", items)["log"]["action_features"] == 2


def test_what_lacks_features_is_left_out_and_said(loggers, said):
    reason = "left out, because each needs features of the actions, but the log has no `action_features`: MIPS, OffCEM"
    assert reason in said("evaluate", loggers(), "--candidates", "ips,mips,off-cem")


# bad input


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
    "--logger-probs logging_probs": "column `logging_probs` must be objects from logger to probabilities",
    "--action-features none.csv": "in `action_features`, `none.csv` must be a file, but there is none.",
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
    "text": ({"dose": ["cheap", "dear"] * 75}, "", "column `dose` must be numbers, got string."),
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
        "column `t` must be lists like [0.2, 0.8], got 'x', first at row 0.",
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
