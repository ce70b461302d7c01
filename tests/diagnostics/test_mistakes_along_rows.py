"""Tests that look at kept rows, at ends and at robots: against naive loops, and the same however rows are cut."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy import stats

import counterfold as cf
import reference
from counterfold.diagnostics._kept_rows import MOST_STRETCHES, STRETCH_SHIFT, KeptRows
from problems import log_of, rows_of
from provoked import clean_data, clipped_at_a_fifth, labels_reused_half_way
from reference.diagnostics import bound_columns, count_informative, lay_out, rank_rewards, regress

ENGINES = ("memory", "local")
STRETCH = 1 << STRETCH_SHIFT


def find(log, target, name, **asked):
    """Return what is found, and the findings of one diagnostic."""
    found = cf.check(log, target, **asked)
    return found, [one for one in found.findings if one.name == name]


def take_means_away(lines):
    """Return lines of numbers less the mean of each stretch of neighbouring ones."""
    lines = np.array(lines)
    parts = [lines[start : start + STRETCH] for start in range(0, len(lines), STRETCH)]
    return np.concatenate([part - part.mean(axis=0) for part in parts])


def test_changed_actions_against_naive_regressions():
    data = clean_data(640)
    data.r += np.where(np.arange(640) < 320, 0.25, -0.25) * data.a
    context = take_means_away(bound_columns(data.x))
    design = take_means_away(lay_out(data.x, data.a.tolist()))
    ranks = take_means_away(rank_rewards(data.r.tolist()))
    informative = count_informative(data.r) / 2
    p_values = []
    for place in (320, 160, 480):
        is_early = (np.arange(640) < place)[:, None]
        _, left = regress(np.hstack([design * is_early, design * ~is_early]), ranks)
        _, left_steady = regress(np.hstack([context * is_early, design]), ranks)
        freedom, left_freedom = 16 - 3, 640 - 20 - 32
        ratio = (left_steady - left) / freedom / (left / left_freedom)
        p_values.append(stats.f.sf(ratio, freedom / (1 + freedom / informative), left_freedom))
    assert p_values[0] < 0.05
    assert find(log_of(data), data.target, "")[0].changed_actions_p == pytest.approx(3 * min(p_values), rel=1e-6)


@pytest.mark.parametrize("late", [500, 1000, 1500])
def test_labels_that_were_reused_are_found_wherever_it_was(late):
    data = clean_data()
    data.r += np.where(np.arange(2000) < late, 1.0, -1.0) * data.a
    _, [finding] = find(log_of(data), data.target, "changed-actions")
    assert f"after the first {late / 20:.0f}% of the log" in finding.problem


def test_labels_that_were_reused_are_found_in_the_order_of_time():
    log, target = labels_reused_half_way()
    order = np.random.default_rng(0).permutation(2000)
    hours = np.datetime64("2024-03-01T00:00:00") + 3600 * np.arange(2000)
    columns = {"action": log.action, "reward": log.reward, "time": hours, "x": log.context[:, 0]}
    columns |= {"logging_probs": log.logging_probs.tolist(), "target": target.tolist()}
    table = pa.table(columns).take(order)
    assert find(table.drop_columns("time"), "target", "changed-actions")[1] == []
    assert len(find(table, "target", "changed-actions")[1]) == 1


def test_clipped_rows_against_a_naive_count():
    log, target = clipped_at_a_fifth()
    found, [finding] = find(log, target, "clipped-propensities")
    assert found.clipped_rows == sum(one == 0.2 for one in log.propensity.tolist())
    assert finding.severity == "caution"


def test_an_action_that_always_has_the_least_propensity_is_not_clipped():
    rng = np.random.default_rng(0)
    rare = rng.random(4000) < 0.05
    propensity = np.where(rare, 0.05, rng.uniform(0.1, 0.9, 4000))
    columns = {"action": np.where(rare, 2, rng.integers(2, size=4000)), "reward": rng.normal(size=4000)}
    assert find(columns | {"propensity": propensity}, "always:1", "clipped-propensities")[1] == []


def test_propensities_that_pile_up_above_their_bound_are_not_clipped():
    rng = np.random.default_rng(0)
    propensity = 0.05 + 0.9 / (1 + np.exp(30 * rng.normal(size=8000)))
    assert (propensity == 0.05).sum() > 10
    columns = {"action": rng.integers(2, size=8000), "reward": rng.normal(size=8000), "propensity": propensity}
    assert find(columns, "always:1", "clipped-propensities")[1] == []


@pytest.mark.parametrize("cut", [1, 37, 5000])
def test_kept_rows_are_the_same_however_rows_are_cut(cut):
    rows = rows_of(reference.random_data(0, rows=6000))
    order = np.random.default_rng(cut).permutation(6000)
    edges = [0, *sorted(order[: cut - 1].tolist()), 6000] if cut < 5000 else list(range(0, 6001, 100))
    parts = [KeptRows.of(rows.take(np.arange(*one))) for one in pairwise(edges) if one[0] < one[1]]
    total = parts[0]
    for one in parts[1:]:
        total = total + one
    whole = KeptRows.of(rows)
    assert len(whole) <= MOST_STRETCHES * STRETCH
    assert len(whole) > 0.9 * MOST_STRETCHES * STRETCH
    for name in ("numbers", "context", "actions", "rewards", "places"):
        np.testing.assert_array_equal(getattr(total, name), getattr(whole, name))
    starts = whole.numbers[::STRETCH]
    np.testing.assert_array_equal(starts % STRETCH, 0)


def test_every_engine_finds_the_same_where_batches_know_only_their_own_actions(tmp_path):
    rng = np.random.default_rng(0)
    action = rng.integers(40, size=6000)
    reward = np.roll(action % 4 + rng.normal(size=6000), 1)
    columns = {"x": rng.normal(size=6000), "action": action, "reward": reward, "propensity": np.full(6000, 1 / 40)}
    pa.parquet.write_table(
        pa.table(columns | {"target": rng.uniform(0, 0.05, size=6000)}), tmp_path / "log.parquet", row_group_size=700
    )
    several = [find(tmp_path / "log.parquet", "target", "shifted-rewards", engine=engine) for engine in ENGINES]
    assert [len(findings) for _, findings in several] == [1, 1]
    memory, local = (found for found, _ in several)
    for name in ("next_reward_p", "changed_actions_p", "explained_share", "repeated_context_rows"):
        assert getattr(memory, name) == pytest.approx(getattr(local, name), rel=1e-9)


@pytest.mark.parametrize(("level", "odd", "count"), [(0.0, 0, 1), (0.0, 2, 1), (1.0, 2, 1), (0.0, 40, 0), (1.0, 60, 0)])
def test_a_robot_always_earns_the_same_with_few_exceptions(level, odd, count):
    rng = np.random.default_rng(0)
    is_robot = np.arange(4000) < 200
    reward = np.where(is_robot, level, rng.random(4000) < 0.25)
    reward[:odd] = 1 - level
    columns = {"x": np.where(is_robot, 0.5, rng.normal(size=4000)), "action": rng.integers(2, size=4000)}
    found, findings = find(
        columns | {"reward": reward, "propensity": np.full(4000, 0.5)}, "always:1", "repeated-context"
    )
    assert len(findings) == count
    assert 200 * count <= found.repeated_context_rows <= 205 * count  # a few others share the bucket


@pytest.mark.parametrize("levels", [2, 12, 100])
def test_frequent_contexts_of_a_log_with_few_are_no_robots(levels):
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, levels + 1)
    x = rng.choice(levels, size=4000, p=shares / shares.sum()).astype(float)
    columns = {"x": x, "action": rng.integers(2, size=4000), "reward": (rng.random(4000) < 0.3) * (x != 0)}
    assert find(columns | {"propensity": np.full(4000, 0.5)}, "always:1", "repeated-context")[1] == []


SCALES = [("stars", 0), ("prices", 0), ("minutes", 0), ("capped", 1), ("floor", 1)]


@pytest.mark.parametrize(("rewards", "count"), SCALES)
def test_ends_of_scales_are_no_caps(rewards, count):
    rng = np.random.default_rng(0)
    amounts = np.exp(rng.normal(size=4000))
    known = {
        "stars": rng.integers(1, 6, size=4000),
        "prices": rng.choice(np.round(rng.uniform(5, 200, size=80), 2), size=4000),
        "minutes": np.minimum(rng.poisson(30, size=4000), 90),
        "capped": np.minimum(amounts, 6.0),
        "floor": np.maximum(rng.normal(size=4000), -2.0),
    }
    columns = {"action": rng.integers(2, size=4000), "reward": known[rewards].astype(float)}
    assert len(find(columns | {"propensity": np.full(4000, 0.5)}, "always:1", "capped-rewards")[1]) == count


@pytest.mark.parametrize("copies", [1, 20])
def test_users_with_one_mood_are_no_column_of_the_future(copies):
    rng = np.random.default_rng(0)
    user = np.arange(4000) // copies
    x, mood = rng.normal(size=4000), (rng.random(4000) < 0.4) * 1.0
    columns = {"x": x[user], "action": rng.integers(2, size=4000), "reward": mood[user]}
    assert find(columns | {"propensity": np.full(4000, 0.5)}, "always:1", "future-columns")[1] == []


def test_sorted_rewards_make_no_column_tell_the_future():
    rng = np.random.default_rng(0)
    columns = {"x": rng.integers(3, size=4000), "action": rng.integers(2, size=4000), "reward": np.arange(4000) // 2000}
    assert find(columns | {"propensity": np.full(4000, 0.5)}, "always:1", "future-columns")[1] == []


def test_the_best_action_alone_may_earn_all():
    rng = np.random.default_rng(0)
    action = rng.integers(3, size=3000)
    columns = {"action": action, "reward": (action == 1) * 1.0, "propensity": np.full(3000, 1 / 3)}
    asked = {"candidates": ["snips"], "progress": False}
    found = cf.evaluate(columns, "always:1", **asked).diagnostics
    assert [one for one in found.findings if one.name == "perfect-value"] == []


def test_clean_logs_are_seldom_alarmed():
    names = {"capped-rewards", "changed-actions", "future-columns", "informed-target", "repeated-context"}
    names |= {"shifted-rewards"}
    alarmed = 0
    for seed in range(60):
        data = reference.random_data(seed, rows=600, binary=seed % 2 == 0)
        alarmed += any(one.name in names for one in cf.check(log_of(data), data.target).findings)
    assert alarmed <= 1
