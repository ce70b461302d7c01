"""The command line on logs of doses, of several loggers and with features of actions."""

import json
import re

import pytest


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
    log = {"file": name, "rows": 150, "kind": "doses", "actions": [], "context": ["age", "far"], "decisions": 150}
    answer["log"].pop("left_out")
    assert answer["log"].pop("encoded") == {}
    nothing = ["groups", "loggers", "action_features", "fitted_propensities", "kept"]
    assert answer["log"] == log | dict.fromkeys(nothing)
    [one] = answer["evaluations"]
    same = found("evaluate", doses())["evaluations"][0]
    assert one | {"context": None} == same | {"context": None}  # texts of lists are no lists
    assert {line["name"].partition("(")[0] for line in one["table"]} == {"DM", "KernelIPS", "KernelDR"}
    assert (one["left_out"], one["diagnostics"]["unsupported_mass"]) == ({}, 0.0)
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
    assert any(line.startswith("answer by") and "KernelIPS(bandwidth=" in line for line in lines)


def test_the_terminal_tells_of_doses(doses, said):
    lines = said("evaluate", doses(), "--context", "age")
    assert [line for line in lines if re.fullmatch(r"doses \S+ to \S+, mean \S+", line)]
    assert [line for line in lines if re.fullmatch(r"logging policy densities, logged doses had \S+ to \S+", line)]
    [support] = [line for line in lines if "support" in line]
    assert re.fullmatch(
        r"support everything that the target does could be logged; weights are smoothed over doses within \S+",
        support,
    )
    assert not [line for line in lines if line.startswith("actions")]


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
    assert (answer["log"]["loggers"], answer["log"]["context"]) == (["old", "new"], ["age", "height"])
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
    [by] = [line for line in lines if line.startswith("answer by")]
    assert f"a weighted mean of {len(shares)} out of 5 estimators: " in by
    percents = {line.split()[0]: line for line in said(*command, "--all") if re.search(r"e\S+ <?\d+%$", line)}
    assert set(percents) == set(shares)
    for name, share in shares.items():
        shown = f"{100 * share:.0f}%" if share >= 0.005 else "<1%"
        assert percents[name].endswith(f" {shown}")
        assert f"{shown} {name}" in by


def test_a_mixture_shows_every_candidate_with_a_share(loggers, found, said):
    command = "evaluate", loggers(), "--selector", "opera", "--candidates", "ips-lambda,drps,cab,switch-dr,ips,dm"
    table = found(*command)["evaluations"][0]["table"]
    lines = said(*command, "--all")
    assert sum(bool(re.search(r"e\S+ <?\d+%$", line)) for line in lines) == sum(line["share"] > 0 for line in table)
    [by] = [line for line in lines if line.startswith("answer by")]
    others = sum(line["share"] > 0 for line in table) - 3
    assert others > 0
    assert by.endswith(f", {others} other" + "s" * (others > 1))


def test_one_candidate_is_not_the_best_of_several(loggers, said):
    assert "answer by IPS, the only candidate" in said("evaluate", loggers(), "--candidates", "ips")


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
    reason = "left out MIPS, OffCEM: each needs features of the actions, but the log has no `action_features`"
    assert reason in said("evaluate", loggers(), "--candidates", "ips,mips,off-cem")
