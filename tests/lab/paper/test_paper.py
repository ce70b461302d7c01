"""The paper's figures on small data: all of them from beginning to end, restarts, and a user's own parts."""

import csv
from dataclasses import fields

import numpy as np
import pyarrow.parquet as pq
import pytest

import counterfold as cf
import reference
from counterfold_lab.paper.classification import Classification
from counterfold_lab.paper.datasets import NAMES
from counterfold_lab.paper.experiment import PaperExperiment, PaperTask, list_tasks, selector_seed
from counterfold_lab.paper.figures import FIGURES, three_candidates, tuned_candidates
from counterfold_lab.paper.reproduction import Reproduction
from problems import estimate_as_paper, evaluate_as_paper, rows_of


def run(name, out, runs=2, jobs=1, **settings):
    return Reproduction(name, out, runs, **settings).run(jobs)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_from_beginning_to_end(name, tmp_path):
    from_beginning_to_end(name, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("small_datasets")
@pytest.mark.parametrize("name", ["figure3", "figure5"])
def test_every_long_figure_as_it_is(name, tmp_path):
    from_beginning_to_end(name, tmp_path)


def from_beginning_to_end(name, tmp_path):
    lines, files = run(name, tmp_path, datasets=NAMES[:1] if len(FIGURES[name].datasets) > 1 else NAMES)
    assert [file.suffix for file in files] == [".parquet", ".csv", ".png", ".svg"]
    assert all(file.stat().st_size > 100 for file in files)
    rows = pq.read_table(files[0]).to_pylist()
    figure = FIGURES[name]
    assert len(rows) == 2 * len(figure.betas) * len(figure.sizes) * per_problem(figure)
    assert {row["method"] for row in rows} == {line.method for line in lines}
    with files[1].open() as file:
        assert len(list(csv.DictReader(file))) == len(lines)


def per_problem(figure):
    families = 8 if figure is FIGURES["figure3"] else 1
    apart = {"SLOPE": families - (families > 1), "Theory": 5}
    return families * (len(figure.selectors) + len(figure.single_candidates) + 1) + sum(
        apart[name] for name in figure.set_selectors
    )


def test_figure_1_says_what_evaluate_says(small, tmp_path):
    _, files = run("figure1", tmp_path, datasets=("yeast",))
    rows = pq.read_table(files[0]).to_pylist()
    for seed in range(2):
        problem = Classification(1.0, 10.0).draw_problem(*small, np.random.default_rng(seed))
        found = {row["method"]: row for row in rows if row["run"] == seed}
        for method, selector in FIGURES["figure1"].selectors.items():
            order = [cf.IPS(), cf.DR(), cf.DM()]
            result = evaluate_as_paper(problem.log, problem.target, order, selector, seed=selector_seed(0, seed))
            assert found[method]["value"] == result.value
            assert found[method]["chosen"] == result.selected
            assert found[method]["truth"] == problem.truth
        assert found["DR"]["value"] == estimate_as_paper(problem.log, problem.target, "dr").value
        errors = {method: abs(row["value"] - row["truth"]) for method, row in found.items()}
        assert errors["oracle"] == min(errors.values())


def test_figure_3_tunes_each_estimator_as_if_it_were_alone(small, tmp_path):
    _, files = run("figure3", tmp_path, runs=1, datasets=("yeast",))
    rows = [row for row in pq.read_table(files[0]).to_pylist() if (row["logging_beta"], row["target_beta"]) == (1, 10)]
    problem = Classification(1.0, 10.0).draw_problem(*small, np.random.default_rng(0))
    for family, method, selector in [
        ("SwitchDR", "OCV_DR", cf.OCV(cf.DR())),
        ("TruncatedIPS", "OCV_IPS", cf.OCV(cf.IPS())),
        ("IPSLambda", "Theory", cf.Theory(rules="paper")),
        ("DRos", "Theory", "theory"),
    ]:
        kind = getattr(cf, family)
        asked = problem.log, problem.target, kind, selector, "ridge-per-action"
        expected = cf.evaluate(*asked, seed=selector_seed(0, 0)).selected
        chosen = [row["chosen"] for row in rows if (row["family"], row["method"]) == (family, method)]
        assert chosen == [expected]
    assert {row["family"] for row in rows if row["method"] == "Theory"} == {
        *("TruncatedIPS", "SwitchDR", "DRos", "DRps", "IPSLambda")
    }


@pytest.mark.usefixtures("small")
def test_restarts_and_more_runs_give_the_same_files(tmp_path):
    first, again = tmp_path / "first", tmp_path / "again"
    _, files = run("figure1", first, runs=3, datasets=("ecoli", "yeast"))
    run("figure1", again, runs=1, datasets=("ecoli", "yeast"))
    journal = again / "figure1.jsonl"
    journal.write_bytes(journal.read_bytes()[:-25])
    _, others = run("figure1", again, runs=3, datasets=("ecoli", "yeast"))
    for one, other in zip(files, others, strict=True):
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.usefixtures("small")
def test_fits_are_remembered(tmp_path, monkeypatch):
    before = run("figure1", tmp_path / "a", datasets=("ecoli",))[0]
    assert len(list((tmp_path / "a" / "fits" / "ecoli").glob("*.npz"))) == 2
    monkeypatch.setattr("counterfold_lab.paper.classification.fit_policy", None)
    (tmp_path / "a" / "figure1.jsonl").unlink()
    assert run("figure1", tmp_path / "a", datasets=("ecoli",))[0] == before


@pytest.mark.usefixtures("small")
def test_sizes_are_numbers_of_logged_rows_and_rewards_vary_in_them():
    experiment = PaperExperiment("figure7")
    for run in range(20):
        for size in (3, 40):
            log = experiment.draw_problem(PaperTask("satimage", 1.0, -1.0, size, run)).log
            assert len(log) == size
            assert np.ptp(log.reward) > 0


@pytest.mark.usefixtures("small")
def test_another_seed_gives_other_runs(tmp_path):
    one, two = (run("figure1", tmp_path / str(seed), datasets=("ecoli",), seed=seed)[0] for seed in (0, 1))
    assert [line.mean for line in one] != [line.mean for line in two]
    with pytest.raises(cf.ParameterError, match=r"holds results of other settings \(seed 0\)"):
        run("figure1", tmp_path / "0", datasets=("ecoli",), seed=1)


@pytest.mark.usefixtures("small")
def test_policies_by_logits_are_another_experiment(tmp_path):
    one, two = (
        run("figure1", tmp_path / kind, datasets=("ecoli",), policies=kind)[0] for kind in ("probabilities", "logits")
    )
    assert [line.mean for line in one] != [line.mean for line in two]


@pytest.mark.usefixtures("small")
def test_a_user_s_own_estimator_and_selector(tmp_path):
    add = ("additions:Half", "additions:Last")
    lines, files = run("figure1", tmp_path / "1", datasets=("ecoli",), add=add)
    rows = pq.read_table(files[0]).to_pylist()
    assert {row["chosen"] for row in rows if row["method"] == "Last"} <= {"Half", "DM"}, "the least variable one"
    assert {"Last", "Half"} < {line.method for line in lines}
    assert not any(line.published for line in lines), "other candidates were chosen from"
    lines, files = run("figure3", tmp_path / "3", runs=1, datasets=("ecoli",), add=add)
    assert "Half" in {line.family for line in lines}
    chosen = [row["chosen"] for row in pq.read_table(files[0]).to_pylist() if row["method"] == "Last"]
    assert len(chosen) == 2 * 9
    lines, _ = run("figure1", tmp_path / "selector", datasets=("ecoli",), add=add[1:])
    assert any(line.published for line in lines)


@pytest.mark.usefixtures("small")
def test_a_selector_that_mixes_is_asked_for_its_mixture(tmp_path):
    _, files = run("figure1", tmp_path, runs=3, datasets=("ecoli",), add=("counterfold:OPERA",))
    chosen = [row["chosen"] for row in pq.read_table(files[0]).to_pylist() if row["method"] == "OPERA"]
    assert any(" + " in name for name in chosen)


@pytest.mark.parametrize(
    ("add", "message"),
    [
        ("additions:Broken", "must be a frozen dataclass with defaults, got: "),
        ("additions:Missing", "`add` must be MODULE:CLASS, got `additions:Missing` "),
        ("counterfold:Estimator", "`add` must name an estimator or a selector class"),
        ("counterfold:SLOPE", "`add` must bring new names, got `counterfold:SLOPE`, but there is a `SLOPE`."),
        ("counterfold:SwitchDR", "but there is a `SwitchDR`."),
        ("additions:Empty", "Empty has an empty grid here."),
        ("additions:Nothing", "Nothing must give finite values, got nan."),
    ],
)
@pytest.mark.usefixtures("small")
def test_what_cannot_be_added_is_one_sentence(tmp_path, add, message):
    with pytest.raises(cf.ParameterError, match=message.replace("(", "\\(")):
        run("figure3", tmp_path, runs=1, datasets=("ecoli",), add=(add,))


def test_the_protocol_is_that_of_the_paper():
    ones = {name: FIGURES[name] for name in ("figure1", "figure4", "figure6")}
    assert {figure.betas for figure in ones.values()} == {((1.0, 10.0),)}
    assert FIGURES["figure2"].betas == ((1.0, -10.0),)
    assert FIGURES["figure7"].betas == ((1.0, -1.0),)
    betas = FIGURES["figure3"].betas
    assert {beta for _, beta in betas} == {-10.0, 10.0}
    assert {beta for beta, _ in betas} == {-3.0, -1.0, 0.0, 1.0, 3.0}
    assert FIGURES["figure7"].sizes == (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
    assert [name for name, figure in FIGURES.items() if not figure.bootstrap] == ["figure5"]
    parts = FIGURES["figure4"].selectors.values()
    assert [getattr(part, "rule", None) for part in parts] == [
        "mean",
        "standard_error",
        "mean",
        *["standard_error"] * 2,
    ]
    assert [getattr(part, "splits", getattr(part, "folds", 0)) for part in parts] == [10, 10, 10, 10, 100]
    assert [one.ratio_step for one in list(parts)[2:]] == [0.0, 0.0, 0.0]
    validators = {name: part.validator for name, part in FIGURES["figure6"].selectors.items()}
    assert validators == {"OCV_IPS": cf.IPS(), "OCV_DR": cf.DR(), "OCV_DM": cf.DM()}
    assert [part.splits for part in FIGURES["figure5"].selectors.values()] == [2, 5, 10, 20, 50, 100, 200, 500, 1000]


def test_families_run_from_high_to_low_variance():
    rows = rows_of(reference.random_data(0, rows=300, binary=True))
    assert three_candidates(rows)[""] == [cf.IPS(), cf.DR(), cf.DM()]
    for name, family in tuned_candidates(rows).items():
        if name in ("TruncatedIPS", "IPSLambda"):
            spreads = [one.contributions(rows).var() for one in family]
            assert spreads[0] > spreads[-1]
        elif name != "everything":
            parameters = [getattr(one, fields(one)[0].name) for one in family]
            assert parameters == sorted(parameters, reverse=True)


def test_runs_with_and_without_bootstrap_have_fits_of_their_own(small, tmp_path):
    experiments = {name: PaperExperiment(name, fits=tmp_path) for name in ("figure1", "figure5", "figure7")}
    tasks = [PaperTask("vehicle", 1.0, 10.0, size) for size in (0, 40)]
    problems_ = [experiments[name].draw_problem(tasks[0]) for name in ("figure1", "figure5")]
    assert not np.allclose(problems_[0].target, problems_[1].target)
    experiments["figure7"].draw_problem(tasks[1])
    assert {path.name for path in (tmp_path / "vehicle").iterdir()} == {"0-0.npz", "0-0-whole.npz", "0-0-40.npz"}
    kept = tmp_path / "vehicle" / "0-0.npz"
    with np.load(kept) as arrays:
        changed = {name: array * 1.5 if name == "coefficients1" else array for name, array in arrays.items()}
    np.savez(tmp_path / "changed.npz", **changed)
    others = (tmp_path / "changed.npz").read_bytes(), (tmp_path / "vehicle" / "0-0-whole.npz").read_bytes()
    for damage in (b"", b"PK damaged", *others):
        kept.write_bytes(damage)
        again = experiments["figure1"].draw_problem(tasks[0])
        np.testing.assert_array_equal(again.target, problems_[0].target)
    assert len(small[1]) == 160


def test_policies_are_part_of_what_a_journal_is_of(small, tmp_path):
    run("figure1", tmp_path, datasets=("ecoli",))
    with pytest.raises(cf.ParameterError, match=r"other settings \(policies probabilities\)"):
        run("figure1", tmp_path, datasets=("ecoli",), policies="logits")
    assert len(small[0]) == 160
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(cf.DataError, match="must be a folder that can be written to"):
        run("figure1", file, datasets=("ecoli",))


@pytest.mark.usefixtures("small")
def test_pasif_runs_as_often_as_wanted(tmp_path):
    lines, _ = run("figure1", tmp_path, datasets=("ecoli",), pasif_runs=1)
    assert {line.method: line.runs for line in lines}["PAS-IF"] == 1
    assert {line.method: line.runs for line in lines}["OCV_DR"] == 2


def test_pieces_of_more_runs_start_with_those_of_fewer():
    few, many = (list_tasks(FIGURES["figure2"], runs, ("ecoli", "yeast"), 0) for runs in (2, 5))
    assert few == many[: len(few)]
    assert len(list_tasks(FIGURES["figure3"], 5, NAMES, 0)) == 450


def test_an_experiment_can_be_sent_to_another_process():
    import pickle

    assert pickle.loads(pickle.dumps(PaperExperiment("figure1", own_classes=("additions:Half",)))).name == "figure1"  # noqa: S301
