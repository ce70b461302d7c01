"""The command compare: differences to the log and to another target, on every engine, and what it refuses."""

import json
import re

import pytest


@pytest.fixture
def compared(run, save):
    """Return a function that compares targets of the saved log and returns what `--json` prints."""

    def compare(*options):
        code, out, err = run("compare", save(), *options, "--json")
        assert (code, err) == (0, "")
        return json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))

    return compare


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_differences_to_the_log_and_to_another_target(compared, engine):
    targets = ("--target", "target", "--target", "pi", "--engine", engine)
    found = compared(*targets)
    values = {one["target"]: one["value"] for one in found["evaluations"]}
    gaps = {}
    assert found["baseline"] == "log"
    for one, answer in zip(found["differences"], found["evaluations"], strict=True):
        # Differences are shrunk less towards the log than values are.
        assert one["value"] == pytest.approx(values[one["target"]] - answer["logged"], abs=one["stderr"])
        gaps[one["target"]] = one["value"]
        assert one["interval"]["low"] <= one["value"] <= one["interval"]["high"]
    [there] = compared(*targets, "--baseline", "pi")["differences"]
    [back] = compared(*targets, "--baseline", "target")["differences"]
    assert there["value"] == pytest.approx(gaps["target"] - gaps["pi"]) == pytest.approx(-back["value"])
    assert there["stderr"] == pytest.approx(back["stderr"])


def test_compare_answers_as_evaluate_does_with_the_same_options(compared, run, save):
    options = ("--validator", "ips", "--splits", "4", "--candidates", "ips,dr")
    code, out, _ = run("evaluate", save(), *options, "--json")
    assert code == 0
    assert compared(*options)["evaluations"] == json.loads(out)["evaluations"]


def test_a_baseline_must_be_one_of_several_targets(run, save):
    code, out, err = run("compare", save(), "--baseline", "target")
    alone = "`baseline` must be one of several targets, got target alone: nothing to compare."
    assert (code, out, err) == (2, "", f"Error: {alone}\n")


def test_a_baseline_need_not_be_repeated_as_a_target(compared, run, save):
    written = compared("--target", "target", "--target", "pi", "--baseline", "pi")
    assert compared("--target", "target", "--baseline", "pi") == written
    assert compared("--baseline", "pi") == written
    code, out, err = run("compare", save(), "--baseline", "pie")
    assert (code, out) == (2, "")
    assert err.startswith("Error: column `pie` must be there, or be an action that the target always takes. Did you")


def test_log_is_the_name_of_the_log_alone(compared, run, save):
    assert compared("--baseline", "log") == compared()
    code, out, err = run("compare", save(), "--target", "log", "--target", "target")
    assert (code, out) == (2, "")
    assert err.startswith("Error: `targets` must have other names than `log`, which is what the log's own policy is")


def test_the_terminal_has_a_line_for_every_policy(run, save):
    code, out, err = run("compare", save(), "--target", "target", "--target", "pi", "--baseline", "pi")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    [log] = [row for row in rows if row[:1] == ["log"]]
    [baseline] = [row for row in rows if row[:1] == ["pi"]]
    [target] = [row for row in rows if row[:1] == ["target"] and "to" in row]
    assert (len(log), baseline[2]) == (2, "baseline")
    low, high = target[3], target[5]
    assert float(low) < float(target[2]) < float(high)
    assert f"to pi, 95 % interval {low} to {high}" in out
    assert rows.index(["policy", "target"]) < rows.index(log)


def test_the_table_says_what_speaks_against_a_policy(run, save):
    code, out, _ = run("compare", save(), "--target", "target")
    assert code == 0
    assert "target: the log is worth only " in out


def test_guards_are_told_and_bad_ones_are_refused(run, save):
    rewards = {"cost": [float(row % 7) for row in range(120)]}
    path = save(**rewards)
    options = "--target", "target", "--target", "pi"
    code, out, err = run("compare", path, *options, "--guard", "cost <= +50%", "--guard", "cost >= 0")
    assert (code, err) == (0, "")
    keep = "keep to all guards with a probability of at least 95 %, all of them at once."
    assert re.search(f"(target, pi|pi, target) {keep}", " ".join(out.split()))
    rows = [line.split() for line in out.splitlines()]
    assert rows.count(["policy", "value", "may", "be", "limit", "holds", "verdict"]) == 2
    start = rows.index(["all", "guards"])
    assert [row[0] for row in rows[start + 1 : start + 4]] == ["policy", "target", "pi"]
    told = " ".join(run("compare", path, *options, "--guard", "cost <= 1")[1].split())
    assert "No policy keeps to all guards with a probability of at least 95 %. So none is chosen." in told
    assert "0 % fails" in told
    alone = " ".join(run("compare", path, *options, "--baseline", "pi", "--guard", "cost <= 1")[1].split())
    assert alone.startswith("guards target does not keep to all guards with a probability of at least 95 %. policy")
    code, out, err = run("compare", path, *options, "--guard", "cost <= 50%")
    wanted = "`guards` must have `+50%` or `-50%` for a change, or `0.5` for a level, got 'cost <= 50%'."
    assert (code, out, err) == (2, "", f"Error: {wanted}\n")
    code, out, err = run("compare", path, *options, "--guard", "cost <= +1", "--reward", "reward", "--reward", "cost")
    assert (code, out) == (2, "")
    assert err == "Error: `guards` must be given with one `reward` to decide by, got 2 rewards.\n"


def test_several_policies_are_told_with_what_holds_for_all_at_once(run, save):
    code, out, err = run("compare", save(), "--target", "target", "--target", "pi")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert rows[0][0] == "choice"
    assert ["policy", "value", "difference", "for", "all", "at", "once", "verdict", "next", "step"] in rows
    start = rows.index(["which", "is", "the", "best"])
    assert rows[start + 1] == ["policy", "probability", "may", "be"]
    assert {row[0] for row in rows[start + 2 : start + 5]} == {"log", "target", "pi"}


def test_a_pipeline_can_require_that_a_policy_keeps_to_guards(run, save):
    path = save(cost=[float(row % 7) for row in range(120)])
    asked = "compare", path, "--target", "target", "--target", "pi", "--require", "caution"
    assert run(*asked, "--guard", "cost <= 50")[0] == 0
    code, out, err = run(*asked, "--guard", "cost <= 1")
    assert (code, err) == (3, "Error: a policy must keep to all guards, but none does.\n")
    assert "No policy keeps to all guards" in out
