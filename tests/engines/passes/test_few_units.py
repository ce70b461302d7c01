"""Large logs that are odd: few rows or groups, and what the noise of fitting comes from."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.base.hashing import hash_labels, hash_numbers
from counterfold.estimators.sums import BUCKETS
from counterfold.models import ModelStream
from counterfold.models.base import Scaling
from counterfold.models.ridge_per_action import RidgePerAction
from large_logs import ROWS, answer, both, made, refused, same, with_column
from tables import FORMATS


@pytest.mark.parametrize("rows", [4, 30, 400, BUCKETS, BUCKETS + 1])
def test_small_logs_of_weights_alone_have_a_unit_per_row(rows, save_table):
    lone = made(rows, logged_only=True, targets=1, context=0)
    memory, local = both(save_table(lone), candidates="default")
    same(memory, local)
    if rows <= BUCKETS:
        assert [one.stderr for one in local.table] == pytest.approx([one.stderr for one in memory.table])


@pytest.mark.parametrize("candidates", ["default", "paper"])
@pytest.mark.parametrize("groups", [2, 7, 500])
def test_few_groups_have_a_unit_each(groups, candidates, save_table):
    lone = made(ROWS, logged_only=True, targets=1, context=0)
    labels = pa.array([f"user {number % groups}" for number in range(ROWS)])
    memory, local = both(save_table(lone.append_column("group", labels)), candidates=candidates)
    for part in ("value", "stderr"):
        left, right = ([getattr(one, part) for one in result.table] for result in (memory, local))
        assert right == pytest.approx(left, rel=1e-9)
    assert local.diagnostics.groups == memory.diagnostics.groups == groups


@pytest.mark.parametrize("groups", [2, 7, 500, 2000])
def test_a_ladder_of_groups_is_that_of_memory(groups, save_table):
    lone = made(ROWS, logged_only=True, targets=1, context=0)
    labels = pa.array([f"user {number % groups}" for number in range(ROWS)])
    memory, local = both(save_table(lone.append_column("group", labels)), candidates="default", selector="default")
    if groups <= BUCKETS:
        same(memory, local)
        assert local.stderr == pytest.approx(memory.stderr, rel=1e-9)
    assert local.value == pytest.approx(memory.value, abs=0.1 * memory.stderr)  # other buckets, other noise


@pytest.mark.parametrize(("rows", "passes"), [(BUCKETS + 1, 1), (BUCKETS, 2)])
@pytest.mark.parametrize("name", ["log.parquet", "log.csv"])
def test_weights_need_one_pass_unless_the_log_is_small(name, rows, passes, tmp_path):
    lone = made(rows, logged_only=True, targets=1, context=0)
    (tmp_path / name).write_bytes(FORMATS[name](lone))
    moved = []
    settings = {"engine": "local", "threads": 1, "progress": lambda *where: moved.append(where)}
    cf.evaluate(tmp_path / name, "target", "plain", "ocv", **settings)
    assert moved.count((rows, rows)) == passes
    moved.clear()
    cf.evaluate(tmp_path / name, **settings)
    assert moved.count((rows, rows)) == 2


def test_two_groups_with_one_hash_in_buckets_are_two(save_table):
    number = next(one for one in range(1, 10**6) if _bucket(one) == _bucket(0))
    lone = made(ROWS, logged_only=True, targets=1, context=0)
    groups = lone.append_column("group", [np.where(np.arange(ROWS) % 2 == 0, 0, number)])
    memory, local = both(save_table(groups), candidates=["ips", "snips"])
    assert [one.stderr for one in local.table] == pytest.approx([one.stderr for one in memory.table])


def _bucket(label):
    return int(hash_numbers(hash_labels(np.array([label])))[0]) % BUCKETS


def test_one_group_is_refused_by_check_and_evaluate(save_table, run):
    lone = made(ROWS, logged_only=True, targets=1, context=0)
    path = save_table(lone.append_column("group", [np.zeros(ROWS, dtype=int)]))
    refused(path, "`group` must have at least 2 different groups, got 1")
    for command in ("evaluate", "check"):
        code, _, err = run(command, path, "--engine", "local")
        why = "Column `group` was taken because of its name: leave it out if it is something else (`ignore`, --ignore)."
        assert (code, err) == (2, f"Error: `group` must have at least 2 different groups, got 1. {why}\n")


def test_check_refuses_rewards_that_do_not_vary(table, save_table, run):
    path = save_table(with_column(table, "reward", np.ones(ROWS)))
    for engine in ("memory", "local"):
        code, _, err = run("check", path, "--engine", engine)
        assert (code, err) == (2, "Error: `reward` must vary, got 1.0 in all 3000 rows: there is nothing to compare.\n")


@pytest.mark.parametrize(("groups", "near"), [(4, 0.1), (12, 0.02)])
def test_the_noise_of_fitting_comes_from_cells_that_hold_rows(groups, near, table, save_table):
    grouped = table.append_column("group", [np.arange(ROWS) % groups])
    settings = {"candidates": ["dm"], "selector": "slope", "reward_model": "ridge-per-action"}
    memory, local = both(save_table(grouped), **settings)
    assert local.stderr > 2 * local.table[0].stderr
    assert local.stderr == pytest.approx(memory.stderr, rel=near)


def test_the_noise_of_fitting_is_that_of_the_whole_log_though_it_is_sorted(table, save_table, monkeypatch):
    path = save_table(table.take(np.argsort(table.column("x0").to_numpy())))
    noise = []
    for enough in (ROWS, 500):
        monkeypatch.setattr("counterfold.engines.passes.sum_evidence.ENOUGH", enough)
        local = answer("local", path, candidates=["dm"], selector="slope")
        noise.append(np.sqrt(local.stderr**2 - local.table[0].stderr ** 2))
    assert noise[1] == pytest.approx(noise[0], rel=0.1)


def test_long_lists_of_context_make_a_smaller_sample(table, save_table, monkeypatch):
    monkeypatch.setattr("counterfold.engines.passes.resolve.NUMBERS", 1 << 17)
    rng = np.random.default_rng(0)
    path = save_table(table.append_column("v", [rng.normal(size=(ROWS, 50)).tolist()]))
    scans = [cf.LogScan(path, context=[name]) for name in ("x0", "v")]
    results = [cf.evaluate(scan, candidates=["truncated-ips"], engine="local", reward_model=None) for scan in scans]
    names = [[one.name for one in result.table] for result in results]
    assert names[0] != names[1]


@pytest.mark.parametrize(("width", "actions"), [(3, 4), (300, 10), (100, 1000), (3, 10_000)])
def test_the_sums_of_the_model_stay_small(width, actions):
    stream = ModelStream(RidgePerAction(), 1, Scaling(np.zeros(width), np.ones(width)), actions, 100)
    assert stream.cells % 5 == 0
    assert stream.cells == 5 or stream.cells * actions * (width + 2) ** 2 <= 1.2 * 2**23
    assert (stream.cells == 100) == (width == 3 and actions == 4)
