"""Rewards along the rows of a log without times: against a naive loop, the same on every engine, and seldom wrong."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy import stats

import counterfold as cf
import reference
from counterfold.diagnostics.row_order import MOST, SHORTEST, Stretches
from counterfold.policies.given import as_target
from problems import log_of, rows_of
from reference.diagnostics import count_silent

ENGINES = ("memory", "local")


def clicks(rows=4000, seed=0, rate=0.2, actions=3):
    """Return the columns of a log of clicks, all actions of which are as good."""
    rng = np.random.default_rng(seed)
    action, reward = rng.integers(actions, size=rows), (rng.random(rows) < rate) * 1.0
    return {"x": rng.normal(size=rows), "action": action, "reward": reward, "propensity": np.full(rows, 1 / actions)}


def find(columns, **asked):
    """Return what is found of a target that always takes action 1, and the finding about the order of rows."""
    found = cf.check(columns, "always:1", **asked)
    return found, [one for one in found.findings if one.name == "row-order"]


@pytest.mark.parametrize("silent", [slice(3396, None), slice(None, 600)])
def test_against_naive_loop(silent):
    columns = clicks(4096)
    columns["reward"][silent] = 0.0
    found, [finding] = find(columns)
    rewards, actions = columns["reward"].tolist(), columns["action"].tolist()
    if silent.start is None:
        rewards, actions = rewards[::-1], actions[::-1]
    length = 1 << next(shift for shift in range(SHORTEST, 20) if 4096 / (1 << shift) <= MOST)
    assert found.silent_rows == count_silent(rewards, actions, 1.0, length=length)
    assert abs(found.silent_rows - (700 if silent.start else 600)) < length
    assert finding.severity == "caution"
    assert f"of the {'last' if silent.start else 'first'} {found.silent_rows} rows" in finding.problem


@pytest.mark.parametrize("cut", [1, 37, 5000])
def test_stretches_are_the_same_however_rows_are_cut(cut):
    rows = rows_of(reference.random_data(0, rows=5000))
    order = np.random.default_rng(cut).permutation(5000)
    edges = [0, *sorted(order[: cut - 1].tolist()), 5000] if cut < 5000 else list(range(0, 5001, 100))
    parts = [Stretches.of(rows.take(order[slice(*one)])) for one in pairwise(edges)]
    total = parts[0]
    for one in parts[1:]:
        total = total + one
    whole = Stretches.of(rows)
    assert (total.shift, total.numbers.tolist()) == (whole.shift, whole.numbers.tolist())
    assert len(whole.numbers) == 40
    np.testing.assert_allclose(total.sums, whole.sums, rtol=1e-9)


def test_rows_that_stand_for_several_decisions_count_so():
    columns = clicks(6000, rate=0.3)
    columns["kept"] = np.where(columns["reward"] > 0, 1.0, 0.25)
    drawn = np.random.default_rng(1).random(6000) < columns["kept"]
    some = {name: values[drawn] for name, values in columns.items()}
    found, _ = find(some, kept="kept")
    weights = 1 / some["kept"]
    mean = weights @ some["reward"] / weights.sum()
    sums = Stretches.of(rows_of_kept(some))
    assert sums.rewards.values @ sums.weights.total / weights.sum() == pytest.approx(mean)
    assert found.row_order_p > 0.001


def rows_of_kept(columns):
    """Return the rows of a log that was thinned."""
    log = cf.read_log(columns, kept="kept")
    return cf.Rows.of(log, as_target("always:1", log), None)


@pytest.mark.parametrize("gaps", [False, True])
def test_every_engine_finds_the_same(gaps, tmp_path):
    columns = clicks(5000)
    columns["reward"][4200:] = 0.0
    if gaps:
        columns["reward"][::9] = np.nan
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=333)
    asked = {"missing_reward": "drop"} if gaps else {}
    (memory, [one]), (local, [two]) = (find(tmp_path / "log.parquet", engine=engine, **asked) for engine in ENGINES)
    assert one == two
    numbers = [(known.row_order_p, known.row_order, known.silent_rows) for known in (memory, local)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-9)


def test_a_log_with_times_has_drift_in_its_place():
    columns = clicks()
    columns["reward"][3300:] = 0.0
    columns["time"] = np.datetime64("2026-03-02T00:00:00") + np.arange(4000) * np.timedelta64(600, "s")
    found, several = find(columns)
    assert (several, found.row_order_p) == ([], None)
    assert [one.name for one in found.findings if one.severity == "caution"] == ["drift"]


def test_rewards_that_become_common_are_a_note():
    columns = clicks(rate=0.1)
    columns["reward"][2000:] = clicks(2000, seed=1, rate=0.2)["reward"]
    found, [finding] = find(columns)
    assert (finding.severity, found.verdict, found.silent_rows) == ("note", "good", 0)


def test_amounts_that_are_all_zero_at_the_end():
    columns = clicks()
    columns["reward"] = np.where(np.arange(4000) < 3700, np.random.default_rng(1).lognormal(size=4000), 0.0)
    found, [finding] = find(columns)
    assert finding.severity == "caution"
    assert found.silent_rows == 4 * 64 + 32  # whole stretches, of which the last one is shorter


@pytest.mark.parametrize("by", ["reward", "action"])
def test_other_orders_are_no_reason_for_a_caution(by):
    columns = clicks()
    columns["reward"] *= columns["action"] != 2  # the last action never earns anything
    order = np.argsort(columns[by], kind="stable")
    _, several = find({name: values[order] for name, values in columns.items()})
    assert {one.severity for one in several} <= {"note"}


def test_users_whose_rows_are_neighbours_do_not_look_like_a_change():
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(200):
        columns = clicks(2000)
        user = np.repeat(np.arange(100), 20)
        columns["reward"] = (rng.random(2000) < rng.beta(1.0, 3.0, 100)[user]) * 1.0
        wrong += bool(find(columns | {"user": user}, group="user")[1])
    assert stats.binomtest(wrong, 200, 0.01, alternative="greater").pvalue > 0.001


def test_logs_in_any_order_are_seldom_called_changing():
    alarms, tested = 0, 0
    for seed in range(400):
        columns = clicks(int(np.random.default_rng(seed).integers(100, 3000)), seed, rate=[0.02, 0.3, 0.9][seed % 3])
        if np.ptp(columns["reward"]) == 0:
            continue
        found, several = find(columns)
        alarms, tested = alarms + bool(several), tested + (found.row_order_p is not None)
    assert tested > 350
    assert stats.binomtest(alarms, tested, 0.002, alternative="greater").pvalue > 0.001


def test_a_target_of_another_log_is_not_needed():
    data = reference.random_data(1, rows=300)
    assert cf.check(log_of(data), data.target).row_order_p is not None


def amounts(rows=4000, seed=0, rate=0.3):
    """Return a log of amounts: most people buy nothing, and the others spend log-normal amounts."""
    rng = np.random.default_rng(seed)
    columns = clicks(rows, seed=seed, rate=rate)
    columns["reward"] = columns["reward"] * np.exp(rng.normal(size=rows))
    return columns


@pytest.mark.parametrize("rate", [0.08, 0.3])
def test_another_unit_from_some_row_on_is_a_caution(rate):
    columns = amounts(rate=rate)
    columns["reward"][2800:] *= 100
    found, [finding] = find(columns)
    assert (finding.severity, found.verdict) == ("caution", "caution")
    assert "in one unit" in finding.remedy


def test_amounts_that_grow_steadily_are_a_note():
    columns = amounts()
    columns["reward"] *= 100 ** np.linspace(0, 1, 4000)
    assert [one.severity for one in find(columns)[1]] == ["note"]


@pytest.mark.statistical
def test_amounts_in_one_unit_are_never_taken_for_two():
    several = [find(amounts(seed=seed, rate=rate))[1] for seed in range(50) for rate in (0.05, 0.08, 0.3)]
    assert all(one.severity == "note" for findings in several for one in findings)
