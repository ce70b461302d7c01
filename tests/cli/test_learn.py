"""The command `learn`: a policy in a file, an answer on the screen or as JSON, and nothing where it is refused."""

import json

import numpy as np
import pytest

import counterfold as cf

FAST = "--learners", "greedy-learner"


@pytest.fixture
def offers(save):
    """Save a log in which the best action depends on the age, and return its name."""
    rng = np.random.default_rng(0)
    age, action = rng.normal(size=120), np.array(["red", "green", "blue"])[rng.integers(3, size=120)]
    reward = np.where(action == "red", age, np.where(action == "blue", -age, 0.0)) + rng.normal(size=120) / 4
    known = {"age": age, "height": rng.normal(size=120), "action": action, "reward": reward}
    return save(**known, logging_probs=None, target=None, propensity=np.full(120, 1 / 3)).name


def test_a_policy_is_learnt_written_and_evaluated(offers, run, tmp_path):
    code, out, err = run("learn", offers, *FAST, "--out", "policy.skops")
    assert (code, err) == (0, "")
    assert "GreedyLearner beats the log" in " ".join(out.split())
    assert "written to policy.skops" in out
    assert "what the log holds" in out
    assert (tmp_path / "policy.skops").stat().st_size > 0
    code, out, err = run("evaluate", offers, "--target", "skops:policy.skops", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["evaluations"][0]["uplift"]["interval"]["low"] > 0


def test_names_are_whole_at_80_columns_and_all_checks_are_shown_on_demand(offers, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    asked = "learn", offers, "--out", "policy.skops"
    short = run(*asked, *FAST)[1]
    assert "--all shows the numbers" in " ".join(short.split())
    whole = run(*asked, "--learners", "softmax-learner", "--share", "0.5", "--all")[1]
    assert "0.5 * SoftmaxLearner + imitation" in whole
    assert "--all" not in whole


def test_json_says_it_all_and_a_report_is_written(offers, run, tmp_path):
    code, out, err = run("learn", offers, *FAST, "--out", "policy.skops", "--json", "--report", "report.html")
    assert code == 0
    assert err == "The report is in report.html.\n"
    answer = json.loads(out)
    assert answer["beats_log"]
    assert answer["out"] == "policy.skops"
    assert answer["policy"]["actions"] == ["blue", "green", "red"]
    assert answer["evaluation"] == answer["attempt"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The learnt policy would earn" in page
    assert "from log.parquet" in page
    assert "counterfold learn log.parquet" in page


def test_the_best_attempt_is_kept_on_demand_though_nothing_beats_the_log(save, run, tmp_path):
    rng = np.random.default_rng(3)
    known = {"age": rng.normal(size=120), "action": np.array(["red", "green"])[rng.integers(2, size=120)]}
    noise = {"reward": rng.normal(size=120), "propensity": np.full(120, 0.5)}
    log = save(**known, **noise, logging_probs=None, target=None).name
    code, out, _ = run("learn", log, *FAST, "--share", "1", "--out", "policy.skops", "--attempt", "attempt.skops")
    assert (code, "policy.skops was not written, because nothing beats the log" in " ".join(out.split())) == (0, True)
    assert "written to attempt.skops" in out
    assert not (tmp_path / "policy.skops").exists()  # nobody should ship an imitation of what they have
    policy = cf.Skops(tmp_path / "attempt.skops").model
    taken = policy.predict_proba({name: [-1.0, 1.0] for name in policy.features.names})
    assert set(taken.max(axis=1)) == {1.0}  # it is greedy
    (tmp_path / "policy.skops").write_text("an older one")
    answer = json.loads(run("learn", log, *FAST, "--share", "1", "--out", "policy.skops", "--json")[1])
    assert (answer["beats_log"], answer["out"]) == (False, None)
    assert (tmp_path / "policy.skops").read_text() == "an older one"
    (tmp_path / "sub").mkdir()
    code, _, err = run("learn", log, *FAST, "--out", "policy.skops", "--attempt", "sub/../policy.skops")
    assert (code, "`attempt` must be another file than `out`" in err) == (2, True)


def test_nothing_is_written_if_the_report_fails(offers, run, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    asked = "learn", offers, *FAST, "--out", "policy.skops"
    monkeypatch.setattr("counterfold.report.html.page.render", fail)
    before = {one.name for one in tmp_path.iterdir()}
    code, out, _ = run(*asked, "--report", "report.html")
    assert (code != 0, out) == (True, "")
    assert {one.name for one in tmp_path.iterdir()} == before
    (tmp_path / "policy.skops").write_text("an older one")
    run(*asked, "--report", "report.html")
    assert (tmp_path / "policy.skops").read_text() == "an older one"
    assert run(*asked)[0] == 0
    assert (tmp_path / "policy.skops").stat().st_size > len("an older one")


def test_what_is_required_of_the_verdict(offers, run):
    asked = "learn", offers, *FAST, "--out", "policy.skops", "--json"
    verdict = json.loads(run(*asked)[1])["evaluation"]["verdict"]
    assert verdict == "caution"  # there are few rows
    assert run(*asked, "--require", "caution")[0] == 0
    code, _, err = run(*asked, "--require", "good")
    assert (code, err) == (3, "Error: every verdict must be good, but that on `policy` is caution.\n")
    assert run(*asked, "--require", "excellent")[0] == 2


def test_a_pipeline_can_require_a_gain(offers, run, tmp_path):
    asked = "learn", offers, *FAST, "--out", "policy.skops"
    assert run(*asked, "--reward", "height", "--report", "report.html")[0] == 0
    assert "<strong>Nothing</strong> that was learnt from this log beats today safely." in (
        tmp_path / "report.html"
    ).read_text(encoding="utf-8")
    code, out, err = run(*asked, "--reward", "height", "--require", "caution")
    assert "Nothing beats the log safely" in " ".join(out.split())
    assert "the best attempt" in out
    assert (code, err) == (3, "Error: the policy must beat the log, but nothing does safely.\n")


def test_large_logs_say_how_many_rows_were_learnt_from(offers, run):
    asked = "learn", offers, *FAST, "--out", "policy.skops", "--engine", "local"
    code, out, err = run(*asked)
    assert (code, err) == (0, "")
    answer = json.loads(run(*asked, "--json")[1])
    assert f"{answer['sample']} rows; all others say what it is worth" in " ".join(out.split())
    assert answer["sample"] + answer["log"]["rows"] == 120
    (chosen,) = (line for line in out.splitlines() if line.rstrip().endswith("yes"))
    assert chosen.split()[0] in answer["chosen"]


def test_limits_are_kept_and_said(offers, run):
    asked = "learn", offers, *FAST, "--out", "policy.skops", "--limit", "red <= 20%", "--limit", "2 * red + blue <= 0.6"
    code, out, err = run(*asked)
    assert (code, err) == (0, "")
    assert "2 * red + blue <= 0.6: 0.6 by the policy, 0." in " ".join(out.split())
    assert "0.05 of the decisions, so that its own log can judge" in " ".join(
        run(*asked, "--explore", "0.05")[1].split()
    )
    first, second = json.loads(run(*asked, "--json")[1])["limits"]
    assert first["expected"] <= 0.2 + 1e-6
    assert second["expected"] <= 0.6 + 1e-6


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--out", "policy.pickle"], "`out` must be the name of a file that ends in .skops, got 'policy.pickle'."),
        (["--out", "none/policy.skops"], "`out` must be in a folder that exists, got 'none/policy.skops'."),
        (["--out", "policy.skops", "--learners", "gredy"], "unknown learner `gredy`."),
        (["--out", "policy.skops", "--forbid", "pink"], "`forbidden` must be actions of the log"),
        (["--out", "policy.skops", "--limit", "red < 20%"], "`limits` must be {'discount': 0.2}, or texts such as"),
        (["--out", "policy.skops", "--engine", "fast"], "`engine` must be `auto`, `local`, `memory` or `spark`"),
        (["--out", "policy.skops", "--share", "2"], "`shares` must be in [0, 1], got 2.0."),
        (["--out", "policy.skops", "--folds", "2"], "`folds` must be a whole number of at least 3, got 2."),
        (
            ["--out", "policy.skops", "--reward", "reward", "--reward", "age"],
            "must have one reward to learn from, got 2.",
        ),
        ([], "Missing option '--out'."),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(options, sentence, offers, run, tmp_path):
    before = {one.name for one in tmp_path.iterdir()}
    code, out, err = run("learn", offers, *options)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert {one.name for one in tmp_path.iterdir()} == before


def test_doses_are_refused(doses, run):
    code, _, err = run("learn", doses(), "--out", "policy.skops")
    assert code == 2
    assert "must have a log of actions to choose from, got doses." in err
