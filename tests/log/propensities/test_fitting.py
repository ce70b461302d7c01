"""Propensities that nobody logged: cross-fitted, calibrated, the same on every engine, and never a sure answer."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import counterfold as cf
from counterfold.base.hashing import hash_numbers
from counterfold.log.propensities.fitting import FOLDS
from counterfold.log.support import find_supported
from counterfold.simulation import draw_actions, softmax
from fitted_logs import ROWS, draw, make_log


def test_fits_are_near_the_truth():
    log, _ = make_log()
    logging = draw()[2]
    assert np.abs(log.logging_probs - logging).mean() < 0.025
    np.testing.assert_allclose(log.logging_probs.sum(axis=1), 1)
    np.testing.assert_array_equal(log.propensity, log.logging_probs[np.arange(ROWS), log.action])
    assert log.fitted.quality.rival_p > 0.01


def test_against_a_naive_loop():
    """Every row is predicted by a fit without its fold; the two numbers of the calibration come with the fit."""
    log, _ = make_log(propensity=LogisticRegression())
    x, action, *_ = draw()
    fold = np.array([int(hash_numbers(np.array([row]))[0] % FOLDS) for row in range(ROWS)])
    known = log.fitted.calibration
    for row in range(0, ROWS, 97):
        others = np.flatnonzero(fold != fold[row])
        raw = LogisticRegression().fit(x[others], action[others]).predict_proba(x[[row]])[0]
        sharp = raw**known.sharpness / sum(raw**known.sharpness)
        shares = np.array([((action == code).sum() + 0.5) / (ROWS + 1.5) for code in range(3)])
        expected = (1 - known.share) * sharp + known.share * shares
        np.testing.assert_allclose(log.logging_probs[row], expected, rtol=1e-9)
    place = np.arange(ROWS), action
    assert log.fitted.quality.log_loss == pytest.approx(-np.mean([np.log(p) for p in log.logging_probs[place]]))
    counts = np.bincount(action)
    assert log.fitted.quality.plain_log_loss == pytest.approx(-sum(n / ROWS * np.log(n / ROWS) for n in counts))


def test_overconfident_classifiers_are_softened():
    x, action, logging, _, _ = draw()
    double = np.column_stack([x, x, x, x])  # naive Bayes takes these for eight independent columns
    log, _ = make_log(context=double, propensity=GaussianNB())
    assert log.fitted.calibration.sharpness < 0.6
    raw = GaussianNB().fit(double, action).predict_proba(double)
    assert np.abs(log.logging_probs - logging).mean() < 0.6 * np.abs(raw - logging).mean()
    for one in log.fitted.quality.reliability:
        assert abs(one.predicted - one.observed) < 0.08


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("fit", True),
        ("fit:boosting", False),
        pytest.param("fit", False, marks=pytest.mark.slow),
        pytest.param("fit:boosting", True, marks=pytest.mark.slow),
    ],
)
def test_every_engine_gives_the_same_answer(table, name, groups, tmp_path):
    if groups:
        table = table.append_column("group", [[f"user {row % 300}" for row in range(ROWS)]])
    pa.parquet.write_table(table, tmp_path / "log.parquet", row_group_size=130)
    asked = {"propensity": name, "reward_model": "ridge-per-action", "candidates": "plain", "progress": False}
    memory, local = (cf.evaluate(tmp_path / "log.parquet", engine=one, **asked) for one in ("memory", "local"))
    frame = cf.evaluate(table.to_pandas(), **asked)
    assert [one.value for one in memory.table] == pytest.approx([one.value for one in local.table], rel=1e-9)
    assert memory.value == frame.value
    assert memory.contents.fitted.quality == local.contents.fitted.quality
    assert memory.verdict == local.verdict == "caution"
    assert {one.name for one in local.diagnostics.findings} >= {"fitted-propensities"}


def test_the_verdict_is_caution_at_best_and_says_what_is_assumed():
    log, target = make_log()
    found = cf.evaluate(log, target)
    [finding] = [one for one in found.diagnostics.findings if one.name == "fitted-propensities"]
    assert found.verdict == finding.severity == "caution"
    assert "as if the old policy had looked at 0, 1 alone" in finding.problem
    assert "log the probability of each action" in finding.remedy
    assert cf.check(log, target).verdict == "caution"
    told = json.loads(json.dumps(found.contents.to_dict()))["fitted_propensities"]
    assert told["classifier"] == "logistic"
    assert len(told["reliability"]) == 10


def test_a_wrong_fit_is_found_and_a_better_one_is_named():
    x, action, _, reward, target = draw(bend=True)
    given = {"context": x, "action": action, "reward": reward}
    found = cf.evaluate(cf.Log(**given, propensity="fit"), target).diagnostics
    assert found.propensity_rival_p < 1e-6
    doubt = next(one for one in found.findings if "a forest predicts actions better" in one.problem)
    assert "fit:boosting" in doubt.remedy
    better = cf.evaluate(cf.Log(**given, propensity="fit:boosting"), target).diagnostics
    assert better.propensity_log_loss < found.propensity_log_loss - 0.1


def test_outcomes_are_left_out_of_the_fit(table):
    spoilt = table.append_column("seconds", pa.array(table["reward"].to_numpy() + 0.1))
    log = cf.read_log(spoilt, propensity="fit", ignore=["target"])
    assert log.context_names == ("x0", "x1", "seconds")
    found = cf.evaluate(spoilt, propensity="fit")
    assert found.contents.context == ("x0", "x1")
    assert "copy of the reward" in found.contents.left_out["seconds"]
    assert found.value == cf.evaluate(table, propensity="fit").value


def test_a_column_of_that_name_is_meant_and_one_called_propensity_is_not_context(table):
    half = pa.array(np.full(ROWS, 1 / 3))
    assert cf.read_log(table.append_column("fit", half), propensity="fit", ignore=["target"]).fitted is None
    log = cf.read_log(table.append_column("propensity", half), propensity="fit", ignore=["target"])
    assert log.fitted is not None
    assert log.context_names == ("x0", "x1")


def test_no_context_gives_frequencies():
    _, action, _, reward, _ = draw()
    log = cf.Log(action=action, reward=reward, propensity="fit")
    shares = np.bincount(action) / ROWS
    np.testing.assert_allclose(log.logging_probs, np.tile(shares, (ROWS, 1)), atol=0.02)
    assert log.fitted.quality.rival_p is None
    finding = cf.evaluate(log, {0: 0.5, 1: 0.5}).diagnostics.findings[0]
    assert finding.problem.endswith("as if the old policy had looked at nothing")


def test_actions_that_are_rare_or_never_taken():
    x, action, _, reward, _ = draw()
    action = np.where(action == 2, 1, action)
    action[7] = 2
    log = cf.Log(context=x, action=action, reward=reward, propensity="fit", actions=[0, 1, 2, 3])
    assert log.propensity[7] > 0
    assert find_supported(log)[:, 2:].mean() < 0.01  # of one row nobody can tell where else it might have been
    with pytest.warns(cf.SupportWarning):
        assert cf.evaluate(log, np.full((ROWS, 4), 0.25)).diagnostics.unsupported_mass == pytest.approx(0.5, abs=0.01)


def test_availability_is_kept():
    x, action, _, reward, _ = draw()
    available = np.ones((ROWS, 3), dtype=bool)
    available[np.arange(ROWS), (action + 1) % 3] = False
    log = cf.Log(context=x, action=action, reward=reward, propensity="fit", available=available)
    assert (log.logging_probs[~available] == 0).all()
    np.testing.assert_allclose(log.logging_probs.sum(axis=1), 1)


def test_the_fit_knows_what_is_available():
    """Action 2 is likely where it is available, and that is seldom."""
    rng = np.random.default_rng(0)
    x, rows = rng.normal(size=(4000, 1)), 4000
    available = np.column_stack([np.ones((rows, 2), dtype=bool), rng.random(rows) < 0.15])
    logging = np.where(available, softmax(x @ np.array([[1.0, -1.0, 0.5]])), 0.0)
    logging /= logging.sum(axis=1, keepdims=True)
    action = draw_actions(logging, rng.random(rows))
    log = cf.Log(context=x, action=action, reward=rng.normal(size=rows), propensity="fit", available=available)
    there = available[:, 2]
    assert log.logging_probs[there, 2].mean() == pytest.approx(logging[there, 2].mean(), abs=0.03)
    assert np.abs(log.logging_probs - logging).mean() < 0.02
    assert log.fitted.quality.rival_p > 0.01


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("name", ["fit", "fit:boosting"])
def test_a_policy_that_left_nothing_to_chance_cannot_be_answered_for(name, engine, tmp_path):
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 70, ROWS)
    columns = {"age": age, "action": np.where(age > 45, "new", "old"), "reward": (rng.random(ROWS) < 0.1) * 1.0}
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=200)
    with pytest.warns(cf.SupportWarning):
        found = cf.evaluate(tmp_path / "log.parquet", "old", propensity=name, engine=engine, progress=False)
    assert found.verdict == "not answerable"
    assert found.diagnostics.unsupported_mass > 0.3


def test_a_copy_of_the_action_among_the_context_cannot_be_answered_for(table):
    spoilt = table.append_column("arm_id", pa.array(draw()[1].astype(float)))
    with pytest.warns(cf.SupportWarning):
        assert cf.evaluate(spoilt, propensity="fit").verdict == "not answerable"


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_actions_that_a_sample_may_lack(engine, tmp_path):
    rng = np.random.default_rng(0)
    label = np.where(rng.random(20_000) < 0.5, "a", "b").astype(object)
    label[[5000, 12_000]] = "typo", "other"
    columns = {"x": rng.normal(size=20_000), "action": label.tolist(), "reward": rng.normal(size=20_000)}
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet")
    found = cf.evaluate(tmp_path / "log.parquet", "a", propensity="fit", engine=engine, progress=False)
    assert found.contents.propensities.low > 0
    assert found.verdict == "caution"


def test_a_classifier_without_a_seed_gives_the_same_answer_each_time():
    first, second = (make_log(propensity=RandomForestClassifier(5))[0] for _ in range(2))
    np.testing.assert_array_equal(first.propensity, second.propensity)


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_outcomes_are_not_in_the_fit_though_a_policy_sees_all_columns(table, engine, tmp_path):
    spoilt = table.append_column("seconds", pa.array(table["reward"].to_numpy() + 0.1))
    pa.parquet.write_table(spoilt, tmp_path / "log.parquet")
    asked = {"propensity": "fit", "candidates": ["ips"], "reward_model": None, "progress": False}

    def policy(context):
        return np.where(context[:, 0] > 0, "a", "b")

    found = cf.evaluate(tmp_path / "log.parquet", policy, ignore=["target"], engine=engine, **asked)
    plain = cf.evaluate(table, policy, ignore=["target"], **asked)
    assert found.value == pytest.approx(plain.value, rel=1e-9)
    problem = next(one.problem for one in found.diagnostics.findings if one.name == "fitted-propensities")
    assert problem.endswith("at x0, x1 alone")


def test_columns_of_text_are_named(table):
    worded = table.append_column("segment", pa.array([f"customer {row}" for row in range(ROWS)]))
    found = cf.evaluate(worded, propensity="fit")
    assert found.contents.left_out["segment"] == "it is an identifier or free text, different in most rows"
    remedy = next(one.remedy for one in found.diagnostics.findings if one.name == "fitted-propensities")
    assert "perhaps segment" in remedy


def test_groups_stay_together():
    """Rows that are there twice would otherwise be predicted by a fit that saw their copy."""
    log, _ = make_log(group=np.arange(ROWS) // 2)
    names, _ = make_log(group=[f"user {row // 2}" for row in range(ROWS)])
    for one in (log, names):
        pairs = one.units.reshape(-1, 2)
        assert (pairs[:, 0] == pairs[:, 1]).all()


def test_rows_of_pandas_in_another_order():
    log, _ = make_log()
    x, action, _, reward, _ = draw()
    frame = pd.DataFrame({"x0": x[:, 0], "x1": x[:, 1], "action": action, "reward": reward})
    assert cf.read_log(frame, propensity="fit").propensity == pytest.approx(log.propensity)
