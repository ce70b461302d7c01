"""The policy that logged earned the mean of the log, and differences that are rounding errors are 0."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from counterfold.estimators.estimates import Exposure, Moves
from counterfold.estimators.rows import Rows
from counterfold.evaluation.design import AssignmentObserver
from counterfold.policies.given import as_target

ROWS = 600


@pytest.fixture(params=["memory", "local"])
def engine(request):
    return request.param


@pytest.fixture(params=[(0.0, 0), (1e6, 1), (-1e6, 2)], ids=["near 0", "near a million", "near minus a million"])
def bandit(request):
    """Return context, probabilities, actions and rewards around some level."""
    offset, seed = request.param
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, 3))
    scores = np.exp(x @ rng.normal(size=(3, 3)))
    probs = 0.1 + 0.7 * scores / scores.sum(axis=1, keepdims=True)
    action = (probs.cumsum(axis=1) > rng.random((ROWS, 1))).argmax(axis=1)
    return x, probs, action, offset + x[:, 0] * (action == 1) + rng.normal(size=ROWS)


@pytest.fixture
def table(bandit, tmp_path):
    """Return a function that writes the log with propensities, and with other columns, as a file."""
    x, probs, action, reward = bandit

    def write(**columns):
        known = {"x0": x[:, 0], "x1": x[:, 1], "action": action, "reward": reward}
        pa.parquet.write_table(pa.table(known | columns), tmp_path / "log.parquet", row_group_size=70)
        return tmp_path / "log.parquet"

    return write, probs, probs[np.arange(ROWS), action], reward


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("knows_all", [False, True], ids=["propensities", "full probabilities"])
def test_the_policy_that_logged_earns_the_mean_of_the_log(table, engine, kind, knows_all):
    write, probs, propensity, reward = table
    known = {"logging_probs": probs.tolist()} if knows_all else {"propensity": propensity}
    copied = probs.astype(kind).tolist() if knows_all else propensity.astype(kind)
    path = write(**known, copy=copied)
    for target in ("logger", "copy"):
        found = cf.compare(path, {"new": target}, engine=engine, progress=False)
        result, [line] = found["new"], found.table
        assert result.value == pytest.approx(reward.mean(), rel=1e-15)
        assert (line.value, line.stderr, line.low, line.high) == (0.0, 0.0, 0.0, 0.0)
        assert (result.selected, result.design.is_same_policy) == ("SNIPS", True)
        assert [one.share for one in result.table if one.chosen] == [1.0]
        assert sum(one.share for one in result.table) == 1.0
        for step in (result.next_step, found.advise("new")):
            assert (step.action, step.per_arm) == ("keep", None)
            assert "it is the same policy" in step.sentence
        assert not {"small-log", "disagreement"} & {one.name for one in result.diagnostics.findings}


def test_two_copies_of_one_policy_are_the_same(table, engine):
    write, _, propensity, _ = table
    path = write(propensity=propensity, copy=propensity.astype(np.float32))
    found = cf.compare(path, {"old": "logger", "new": "copy"}, baseline="old", engine=engine, progress=False)
    assert found.advise("new").action == "keep"
    assert found.table[0].value == found.table[0].high == 0.0


def test_a_policy_that_differs_in_a_few_rows_is_another_one(table, engine):
    write, _, propensity, _ = table
    other = np.where(np.arange(ROWS) % 100 == 0, 1.01 * propensity, propensity)
    result = cf.evaluate(write(propensity=propensity, other=other), "other", engine=engine, progress=False)
    assert not result.design.is_same_policy
    low, high = result.uplift().interval()
    assert low < high


def test_one_estimator_that_was_asked_for_stays(bandit):
    """DR is no mean of rewards, so its value stays; but nothing is shipped."""
    x, probs, action, reward = bandit
    log = cf.Log(context=x, action=action, reward=reward, logging_probs=probs)
    result = cf.evaluate(log, probs, [cf.DR()], progress=False)
    assert result.selected == "DR"
    assert result.value == pytest.approx(cf.estimate(log, probs, cf.DR()).value)
    assert result.next_step.action == "keep"


def test_segments_of_the_same_policy_do_not_differ(table, engine):
    write, _, propensity, _ = table
    path = write(propensity=propensity, part=np.arange(ROWS) % 3)
    result = cf.evaluate(path, "logger", by="part", engine=engine, progress=False)
    assert [line.difference for line in result.segments] == [0.0, 0.0, 0.0]
    assert [(line.difference_low, line.difference_high) for line in result.segments] == [(0.0, 0.0)] * 3


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_rounding_errors_of_a_difference_are_nothing(size):
    rng = np.random.default_rng(0)
    values = size + size * 0.1 * rng.normal(size=ROWS)
    noisy = values * (1 + np.finfo(float).eps * rng.integers(-3, 4, size=ROWS))
    moves = rng.normal(size=50) * size * 1e-3
    one = cf.Estimate("one", values, moves=Moves("units", moves), exposure=Exposure(np.ones(ROWS), ROWS))
    weights = 1 + np.finfo(float).eps * rng.integers(-3, 4, size=ROWS)
    exposure = Exposure(weights, ROWS)
    other = cf.Estimate("other", noisy, moves=Moves("units", moves * (1 + 1e-15)), exposure=exposure)
    gap = one - other
    assert (gap.value, gap.stderr, *gap.interval()) == (0.0, 0.0, 0.0, 0.0)


def test_small_differences_of_large_numbers_are_kept():
    """The difference is 1e-3 standard deviations, on rewards around a million."""
    rng = np.random.default_rng(0)
    values = 1e6 + rng.normal(size=ROWS)
    change = 1e-3 * (1 + rng.normal(size=ROWS))
    gap = cf.Estimate("one", values + change) - cf.Estimate("other", values)
    assert gap.value == pytest.approx(change.mean(), abs=1e-9)
    assert gap.stderr == pytest.approx(change.std() / np.sqrt(ROWS), rel=0.01)


@pytest.mark.parametrize(("propensities", "is_trial"), [((0.5, 0.5), True), ((0.8, 0.2), True), (None, False)])
def test_a_trial_has_one_propensity_for_each_action(bandit, propensities, is_trial):
    x, probs, action, reward = bandit
    if propensities is not None:
        action = (np.random.default_rng(0).random(ROWS) > propensities[0]).astype(int)
        logged = np.array(propensities)[action]
    else:
        logged = probs[np.arange(ROWS), action]
    log = cf.Log(context=x, action=action, reward=reward, propensity=logged)
    result = cf.evaluate(log, 1, progress=False)
    assert result.design.is_trial == is_trial
    assert result.design.effective_rows == pytest.approx(result.diagnostics.effective_rows)


def test_what_is_seen_of_parts_of_a_log_adds_up(bandit):
    x, probs, action, reward = bandit
    log = cf.Log(context=x, action=action, reward=reward, logging_probs=probs)
    rows, observer = Rows.of(log, as_target(1, log), None), AssignmentObserver()
    whole = observer.observe(rows)
    parts = [observer.observe(rows.take(slice(start, start + 100))) for start in range(0, ROWS, 100)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    assert total.farthest_weight == whole.farthest_weight
    assert total.propensities == whole.propensities
    for code in range(3):
        own = probs[action == code, code]
        assert whole.propensities[log.actions[code]] == (own.min(), own.max())
