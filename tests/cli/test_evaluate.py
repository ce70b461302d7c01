"""The commands evaluate, check and demo: every option, and what they print."""

import json
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

from counterfold.base import registry
from counterfold.simulation import draw_digits
from json_schema import validate

NAMES = {name for folder in ("estimators", "selectors", "models") for name in registry.names(folder)}


@pytest.fixture
def evaluated(run, save):
    """Return a function that evaluates the saved log and returns what `--json` prints."""
    path = save()

    def evaluate(*options):
        code, out, err = run("evaluate", path, *options, "--json")
        assert (code, err) == (0, "")
        return strict(out)

    return evaluate


def strict(text):
    """Return JSON that holds no NaN and no infinity, which other languages refuse."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))


def lines(out):
    return [line.split() for line in out.splitlines() if line.strip()]


def test_evaluate_prints_the_answer_first_and_candidates_if_asked(run, save):
    code, out, err = run("evaluate", save())
    assert (code, err) == (0, "")
    said = lines(out)
    assert ["rows", "120"] in said
    assert ["context", "2:", "age,", "height"] in said
    assert ["pi:", "it", "depends", "on", "the", "action"] in [line[:6] for line in said]
    first = [line[0] for line in said]
    order = ["target", "value", "difference", "verdict", "because", "next", "findings", "checks", "estimators"]
    assert sorted(order, key=first.index) == order
    assert said.index(["what", "the", "log", "holds"]) > first.index("estimators")
    assert not {"IPS", "SNIPS", "DM", "DR"} & set(first)
    shown = lines(run("evaluate", save(), "--all")[1])
    assert {"IPS", "SNIPS", "DM", "DR", "SNDR", "largest", "mean"} <= {line[0] for line in shown}
    assert sum(line[-1].endswith("%") for line in shown) > 1
    chosen = [line for line in lines(run("evaluate", save(), "--selector", "ocv", "--all")[1]) if line[-1] == "100%"]
    assert len(chosen) == 1


def test_json_has_what_the_table_has(evaluated, run, save):
    found = evaluated("--selector", "ocv")
    log = {"file": str(save()), "rows": 120, "kind": "labels", "actions": ["0", "1", "2"]}
    missing = dict.fromkeys(["dose", "groups", "loggers", "action_features", "fitted_propensities", "kept"])
    assert set(found["log"].pop("left_out")) == {"pi", "user", "q", "uniform"}
    assert found["log"].pop("encoded") == {}
    assert found["log"] == log | {"context": ["age", "height"], "decisions": 120} | missing
    [answer] = found["evaluations"]
    keys = "target value stderr interval logged uplift selected selector seed verdict answerable next_step diagnostics"
    assert set(answer) == {*keys.split(), "robustness", "left_out", "context", "table", "segments"}
    assert answer["interval"]["low"] < answer["value"] < answer["interval"]["high"]
    [chosen] = [line for line in answer["table"] if line["chosen"]]
    assert (chosen["name"], chosen["value"]) == (answer["selected"], answer["value"])
    [shown] = [float(line[1]) for line in lines(run("evaluate", save(), "--selector", "ocv")[1]) if line[0] == "value"]
    assert shown == pytest.approx(answer["value"], abs=0.05 * answer["stderr"])


def test_segments_are_shown_and_in_json(evaluated, run, save):
    found = evaluated("--by", "age:2", "--by", "height:3")
    told = found["evaluations"][0]["segments"]
    assert [(one["column"], len(one["table"])) for one in told] == [("age", 2), ("height", 3)]
    code, text, _ = run("evaluate", save(), "--by", "age:2")
    assert code == 0
    assert "by age" in text
    assert all(line["segment"] in text for line in told[0]["table"])
    code, text, error = run("check", save(), "--by", "age")
    assert (code, text) == (2, "")
    assert "`by` must be for `evaluate` or `compare`" in error


def test_several_targets_are_each_answered_and_left_out_of_the_context(evaluated):
    found = evaluated("--target", "target", "--target", "uniform", "--target", "pi")
    assert [answer["target"] for answer in found["evaluations"]] == ["target", "uniform", "pi"]
    assert found["log"]["context"] == ["age", "height"]
    assert len({answer["value"] for answer in found["evaluations"]}) == 3
    assert "DR" in found["evaluations"][2]["left_out"]


CANDIDATES = {
    "--candidates plain": ["IPS", "SNIPS", "DM", "DR", "SNDR"],
    "--candidates dr,snips": ["DR", "SNIPS"],
    "--candidates dr --candidates SNIPS": ["DR", "SNIPS"],
    "--candidates ips,ips": ["IPS", "IPS #2"],
    "--candidates switch-dr:threshold=5,ips": ["SwitchDR(threshold=5)", "IPS"],
    "--candidates plain --reward-model none": ["IPS", "SNIPS"],
}


@pytest.mark.parametrize("options", CANDIDATES)
def test_candidates(options, evaluated):
    [answer] = evaluated(*options.split())["evaluations"]
    assert [line["name"] for line in answer["table"]] == CANDIDATES[options]


def test_the_default_set_is_the_plain_one_with_two_grids(evaluated):
    [answer] = evaluated()["evaluations"]
    kinds = [line["name"].partition("(")[0] for line in answer["table"]]
    assert kinds == ["IPS", "SNIPS", "DM", "DR", "SNDR"] + ["TruncatedSNIPS"] * 4 + ["TruncatedSNDR"] * 4
    assert answer == evaluated("--candidates", "default", "--selector", "ladder")["evaluations"][0]
    assert answer == evaluated("--reward-model", "cross-fitted:model=pooled-ridge")["evaluations"][0]


def test_all_shows_every_candidate(run, save):
    short, long = (lines(run("evaluate", save(), "--candidates", "paper", *more)[1]) for more in ([], ["--all"]))
    assert sum(line[0].startswith("DRos(") for line in short) == 0
    assert any(line[0] == "agreement" and line[-3:] == ["(--all", "lists", "them)"] for line in short)
    assert sum(line[0].startswith("DRos(") for line in long) == 30


SELECTORS = {
    "": "Ladder(boldness=None)",
    "--selector default": "Ladder(boldness=None)",
    "--selector ladder:boldness=2": "Ladder(boldness=2.0)",
    "--selector ocv": "OCV(validator=DR(), splits=10,",
    "--splits 4": "OCV(validator=DR(), splits=4,",
    "--validator ips": "OCV(validator=IPS(), splits=10,",
    "--selector ocv --reward-model none": "OCV(validator=IPS(), splits=10,",
    "--selector ocv:rule=mean:split_ratio=0.5": "OCV(validator=DR(), splits=10, split_ratio=0.5, rule='mean'",
    "--validator switch-dr:threshold=5": "OCV(validator=SwitchDR(threshold=5.0), splits=10,",
    "--selector kfold-cv:folds=5": "KFoldCV(validator=DR(), folds=5,",
    "--selector kfold-cv --validator snips": "KFoldCV(validator=SNIPS(), folds=10,",
}


@pytest.mark.parametrize("options", SELECTORS)
def test_selectors(options, evaluated):
    assert evaluated(*options.split())["evaluations"][0]["selector"].startswith(SELECTORS[options])


def test_reward_models_and_predictions(evaluated, columns):
    lasso = "per-action:estimator=sklearn.linear_model.Lasso"
    models = [
        ["--reward-model", name]
        for name in ("ridge-per-action", "cross-fitted:model=ridge-per-action:alpha=1e9:folds=3", lasso)
    ]
    choices = [*models, ["--predictions", "q"]]
    values = [evaluated("--candidates", "dm", *choice)["evaluations"][0]["value"] for choice in choices]
    assert len(set(values)) == 4
    assert values[3] == pytest.approx((columns["target"] @ [0.5, 1.0, 1.5]).mean(), rel=1e-12)


def test_groups_levels_contexts_and_seeds(evaluated):
    plain = evaluated()["evaluations"][0]
    grouped = evaluated("--group", "user", "--candidates", "ips")
    assert grouped["log"]["groups"] == 25
    assert grouped["evaluations"][0]["stderr"] != evaluated("--candidates", "ips")["evaluations"][0]["stderr"]
    wide, narrow = (evaluated("--level", level)["evaluations"][0]["interval"] for level in ("0.99", "0.5"))
    assert wide["low"] < plain["interval"]["low"] < narrow["low"] < narrow["high"] < plain["interval"]["high"]
    assert evaluated("--context", "height,age")["log"]["context"] == ["height", "age"]
    assert evaluated("--context", "age", "--context", "height")["log"]["context"] == ["age", "height"]
    scores = [
        [line["score"] for line in evaluated("--seed", seed, "--selector", "ocv")["evaluations"][0]["table"]]
        for seed in (0, 0, 1)
    ]
    assert scores[0] == scores[1] != scores[2]


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["table", "json"])
def test_threads_never_change_the_output(form, run, save):
    one, two = (run("evaluate", save(), "--candidates", "paper", "--threads", n, *form) for n in (1, 2))
    assert one == two
    assert one[0] == 0


def test_what_was_left_out_is_said_once_with_its_reason(run, save):
    _, out, _ = run("evaluate", save(), "--target", "pi", "--group", "user")
    needs = "needs the target's probabilities of all actions, but only those of the logged actions were given"
    assert f"DM, DR, SNDR: each {needs}" in out.replace(", TruncatedSNDR", "")
    assert ["groups", "25"] in lines(out)


def test_check_says_whether_the_log_can_answer(run, save):
    code, out, err = run("check", save(), "--target", "target", "--target", "pi")
    assert (code, err) == (0, "")
    assert [line for line in lines(out) if line in (["target"], ["pi"])] == [["target"], ["pi"]]
    assert sum(line[0] == "verdict" for line in lines(out)) == 2
    [found] = strict(run("check", save(), "--json")[1])["diagnostics"]
    assert (found["target"], found["rows"], found["unsupported_mass"]) == ("target", 120, 0)
    assert found["verdict"] in {"good", "caution", "not answerable"}


def test_target_mass_without_support_is_a_warning_on_stderr(run, save):
    never = {"action": [0, 1] * 60, "logging_probs": [[0.5, 0.5, 0.0]] * 120, "target": [[0.4, 0.4, 0.2]] * 120}
    code, out, err = run("evaluate", save(**never), "--json")
    assert code == 0
    assert re.fullmatch(
        r"Warning: `target`: the target puts 20\.00% of its probability, in 120 of 120 rows, .*[^.]\.\n", err
    )
    assert strict(out)["evaluations"][0]["diagnostics"]["unsupported_mass"] == pytest.approx(0.2)
    path = save(**never, cost=[float(row % 7) for row in range(120)])
    assert run("evaluate", path, "--reward", "reward", "--reward", "cost", "--json")[2] == err


@pytest.mark.parametrize("seed", range(5))
def test_demo_knows_the_truth_and_finds_it(seed, run):
    found = strict(run("demo", "--json", "--seed", seed)[1])
    assert (found["truth"], found["seed"]) == (draw_digits(seed).truth, seed)
    assert found["interval"]["low"] <= found["truth"] <= found["interval"]["high"]
    assert found["verdict"] == "good"
    validate(found, "demo")


def test_demo_tells_the_story_that_the_docs_show(run, monkeypatch, request):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run("demo")
    assert (code, err) == (0, "")
    page = (request.config.rootpath / "docs" / "answer.md").read_text(encoding="utf-8")
    shown = "\n".join(line.rstrip() for line in out.splitlines())
    assert f"```text\n{shown.rstrip()}\n```" in page


def test_version(run):
    assert run("--version") == (0, f"{version('counterfold')}\n", "")


def test_help_lists_every_command_and_every_name(run):
    assert {"demo", "evaluate", "check"} <= set(re.findall(r"\w+", run("--help")[1]))
    words = set(re.findall(r"[\w-]+", run("evaluate", "--help")[1]))
    assert NAMES | {"default", "plain", "paper", "none"} <= words


def test_help_imports_nothing_heavy():
    report = "atexit.register(lambda: print({'numpy', 'pyarrow', 'sklearn'} & set(sys.modules)))"
    script = f"import atexit, sys, counterfold.cli; {report}; sys.argv[1:] = ['--help']; counterfold.cli.main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
