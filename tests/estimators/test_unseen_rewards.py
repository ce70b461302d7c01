"""How far rewards that were not seen reach, by theory and by naive loops."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy.stats import beta

import counterfold as cf
from counterfold.estimators.unseen_rewards import Chance, Unseen
from counterfold.log.contents import Contents, Spread

EVERY = ["normal", "student-t", "skewed-t", "empirical-likelihood", "bootstrap", "empirical-bernstein"]


def clicks(rng, rows=10_000, actions=34, rate=0.005):
    """Return a log of rare clicks on actions that were taken uniformly at random."""
    action = rng.integers(actions, size=rows)
    reward = (rng.random(rows) < rate).astype(float)
    reward[0] = 1.0
    probs = np.full((rows, actions), 1 / actions)
    return cf.Log(action=action, reward=reward, logging_probs=probs, actions=range(actions)), action, reward


def always(action, rows=10_000, actions=34):
    return np.tile(np.eye(actions)[action], (rows, 1))


def test_no_reward_at_all_is_clopper_and_pearson():
    for effective in (30.0, 306.0, 1e5):
        unseen = Unseen((Chance(effective, 0.0, 1.0),), limits=(0.0, 1.0))
        low, high = unseen.widen(0.0, 0.0, 0.0, 0.95)
        assert (low, high) == (0.0, pytest.approx(beta.ppf(0.975, 1, effective)))
    assert Unseen((Chance(0.0, 0.2, 0.8),)).widen(0.2, 0.2, 0.2, 0.9) == (0.0, 1.0)


def test_it_only_widens_and_keeps_to_the_limits():
    unseen = Unseen((Chance(100.0, 0.5, 0.5),), limits=(0.0, 1.0))
    assert unseen.widen(0.1, 0.8, 0.5, 0.95) == (0.1, 0.8)
    assert unseen.widen(-0.1, 1.8, 0.5, 0.95) == (0.0, 1.0)
    assert unseen.widen(-0.3, -0.1, -0.2, 0.95)[0] == -0.2  # it holds the value, whatever that is


def test_what_no_row_tells_moves_the_ends_and_changes_sides_with_the_sign():
    policy = Unseen(limits=(0.0, 1.0), beyond=(0.0, 0.25))
    assert policy.widen(0.5, 0.625, 0.5625, 0.95) == (0.5, 0.875)
    assert policy.widen(0.5, 0.9, 0.5625, 0.95) == (0.5, 1.0)
    assert policy.times(-2.0).widen(-1.25, -1.0, -1.125, 0.95) == (-1.75, -1.0)
    log = Unseen()
    assert policy.between(log, 0.1, 0.1).widen(0.0, 0.25, 0.125, 0.95) == (0.0, 0.5)
    assert log.between(policy, 0.1, 0.1).widen(-0.25, 0.0, -0.125, 0.95) == (-0.5, 0.0)


@pytest.mark.parametrize("method", EVERY)
def test_a_target_without_a_reward_has_an_interval_of_some_width(method):
    log, action, reward = clicks(np.random.default_rng(0))
    unlucky = next(one for one in range(34) if reward[action == one].sum() == 0)
    result = cf.evaluate(log, always(unlucky), interval=method)
    expected = beta.ppf(0.975, 1, (action == unlucky).sum())
    assert 0 <= result.interval.low <= result.value < 1e-4  # which is what the model predicts from other actions
    assert expected <= result.interval.high < 1.2 * expected


@pytest.mark.statistical
def test_targets_with_few_clicks_are_covered():
    """Two fifths of 510 targets have no click; a coverage of 97 % would fail with a chance of 0.1 %."""
    hits = []
    for seed in range(15):
        log, _, _ = clicks(np.random.default_rng([5, seed]), rows=3000, rate=0.01)
        targets = {str(one): always(one, rows=3000) for one in range(34)}
        found = cf.evaluate(log, targets, reward_model=None, progress=False).values()
        hits += [one.interval.low <= 0.01 <= one.interval.high for one in found]
    assert np.mean(hits) > 0.945


def test_the_possible_rewards_bound_the_answer_and_its_interval():
    rng = np.random.default_rng(0)
    log = cf.Log(
        action=rng.integers(2, size=40), reward=np.where(rng.random(40) < 0.95, 1.0, 0.0), propensity=[0.5] * 40
    )
    result = cf.evaluate(log, np.full(40, 0.5))
    assert result.interval.high == 1.0
    stated = cf.evaluate(log, np.full(40, 0.5), reward_range=(0, 5))
    assert stated.interval.high > 1.0
    assert stated.value == result.value
    with pytest.raises(cf.DataError, match=r"`reward` must lie within `reward_range`, which is 0 to 0\.5, got 0 to 1"):
        cf.evaluate(log, np.full(40, 0.5), reward_range=(0, 0.5))
    for wrong in ((1, 0), (0, math.nan), 3, "ab", (0, 1, 2)):
        with pytest.raises(cf.ParameterError, match="`reward_range` must be the least and the largest possible reward"):
            cf.evaluate(log, np.full(40, 0.5), reward_range=wrong)


def test_an_answer_outside_the_possible_rewards_is_moved_inside():
    reward, propensity = [1.0, 1.0, 0.0, 1.0], [0.1, 0.2, 0.9, 0.3]
    log = cf.Log(action=[0, 1, 0, 1], reward=reward, propensity=propensity)
    result = cf.evaluate(log, [1.0, 1.0, 0.1, 1.0], [cf.IPS()], reward_model=None)
    assert cf.estimate(log, [1.0, 1.0, 0.1, 1.0], cf.IPS()).value > 1.0
    assert (result.value, result.interval.high) == (pytest.approx(1.0), pytest.approx(1.0))


def test_what_a_reward_may_be_against_naive_loops():
    rng = np.random.default_rng(0)
    reward = np.where(rng.random(500) < 0.1, rng.lognormal(size=500), 0.0)
    log = cf.Log(action=rng.integers(2, size=500), reward=reward, propensity=np.full(500, 0.5))
    found = cf.estimate(log, np.full(500, 0.5), cf.SNIPS()).unseen
    least, most = min(reward), max(reward)
    high = least + sum((r - least) ** 2 for r in reward) / sum(r - least for r in reward)
    low = most - sum((most - r) ** 2 for r in reward) / sum(most - r for r in reward)
    mean = sum(reward) / 500
    [chance] = found.chances
    assert chance == pytest.approx((500.0, mean - low, high - mean))
    cubes = sum((r - mean) ** 3 for r in reward) / sum((r - mean) ** 2 for r in reward)
    assert found.slope == pytest.approx(cubes / 500)
    assert found.limits == (0.0, math.inf)  # most rewards are 0, and none is less


def test_rows_of_one_group_count_as_one_where_they_have_the_same_reward():
    rng = np.random.default_rng(0)
    columns = {"action": rng.integers(2, size=3000), "propensity": np.full(3000, 0.5), "group": np.arange(3000) // 5}

    def count(reward):
        [chance] = cf.estimate(cf.Log(reward=reward, **columns), np.full(3000, 0.5), cf.SNIPS()).unseen.chances
        return chance.effective

    assert count(np.repeat(rng.random(600), 5)) == pytest.approx(600, rel=0.02)
    assert count(rng.random(3000)) == pytest.approx(3000, rel=0.15)


@pytest.mark.statistical
@pytest.mark.parametrize("groups", [80, pytest.param(500, marks=pytest.mark.slow)])
def test_groups_of_independent_rewards_are_covered(groups):
    """Of 150 logs; a coverage of 95 % would fail with a chance of 1 %."""
    hits, widths = 0, []
    for seed in range(150):
        rng = np.random.default_rng([groups, seed])
        reward = (rng.random(4000) < 0.03).astype(float)
        columns = {"action": rng.integers(2, size=4000), "reward": reward, "propensity": np.full(4000, 0.5)}
        log = cf.Log(**columns, group=rng.integers(groups, size=4000))
        found = cf.evaluate(log, np.where(log.action == 1, 0.8, 0.2), reward_model=None, progress=False)
        hits += found.interval.low <= 0.03 <= found.interval.high
        widths.append(found.interval.high - found.interval.low)
    assert hits >= 136
    assert np.median(widths) < 0.025


@pytest.mark.statistical
def test_an_answer_whose_noise_is_that_of_fitting_is_covered():
    """DM alone, on 100 logs; a coverage of 95 % would fail with a chance of 1 %."""
    hits = 0
    for seed in range(100):
        rng = np.random.default_rng([7, seed])
        context, action = rng.normal(size=(1000, 2)), rng.integers(2, size=1000)
        reward = (rng.random(1000) < 0.05).astype(float)
        log = cf.Log(context=context, action=action, reward=reward, logging_probs=np.full((1000, 2), 0.5))
        low, high = cf.evaluate(log, np.tile([0.3, 0.7], (1000, 1)), [cf.DM()], progress=False).interval
        hits += low <= 0.05 <= high
    assert hits >= 90


@pytest.mark.parametrize("rows", [500, 3000])
def test_differences_are_the_same_on_every_engine(rows, tmp_path):
    rng = np.random.default_rng(0)
    action, reward = rng.integers(4, size=rows), (rng.random(rows) < 0.02).astype(float)
    columns = {"action": action, "reward": reward, "propensity": np.full(rows, 0.25)}
    columns |= {f"a_{one}": np.full(rows, share) for one, share in enumerate([0.7, 0.1, 0.1, 0.1])}
    columns |= {f"b_{one}": np.full(rows, share) for one, share in enumerate([0.1, 0.7, 0.1, 0.1])}
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=300)
    scan = cf.LogScan(tmp_path / "log.parquet", ignore=["a", "b"])
    several = [cf.evaluate(scan, {"a": "a", "b": "b"}, engine=one, progress=False) for one in ("memory", "local")]
    for gaps in zip(*((one["a"].uplift(one["b"]), one["a"].uplift()) for one in several), strict=True):
        memory, local = gaps
        assert np.array(memory.unseen.chances)[:, 0] == pytest.approx(np.array(local.unseen.chances)[:, 0])
        assert tuple(memory.interval()) == pytest.approx(tuple(local.interval()), rel=0.1, abs=0.001)


def test_spreads_add_up():
    rng = np.random.default_rng(0)
    values = rng.lognormal(size=300) + 100
    parts = [Spread.of(part) for part in np.split(values, [7, 8, 150])]
    total = parts[0] + parts[1] + parts[2] + parts[3]
    whole = Spread.of(values)
    assert vars(total) == pytest.approx(vars(whole))
    assert whole.squares == pytest.approx(sum((value - values.mean()) ** 2 for value in values))
    assert whole.cubes == pytest.approx(sum((value - values.mean()) ** 3 for value in values))


@pytest.mark.parametrize(
    ("values", "two"), [([0, 1, 1, 0], True), ([0, 25.0, 0], True), ([0, 0.5, 1], False), ([3, 3], False)]
)
def test_two_different_rewards_are_told_from_more(values, two):
    spread = Spread.of(np.array(values * 5000, dtype=float))
    assert spread.is_two_valued == two
    assert (spread + spread).is_two_valued == two


def test_a_difference_reaches_by_what_targets_gain_and_lose():
    log, action, reward = clicks(np.random.default_rng(0))
    unlucky = next(one for one in range(34) if reward[action == one].sum() == 0)
    target = always(unlucky)
    results = cf.evaluate(log, {"a": target, "b": 0.99 * target + 0.01 / 34, "same": target.copy()})
    assert tuple(results["a"].uplift(results["same"]).interval()) == (0.0, 0.0)
    assert results["a"].uplift(results["same"]).stderr == 0.0
    low, high = results["a"].uplift(results["b"]).interval()
    assert -0.0002 < low < high < 0.0002  # hardly more than a hundredth of what the target itself may be worth
    low, high = results["a"].uplift().interval()
    assert high > 0.007  # the action may be worth twice the log
    assert low > -0.007


def test_contents_know_the_rewards(columns):
    log = cf.Log(action=columns["action"], reward=columns["reward"], propensity=np.full(120, 0.5))
    assert Contents.of(log).rewards == Spread.of(log.reward)
