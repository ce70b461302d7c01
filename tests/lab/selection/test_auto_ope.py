"""AutoOPE: what it learns from, what it says of a log, and that it picks as a forest that is grown by hand."""

import math
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.ensemble import RandomForestRegressor

import counterfold as cf
import reference
from counterfold.base.validation import LARGEST_SEED
from counterfold.models import as_model
from counterfold.policies.given import as_target
from counterfold.simulation import Problem
from counterfold_lab.files import write_parquet
from counterfold_lab.paper.experiment import RUNS_PER_SEED
from counterfold_lab.paper.figures import PLAIN
from counterfold_lab.selection import auto_ope
from counterfold_lab.selection.auto_ope import AutoOPE, TrainingTask, describe_log, measure_errors, train
from counterfold_lab.selection.bandits import Bandit
from problems import log_of


def rows_of(data, model="default"):
    log = log_of(data)
    return cf.Rows.of(log, as_target(data.target, log), as_model(model, log))


def test_training_problems_are_never_those_of_the_benchmark():
    assert auto_ope.FIRST_SEED > LARGEST_SEED * RUNS_PER_SEED + RUNS_PER_SEED


def test_statistics_against_naive_loops():
    data = reference.random_data(3, rows=120)
    found, weights = describe_log(rows_of(data)), data.weights()
    squares = sum(w * w for w in weights)
    assert found["effective_rows"] == pytest.approx(math.log1p(sum(weights) ** 2 / squares))
    assert found["effective_share"] == pytest.approx(sum(weights) ** 2 / squares / 120)
    assert found["largest_share"] == pytest.approx(max(weights) / sum(weights))
    pairs = [list(zip(*both, strict=True)) for both in zip(data.target, data.logging, strict=True)]
    assert found["total_variation"] == pytest.approx(sum(abs(t - b) for row in pairs for t, b in row) / 240)
    divergence = sum(t * math.log(t / b) for row in pairs for t, b in row if t > 0 and b > 0) / 120
    assert found["kullback_leibler"] == pytest.approx(divergence)
    chi = sum(t * t / b for row in pairs for t, b in row if b > 0) / 120
    assert found["chi_square"] == pytest.approx(math.log1p(chi))
    assert found["reward_mean"] == pytest.approx(data.r.mean() / data.r.std())
    assert found["actions"] == pytest.approx(math.log(data.target.shape[1]))


def test_statistics_have_no_unit():
    """Rewards in cents say the same of a log."""
    data, model = reference.random_data(3, rows=120), np.random.default_rng(0).normal(size=(120, 4))
    found = describe_log(rows_of(data, model))
    again = describe_log(rows_of(replace(data, r=100 * data.r), 100 * model))
    assert again == pytest.approx(found)
    assert all(type(value) is float for value in found.values())


def test_statistics_are_finite_where_nothing_has_weight():
    logging, target = np.tile([0.99, 0.01], (50, 1)), np.tile([0.0, 1.0], (50, 1))
    log = cf.Log(
        context=np.arange(50.0)[:, None], action=np.zeros(50, int), reward=np.arange(50.0) % 2, logging_probs=logging
    )
    found = describe_log(cf.Rows.of(log, as_target(target, log), as_model(np.ones((50, 2)), log)))
    assert np.isfinite(list(found.values())).all()
    assert (found["without_weight"], found["effective_rows"]) == (1.0, 0.0)


def test_errors_are_those_of_the_estimators_in_standard_deviations(monkeypatch):
    problem = Bandit(rows=200, actions=3).draw_problem(5)
    monkeypatch.setattr(Bandit, "draw_problem", lambda *_: Problem(problem.log, problem.target, 0.7, None, 2.0))
    (row,) = measure_errors(TrainingTask(1))
    expected = [(cf.estimate(problem.log, problem.target, one).value - 0.7) / 2 for one in PLAIN]
    assert row["errors"] == pytest.approx(expected)
    assert row["family"] == "continuous"


def test_no_training_problem_has_more_rows_than_allowed(monkeypatch):
    monkeypatch.setattr(auto_ope, "MOST_ROWS", 150)
    rows = [measure_errors(TrainingTask(number))[0]["statistics"]["rows"] for number in (4, 11)]
    assert np.exp(rows) == pytest.approx([150, 150])


def test_what_was_trained_is_not_trained_again(tmp_path, monkeypatch):
    settings = {"code": "x"}
    chosen = train(11, tmp_path, settings)
    before = pq.read_table(chosen.training).to_pylist()
    monkeypatch.setattr(auto_ope, "measure_errors", None)
    again = train(11, tmp_path, settings)
    assert again == chosen
    assert pq.read_table(again.training).to_pylist() == before
    assert [row["family"] for row in before][:2] == ["binary", "continuous"]
    with pytest.raises(cf.ParameterError, match=r"other settings \(code x\): give another `--out`"):
        train(11, tmp_path, {"code": "y"})


def make_training(path, count=300, seed=0):
    """Write problems on which DM errs least where weights are uneven, and DR elsewhere."""
    rng, rows = np.random.default_rng(seed), []
    names = describe_log(rows_of(reference.random_data(0, rows=60)))
    for _ in range(count):
        statistics = dict.fromkeys(names, 0.5) | {"effective_share": rng.random()}
        errors = np.where(statistics["effective_share"] < 0.5, [2, 2, 0.1, 1, 2], [2, 2, 1, 0.1, 2])
        rows.append({"family": "x", "statistics": statistics, "errors": (errors * rng.normal(size=5)).tolist()})
    return write_parquet(rows, path)


def test_it_picks_what_erred_least_on_such_logs(tmp_path, monkeypatch):
    path = make_training(tmp_path / "training.parquet")
    data = reference.random_data(0, rows=60)
    rows, selector = rows_of(data), AutoOPE(path, 300)
    known = dict.fromkeys(describe_log(rows), 0.5)
    for share, best in ((0.1, "DM"), (0.9, "DR")):
        monkeypatch.setattr(auto_ope, "describe_log", lambda _, share=share: known | {"effective_share": share})
        for candidates in (PLAIN, PLAIN[::-1], PLAIN[1:4]):
            selection = selector.select(rows, candidates, np.random.default_rng(0), cf.Pool(1))
            assert candidates[selection.chosen].name == best


def test_its_scores_are_those_of_a_forest_on_the_logarithms_of_squared_errors(tmp_path):
    path = make_training(tmp_path / "training.parquet", 40)
    trained, rows = pq.read_table(path).to_pylist(), rows_of(reference.random_data(1, rows=80))
    statistics = [list(row["statistics"].values()) for row in trained]
    errors = [[math.log(error**2 + 1e-12) for error in row["errors"]] for row in trained]
    forest = RandomForestRegressor(200, min_samples_leaf=5, random_state=0).fit(statistics, errors)
    expected = forest.predict([list(describe_log(rows).values())])[0]
    assert AutoOPE(path, 40).scores(rows, PLAIN, np.random.default_rng(0), cf.Pool(1)) == pytest.approx(expected)


def test_a_file_that_changed_is_read_again(tmp_path):
    path, rows = tmp_path / "training.parquet", rows_of(reference.random_data(1, rows=80))
    first, second, again = (
        AutoOPE(make_training(path, 40, seed), 40).scores(rows, PLAIN, np.random.default_rng(0), cf.Pool(1))
        for seed in (0, 1, 0)
    )
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again)
