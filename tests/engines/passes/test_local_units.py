"""Logs that are never in memory as a whole: groups, errors from buckets, and the sample."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.base.hashing import hash_labels, sample_least
from large_logs import ROWS, answer, both, made


def test_groups_fall_into_buckets_as_a_whole(save_table):
    rng = np.random.default_rng(0)
    table = made(20_000, groups=2000)
    users = [f"user {number}" for number in table.column("group").to_pylist()]
    effect = dict(zip(sorted(set(users)), rng.normal(size=len(set(users))), strict=True))
    reward = np.array([effect[user] for user in users])
    table = table.set_column(table.column_names.index("reward"), "reward", [reward])
    plain = save_table(table.drop_columns(["group"]), "plain.parquet")
    grouped = save_table(table.set_column(table.column_names.index("group"), "group", [users]))
    memory, local = both(grouped, candidates=["snips"])
    alone = answer("local", plain, candidates=["snips"])
    assert local.value == pytest.approx(memory.value)
    assert local.stderr == pytest.approx(memory.stderr, rel=0.1)
    assert local.stderr > 1.5 * alone.stderr
    assert local.diagnostics.groups == pytest.approx(len(set(users)), rel=0.1)


def test_few_groups_are_counted_and_doubted(table, save_table):
    table = table.append_column("group", [np.arange(ROWS) % 7])
    local = answer("local", save_table(table), candidates="default", selector="ocv:splits=3")
    assert local.diagnostics.groups == 7
    assert "there are only 7 groups in column `group`" in local.diagnostics.reasons


def test_a_label_has_one_number_anywhere():
    names = np.array(["b", "a", "b"], dtype=object)
    assert (hash_labels(names) == hash_labels(names[::-1])).all()
    assert hash_labels(names)[1] == hash_labels(np.array(["a"]))[0] != hash_labels(names)[0]
    assert hash_labels(np.array([5, 7])).tolist() == [5, 7]


# errors


def test_errors_do_not_depend_on_the_order_of_the_rows(table, save_table):
    order = np.argsort(table.column("reward").to_numpy(), kind="stable")
    memory, local = both(save_table(table.take(order)), candidates="default")
    np.testing.assert_allclose([one.stderr for one in local.table], [one.stderr for one in memory.table], rtol=0.1)


@pytest.mark.slow
@pytest.mark.statistical
def test_errors_from_buckets_are_those_from_rows_on_average(save_table):
    """Over 40 logs the mean of the ratios has a standard error of about 2.2 % / sqrt(40); four of them are allowed."""
    ratios = []
    for seed in range(40):
        memory, local = both(save_table(made(4000, seed), row_group_size=4000), candidates=["dr"], selector="slope")
        fixed = cf.Estimate("DR", memory.estimate.contributions).stderr
        ratios.append(local.table[0].stderr / fixed)
    assert np.mean(ratios) == pytest.approx(1, abs=4 * 0.022 / np.sqrt(40))


@pytest.mark.statistical
def test_the_noise_of_fitting_the_model_is_counted_as_in_memory(save_table):
    """In memory it varies by 23 % from log to log, so the mean over 20 logs by 5 %; three times that is allowed."""
    settings = {"candidates": ["dm"], "selector": "slope", "reward_model": "ridge-per-action"}
    found = [both(save_table(made(ROWS, seed)), **settings) for seed in range(20)]
    memory, local = (np.mean([pair[place].stderr for pair in found]) for place in (0, 1))
    assert local > 3 * np.mean([pair[1].table[0].stderr for pair in found])
    assert local == pytest.approx(memory, rel=0.15)


@pytest.fixture
def digits(save_table):
    """Return a log of a classification problem with 64 columns, as a file."""
    from sklearn.datasets import load_digits

    from counterfold_lab.paper.classification import Classification

    problem = Classification().draw_problem(*load_digits(return_X_y=True), np.random.default_rng(0))
    log = problem.log
    columns = {f"x{place}": log.context[:, place] for place in range(64)} | {"action": log.action, "reward": log.reward}
    columns |= {"logging_probs": log.logging_probs.tolist(), "target": problem.target.tolist()}
    return save_table(pa.table(columns))


@pytest.mark.parametrize("candidate", ["dr", pytest.param("dm", marks=pytest.mark.slow), "ips"])
def test_the_reward_model_is_questioned_as_in_memory(candidate, digits):
    shifts, reasons = [], []
    for result in both(digits, candidates=[candidate], reward_model="ridge-per-action"):
        shifts.append(result.diagnostics.model_shift)
        reasons.append([reason for reason in result.diagnostics.reasons if "was not fitted on" in reason])
    assert shifts[0] == (None if candidate == "ips" else pytest.approx(shifts[1]))
    assert reasons[0] == reasons[1] != []


def test_a_cross_fitted_reward_model_is_not_questioned(digits):
    local = answer("local", digits, reward_model="cross-fitted")
    assert not [reason for reason in local.diagnostics.reasons if "fitted on" in reason]


# the sample


def test_the_sample_does_not_depend_on_the_pieces():
    numbers = np.arange(10_000)
    whole = numbers[sample_least(numbers, 500)]
    pieces = [
        part[sample_least(part, 500)] for part in np.split(np.random.default_rng(0).permutation(numbers), [100, 4000])
    ]
    together = np.concatenate(pieces)
    np.testing.assert_array_equal(together[sample_least(together, 500)], whole)
    assert 4000 < whole.mean() < 6000
    some = numbers[sample_least(numbers, 500, share=0.1)]
    np.testing.assert_array_equal(some, whole)


def test_grids_come_from_a_sample_of_large_logs(table, save_table, monkeypatch):
    monkeypatch.setattr("counterfold.engines.passes.resolve.SAMPLE", 1000)
    path = save_table(table, row_group_size=100)
    memory, local = both(path, candidates=["truncated-ips", "group-ips"])
    caps = [[one.name for one in result.table if "Truncated" in one.name] for result in (memory, local)]
    assert caps[0] != caps[1]
    assert caps[0][-1] == caps[1][-1] == f"TruncatedIPS(max_weight={np.sqrt(ROWS):.4g})"
    left, right = ([one.value for one in result.table] for result in (memory, local))
    np.testing.assert_allclose(left[:-5], right[:-5], rtol=0.1)
    np.testing.assert_allclose(left[-5:], right[-5:], rtol=0.15)
