"""The benchmark of selection: restarts, parts, and refusals."""

import csv
import json
import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import counterfold as cf
from counterfold.simulation import Problem
from counterfold_lab import runner
from counterfold_lab.paper import datasets
from counterfold_lab.paper.datasets import Dataset
from counterfold_lab.paper.experiment import selector_seed
from counterfold_lab.selection.auto_ope import AutoOPE
from counterfold_lab.selection.bandits import draw_bandit
from counterfold_lab.selection.benchmark import Benchmark
from counterfold_lab.selection.experiment import (
    KNOWN,
    SelectionExperiment,
    SelectionTask,
    list_tasks,
    make_row,
    part_of,
)

SMALL = "few rows", "user's model"
METHODS = 20
TRAINING = 10
"""The training problems of AutoOPE, each of another family."""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Return the results of a small run, and its folder."""
    folder = tmp_path_factory.mktemp("bench")
    return Benchmark(folder, problems=4, families=SMALL, training=TRAINING).run(), folder


def rows_in(folder):
    rows = pq.read_table(folder / "selection.parquet").to_pylist()
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def test_every_method_answers_every_problem(done):
    results, folder = done
    rows = rows_in(folder)
    assert len(rows) == 2 * 2 * METHODS
    assert {row["part"] for row in rows} == {"held"}
    assert {(row["family"], row["problem"]) for row in rows} == {(name, number) for name in SMALL for number in (1, 2)}
    assert all((row["low"] is not None) == (row["kind"] == "default") for row in rows)
    assert [file.suffix for file in results.files] == [".parquet", *[".csv"] * 4, *[".png", ".svg"] * 3]
    assert all(file.stat().st_size > 100 for file in results.files)
    with (folder / "selection.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(results.scores) == 3 * METHODS


def test_rows_are_what_the_library_says(done):
    rows = {row["method"]: row for row in rows_in(done[1]) if (row["family"], row["problem"]) == ("few rows", 2)}
    problem = draw_bandit("few rows", 2).draw_problem(2)
    default = cf.evaluate(problem.log, problem.target, progress=False)
    own = rows["default"]
    assert (own["value"], own["low"], own["high"]) == (default.value, default.interval.low, default.interval.high)
    assert (own["chosen"], own["verdict"]) == (default.selected, default.diagnostics.verdict)
    assert set(own["alarms"].split()) == {one.name for one in default.diagnostics.findings if one.severity != "note"}
    given = {"reward_model": cf.RidgePerAction(), "seed": selector_seed(0, 2), "progress": False}
    for method, candidates, selector in [
        ("OCV_DR", "paper", cf.OCV(cf.DR())),
        ("DRos, theory", cf.DRos, "theory"),
        ("OPERA", [cf.IPS(), cf.SNIPS(), cf.DM(), cf.DR(), cf.SNDR()], "opera"),
    ]:
        expected = cf.evaluate(problem.log, problem.target, candidates, selector, **given)
        assert rows[method]["value"] == pytest.approx(expected.value, rel=1e-9)
    assert rows["DR"]["value"] == cf.estimate(problem.log, problem.target, "dr", reward_model=cf.RidgePerAction()).value
    errors = {method: abs(row["value"] - row["truth"]) for method, row in rows.items()}
    assert errors["oracle"] <= min(errors[one] for one in ("IPS", "SNIPS", "DM", "DR", "SNDR", "OCV_IPS", "OCV_DR"))


def test_a_user_s_predictions_take_the_place_of_every_model(done):
    rows = [row for row in rows_in(done[1]) if row["family"] == "user's model"]
    for number in (1, 2):
        mine = {row["method"]: row["value"] for row in rows if row["problem"] == number}
        problem = draw_bandit("user's model", number).draw_problem(number)
        assert mine["DM"] == mine["DM, default model"]
        assert mine["DM"] == pytest.approx((problem.predictions * problem.target).sum(axis=1).mean())


def test_a_run_that_was_cut_goes_on_and_two_jobs_give_the_same(done, run):
    """The command line, on journals of which the last lines are missing, half of one included."""
    folder = done[1]
    Path("again").mkdir()
    for name, lines in (("selection.jsonl", 3), ("training.jsonl", TRAINING - 2)):
        whole = (folder / name).read_bytes()
        Path("again", name).write_bytes(b"".join(whole.splitlines(keepends=True)[:lines])[:-40])
    options = "--problems", 4, "--families", ",".join(SMALL), "--jobs", 2, "--training", TRAINING
    code, out, err = run("bench", "selection", "--out", "again", *options)
    assert code == 0, err
    for text in (
        "Squared errors over all families (4 problems)",
        "OCV_DR",
        "holds the truth",
        "by verdict",
        "What speaks against",
        "Written: ",
    ):
        assert text in out
    assert rows_in(Path("again")) == rows_in(folder)
    same = "selection.csv", "selection-coverage.csv", "selection-verdicts.csv", "selection-ratios.png"
    for name in (*same, "training.parquet"):
        assert Path("again", name).read_bytes() == (folder / name).read_bytes()


def test_what_is_done_is_not_done_again_and_json_is_strict(done, run, monkeypatch):
    monkeypatch.setattr(SelectionExperiment, "__call__", None)
    options = "--problems", 4, "--families", SMALL[0], "--families", SMALL[1], "--jobs", 1, "--training", TRAINING
    code, out, _ = run("bench", "selection", "--out", done[1], *options, "--json")
    assert code == 0
    found = json.loads(out, parse_constant=pytest.fail)
    assert found["scores"] == [asdict(score) for score in done[0].scores]
    assert (found["part"], len(found["files"])) == ("held", 11)
    assert {line["verdict"] for line in found["verdicts"]} <= {"good", "caution", "not answerable", "not good"}


def test_results_of_other_code_or_seed_are_refused(done, monkeypatch):
    given = {"problems": 4, "families": SMALL, "training": TRAINING}
    with pytest.raises(cf.ParameterError, match=r"other settings \(seed 0\): give another `--out`"):
        Benchmark(done[1], **given, seed=1).run()
    with pytest.raises(cf.ParameterError, match=rf"other settings \(training {TRAINING}\): give another `--out`"):
        Benchmark(done[1], **given | {"training": TRAINING + 1}).run()
    assert pq.read_metadata(done[1] / "training.parquet").num_rows == TRAINING  # refused before anything is learnt
    monkeypatch.setattr(runner, "digest_code", lambda: "other")
    with pytest.raises(cf.ParameterError, match=r"other settings \(code [0-9a-f]{16}\)"):
        Benchmark(done[1], **given).run()


def test_development_and_held_are_disjoint_and_a_third_is_for_development():
    parts = {part: list_tasks(KNOWN, 120, part) for part in ("development", "held", "all")}
    development, held = set(parts["development"]), set(parts["held"])
    assert not development & held
    assert development | held == set(parts["all"])
    assert len(parts["all"]) == len(set(map(str, parts["all"]))) == (len(KNOWN) - 1) * 120 + 12 * 90
    assert len(development) * 3 == len(parts["all"])
    assert {part_of(case.number) for case in held} == {"held"}
    for part, number in {"development": 0, "held": 1, "all": 0}.items():
        few = list_tasks(["paper", "binary"], 1, part)
        assert (len(few), {case.number for case in few}) == (91, {number})


def test_seeds_give_other_problems():
    case = SelectionTask("few rows", 1)
    assert SelectionExperiment().draw_problem(case).truth == draw_bandit("few rows", 1).draw_problem(1).truth
    assert SelectionExperiment(seed=1).draw_problem(case).truth != SelectionExperiment().draw_problem(case).truth


def test_the_paper_s_problems_are_those_of_its_figure(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=160)
    features = np.eye(3)[labels] + 0.6 * rng.normal(size=(160, 3))
    monkeypatch.setattr(datasets, "load_once", lambda name, _folder: Dataset(name, features, labels.astype(str)))
    wanted = list_tasks(["paper"], 10, "held")
    assert len(wanted) == 90
    rows = SelectionExperiment(fits=tmp_path / "fits")(wanted[3])
    assert len(rows) == METHODS - 1
    assert {(row["problem"], row["condition"], row["scale"]) for row in rows} == {(1, "ecoli 1 -10", 1.0)}
    assert [path.name for path in (tmp_path / "fits" / "ecoli").iterdir()] == ["0-1.npz"]


def test_a_target_that_never_takes_a_logged_action_is_answered(done, monkeypatch):
    logging, target = np.tile([0.99, 0.01], (50, 1)), np.tile([0.0, 1.0], (50, 1))
    x, reward = np.arange(50.0)[:, None], np.arange(50.0) % 3
    log = cf.Log(context=x, action=np.zeros(50, int), reward=reward, logging_probs=logging, actions=[0, 1])
    monkeypatch.setattr(SelectionExperiment, "draw_problem", lambda *_: Problem(log, target, 1.0, None, 1.0))
    training = done[1] / "training.parquet"
    rows = SelectionExperiment(auto_ope=AutoOPE(training, TRAINING))(SelectionTask("deterministic target", 0))
    assert len(rows) == METHODS
    assert {row["verdict"] for row in rows} == {"not answerable"}


def test_an_answer_that_is_no_number_is_refused():
    with pytest.raises(cf.ParameterError, match=r"^DM must give finite values, got nan by DM.$"):
        make_row("DM", "fixed", "DM", math.nan, None, 0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--training", "9"], "`training` must be a whole number of at least 10, got 9."),
        (["--problems", "0"], "`problems` must be a whole number of at least 1, got 0."),
        (["--jobs", "0"], "`jobs` must be a whole number of at least 1, got 0."),
        (["--seed", "-1"], "`seed` must be a whole number of at least 0, got -1."),
        (["--part", "holdout"], "`part` must be `development`, `held` or `all`, got 'holdout'."),
        (["--families", "binry"], "Did you mean `binary`?"),
        (
            ["--families", "paper", "--data", "nowhere"],
            "the family `paper` needs its datasets from `--data`, or to be left out of `--families`: `nowhere` must",
        ),
        (["--problems", "many"], "Invalid value for '--problems'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_options_are_one_sentence_and_nothing_is_written(run, options, message):
    code, out, err = run("bench", "selection", "--out", "here", *options)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert not Path("here").exists()


def test_a_folder_that_cannot_be_written_to_and_no_command(run):
    Path("file").write_text("")
    code, _, err = run("bench", "selection", "--out", "file", "--families", "binary", "--jobs", "1")
    assert (code, err.count("must be a folder that can be written to")) == (2, 1)
    assert run("bench")[0] == 2
