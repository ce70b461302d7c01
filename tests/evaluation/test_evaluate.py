"""estimate() and evaluate(): the contract, what is left out and why, names, seeds and threads."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

import counterfold as cf
import reference
from counterfold.base import registry
from counterfold.evaluation.candidates import SETS
from problems import estimate_as_paper, evaluate_as_paper, log_of, rows_of, several_loggers


def test_the_contract(data):
    result = cf.evaluate(
        log_of(data),
        data.target,
        candidates=[cf.IPS(), cf.DM(), cf.DR()],
        selector=cf.OCV(validator=cf.DR(), splits=10),
        reward_model=cf.RidgePerAction(alpha=1e-3),
        seed=0,
    )
    assert [line.name for line in result.table] == ["IPS", "DM", "DR"]
    assert [line.chosen for line in result.table].count(True) == 1
    chosen = next(line for line in result.table if line.chosen)
    assert (chosen.name, chosen.value) == (result.selected, result.value)
    assert chosen.stderr <= result.stderr
    assert chosen.score == min(line.score for line in result.table)
    assert result.interval.low < result.value < result.interval.high
    assert result.estimate.contributions.shape == (300,)


def test_the_answer_is_the_chosen_estimator_on_all_rows(data):
    result = evaluate_as_paper(log_of(data), data.target, "paper")
    assert result.value == estimate_as_paper(log_of(data), data.target, result.estimator).value
    for line in result.table[:5]:
        formula, parameters = reference.FORMULAS[line.name.lower()]
        assert line.value == pytest.approx(reference.value(data, formula, parameters, 1e-3), abs=1e-10)


def test_the_paper_s_joint_task_has_191_candidates(data):
    assert len(cf.evaluate(log_of(data), data.target, "paper", "ocv:splits=2").table) == 191


def test_a_target_of_logged_actions_leaves_out_what_needs_more(data):
    logged = data.target[np.arange(300), data.a]
    result = cf.evaluate(log_of(data), logged, "paper", "ocv")
    kinds = {line.name.partition("(")[0] for line in result.table}
    assert kinds == {"IPS", "SNIPS", "TruncatedIPS", "IPSLambda"}
    assert set(result.left_out) == {"DM", "DR", "SNDR", "SwitchDR", "CAB", "DRos", "DRps", "GroupIPS"}
    assert set(result.left_out.values()) == {
        "needs the target's probabilities of all actions, but only those of the logged actions were given"
    }
    assert result.selector.validator == cf.IPS()
    assert result.diagnostics.unsupported_mass is None


def test_propensities_alone_leave_out_what_needs_more(data):
    propensity = data.logging[np.arange(300), data.a]
    log = cf.Log(context=data.x, action=data.a, reward=data.r, propensity=propensity)
    result = cf.evaluate(log, data.target, "paper", "ocv")
    assert set(result.left_out) == {"CAB", "GroupIPS"}
    assert result.selector.validator == cf.DR()
    model = cf.RidgePerAction()  # which sees no policies
    known, full = (
        cf.evaluate(one, data.target, ["dr", "switch-dr"], reward_model=model).to_dict() for one in (log, log_of(data))
    )
    tested = {"propensities_p", "context_p", "expected_rows"}  # which all probabilities tell better
    tested |= {"informed_target_p", "clipped_rows"}  # which either alone can tell
    assert {name for name, value in known.pop("diagnostics").items() if value != full["diagnostics"][name]} <= tested
    del full["diagnostics"]
    assert known == full


def test_without_a_reward_model_only_weights_are_left(data):
    result = cf.evaluate(log_of(data), data.target, reward_model=None)
    assert {line.name.partition("(")[0] for line in result.table} == {"IPS", "SNIPS", "TruncatedSNIPS"}
    assert [line.name for line in result.table][:2] == ["IPS", "SNIPS"]
    plain = cf.evaluate(log_of(data), data.target, "plain", reward_model=None)
    assert [line.name for line in plain.table] == ["IPS", "SNIPS"]
    assert result.left_out["DR"] == "needs a reward model, but there is none"


def test_an_estimator_that_does_not_apply_says_why(data):
    logged = data.target[np.arange(300), data.a]
    with pytest.raises(cf.ParameterError, match=r"^DR needs the target's probabilities of all actions, but only"):
        cf.estimate(log_of(data), logged, cf.DR())
    with pytest.raises(cf.ParameterError, match=r"^`candidates` must hold an estimator that applies, got DR needs"):
        cf.evaluate(log_of(data), logged, [cf.DR()])


def test_candidates_may_be_names_classes_estimators_and_sets(data):
    log = log_of(data)
    grid = cf.evaluate(log, data.target, cf.SwitchDR).table
    assert len(grid) == 30
    assert cf.evaluate(log, data.target, "switch-dr").table == grid
    assert cf.evaluate(log, data.target, "SwitchDR").table == grid
    mixed = cf.evaluate(log, data.target, ["plain", "switch-dr:threshold=5", cf.CAB(2.0), cf.GroupIPS]).table
    assert len(mixed) == len(SETS["plain"]) + 1 + 1 + 5
    usual = [line.name.partition("(")[0] for line in cf.evaluate(log, data.target).table]
    assert usual == ["IPS", "SNIPS", "DM", "DR", "SNDR"] + ["TruncatedSNIPS"] * 4 + ["TruncatedSNDR"] * 4


def test_equal_names_are_kept_apart(data):
    table = cf.evaluate(log_of(data), data.target, [cf.DR(), cf.IPS(), cf.DR(), cf.CAB(1.0), cf.CAB(1.00001)]).table
    assert [line.name for line in table] == ["DR", "IPS", "DR #2", "CAB(max_weight=1)", "CAB(max_weight=1) #2"]
    assert sum(line.chosen for line in table) == 1


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            "swich-dr",
            "unknown estimator `swich-dr`. Did you mean `switch-dr`\\? Known: default, plain, paper, doses, cab, ",
        ),
        ("papr", "unknown estimator `papr`. Did you mean `paper`\\?"),
        ("dr:alpha=1", "`dr:alpha=1` must be NAME or NAME:FIELD=VALUE; `dr` has no parameters, got `alpha=1`."),
        ("cab:cap=1", "`cab` takes `max_weight`, got `cap=1`."),
        ("cab:max_weight=big", "`max_weight` must be a number, got 'big'."),
        ([7], "`candidates` must be estimators, classes or names of estimators, got 7."),
        ([], "`candidates` must hold an estimator that applies, got none."),
        (None, "`candidates` must be estimators, classes or names of estimators, got None."),
    ],
)
def test_bad_candidates_are_refused(data, wanted, message):
    with pytest.raises(cf.ParameterError, match=message):
        cf.evaluate(log_of(data), data.target, wanted)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": 1.0}, "`level` must be in \\(0, 1\\), got 1.0."),
        ({"seed": -1}, "`seed` must be a whole number of at least 0, got -1."),
        ({"threads": 0}, "`threads` must be a whole number of at least 1, got 0."),
        ({"selector": "oc"}, "unknown selector `oc`. Did you mean `ocv`\\?"),
        ({"selector": cf.DR()}, "`selector` must be one or the name of one, got DR\\(\\)."),
    ],
)
def test_bad_settings_are_refused(data, settings, message):
    with pytest.raises(cf.ParameterError, match=message):
        cf.evaluate(log_of(data), data.target, **settings)


def test_same_seed_same_answer_whatever_the_threads(data):
    data = data.take(np.arange(100))
    one, again, two, other = (
        cf.evaluate(log_of(data), data.target, "paper", "ocv:splits=3", seed=seed, threads=threads).to_json()
        for seed, threads in [(3, 1), (3, 1), (3, 2), (4, 1)]
    )
    assert one == again == two
    assert one != other


def test_nothing_is_random_in_the_default(data):
    found = [cf.evaluate(log_of(data), data.target, seed=seed, threads=threads) for seed, threads in [(3, 1), (4, 2)]]
    assert found[0].table == found[1].table
    assert found[0].to_dict() == found[1].to_dict() | {"seed": 3}


@pytest.mark.parametrize(("candidate", "refits"), [(cf.IPS(), 0), (cf.DR(), 20)])
def test_progress_counts_the_splits_and_then_the_refits(monkeypatch, data, candidate, refits):
    # Splits of small logs would count as one piece of work.
    monkeypatch.setattr("counterfold.selectors._splits.ROWS_PER_TASK", 1)
    seen = []
    evaluate_as_paper(log_of(data), data.target, [candidate], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, total) for total in (10, refits) for done in range(1, total + 1)]


def test_json_is_strict_and_complete(data):
    result = cf.evaluate(log_of(data), data.target, [cf.TruncatedIPS(np.inf), cf.DR()], seed=np.int64(3))
    read = json.loads(result.to_json(), parse_constant=pytest.fail)
    assert (read["value"], read["selected"]) == (result.value, result.selected)
    ends = {"low": result.interval.low, "high": result.interval.high, "method": repr(cf.SkewedT())}
    assert read["interval"] == {"level": 0.95, **ends}
    assert read["verdict"] in {"good", "caution", "not answerable"}
    assert len(read["table"]) == 2


def test_data_frames_take_the_table(data):
    result = cf.evaluate(log_of(data), data.target)
    for frame in (pd.DataFrame(result.table), pl.DataFrame(result.table)):
        assert list(frame.columns) == ["name", "value", "stderr", "score", "chosen", "share"]
        assert frame.shape == (13, 6)


def test_any_sklearn_model_and_given_predictions_serve(data):
    log = log_of(data)
    linear = cf.evaluate(log, data.target, [cf.DM()], reward_model=LinearRegression())
    given = cf.evaluate(log, data.target, [cf.DM()], reward_model=rows_of(data, LinearRegression()).q)
    assert linear.value == pytest.approx(given.value, abs=1e-10)


def test_given_predictions_leave_the_error_of_the_contributions(data):
    result = cf.evaluate(log_of(data), data.target, [cf.DR()], reward_model=reference.ridge(data, 1.0))
    assert result.stderr == result.table[0].stderr


def test_grids_that_are_empty_are_named_with_the_reason():
    data = reference.random_data(3)
    data.target = np.eye(4)[(data.a + 1) % 4]
    message = "got SwitchDR has no grid where no weight is positive; CAB has no grid where no weight is positive.$"
    with pytest.raises(cf.ParameterError, match=message):
        cf.evaluate(log_of(data), data.target, ["switch-dr", "cab"])
    assert set(cf.evaluate(log_of(data), data.target, ["dm", "cab"]).left_out) == {"CAB"}


@pytest.mark.parametrize("name", registry.names("selectors"))
def test_every_estimator_and_selector_can_be_named_in_evaluate(name):
    data = reference.random_data(21, rows=150)
    log = log_of(data, **several_loggers(data))
    wanted = "switch-dr" if name == "theory" else list(registry.names("estimators"))
    result = cf.evaluate(log, data.target, wanted, name)
    assert result.selected
    assert set(result.left_out) == (set() if name == "theory" else {"KernelIPS", "KernelDR"})
