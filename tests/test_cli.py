"""The command line: every option, and for every kind of bad input exit code 2, one sentence on stderr, nothing else."""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from counterfold import registry
from counterfold.experiments import demo

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


# answers


def test_evaluate_prints_the_log_the_candidates_the_answer_and_the_diagnostics(run, save):
    code, out, err = run("evaluate", save())
    assert (code, err) == (0, "")
    said = lines(out)
    assert sum(line[-1] == "chosen" for line in lines(run("evaluate", save(), "--selector", "ocv")[1])) == 1
    assert ["rows", "120"] in said
    assert ["context", "3:", "age,", "height,", "pi"] in said
    assert {"IPS", "SNIPS", "DM", "DR", "SNDR"} <= {line[0] for line in said}
    assert sum(line[-1] == "%" for line in said) > 1
    assert {"value", "by", "verdict", "because", "effective", "largest", "mean"} <= {line[0] for line in said}


def test_json_has_what_the_table_has(evaluated, run, save):
    found = evaluated("--selector", "ocv")
    log = {"file": str(save()), "rows": 120, "kind": "labels", "actions": ["0", "1", "2"]}
    missing = dict.fromkeys(["dose", "groups", "loggers", "action_features"])
    assert found["log"] == log | {"context": ["age", "height", "pi"]} | missing
    [answer] = found["evaluations"]
    keys = "target value stderr interval logged uplift selected selector seed verdict diagnostics left_out table"
    assert set(answer) == set(keys.split())
    assert answer["interval"]["low"] < answer["value"] < answer["interval"]["high"]
    [chosen] = [line for line in answer["table"] if line["chosen"]]
    assert (chosen["name"], chosen["value"]) == (answer["selected"], answer["value"])
    [shown] = [float(line[1]) for line in lines(run("evaluate", save(), "--selector", "ocv")[1]) if line[0] == "value"]
    assert shown == pytest.approx(answer["value"], abs=0.05 * answer["stderr"])


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
    assert answer == evaluated("--reward-model", "cross-fitted:model=shared-ridge")["evaluations"][0]


def test_all_shows_every_candidate(run, save):
    short, long = (lines(run("evaluate", save(), "--candidates", "paper", *more)[1]) for more in ([], ["--all"]))
    assert sum(line[0].startswith("DRos(") for line in short) == 1
    assert sum(line[0].startswith("DRos(") for line in long) == 30


SELECTORS = {
    "": "Ladder(boldness=1.0)",
    "--selector default": "Ladder(boldness=1.0)",
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
    assert f"left out, because each {needs}: DM, DR, SNDR" in out
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


@pytest.mark.parametrize("seed", range(5))
def test_demo_knows_the_truth_and_finds_it(seed, run):
    found = strict(run("demo", "--json", "--seed", seed)[1])
    assert (found["truth"], found["seed"]) == (demo.digits(seed).truth, seed)
    assert found["interval"]["low"] <= found["truth"] <= found["interval"]["high"]
    assert found["verdict"] == "good"


def test_demo_tells_the_story(run):
    code, out, _ = run("demo")
    assert code == 0
    assert {"truth", "value", "verdict", "IPS", "DR"} <= {line[0] for line in lines(out)}
    found = strict(run("demo", "--json")[1])
    inside = found["interval"]["low"] <= found["truth"] <= found["interval"]["high"]
    assert f"{'inside' if inside else 'outside'} the interval" in out


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


# bad input


def refused(code, out, err):
    """Say whether there is one sentence on stderr, and nothing else."""
    return code == 2 and not out and re.fullmatch(r"Error: [^\n]+[.?]\n", err)


BAD = {
    "missing column": ({"action": None}, "", "column `action` must be there. Found: age, height, reward,"),
    "missing target": ({}, "--target targte", "column `targte` must be there. Did you mean `target`? Found: "),
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
def test_a_bad_file_gets_one_sentence_from_the_installed_command(content, tmp_path):
    (tmp_path / "log.jsonl").write_bytes(content)
    command = [Path(sys.executable).with_name("counterfold"), "check", "log.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused(done.returncode, done.stdout, done.stderr)


# odd input


@pytest.mark.parametrize("name", ["[/b]", "[red]", ":smile:", "größe 1"])
def test_names_are_shown_as_they_are(name, run, save):
    path = save(f"{name.replace('/', '')}.parquet", **{name: [1, 2] * 60})
    code, out, err = run("evaluate", path, "--candidates", "ips")
    assert (code, err) == (0, "")
    assert f"age, height, pi, {name}" in out


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
