"""The order of different rows does not matter: a log of up to 16,384 rows has one answer, on every engine."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.base.hashing import assign_folds
from counterfold.log.skewed_columns import MOST_RANKED

ROWS = [7, 60, 500, 3000]


def draw_table(rows: int, kind: str, seed: int = 0) -> pa.Table:
    """Return a log with columns of numbers, or with a few kinds of rows that are there many times."""
    rng = np.random.default_rng(seed)
    context = rng.standard_normal((rows, 2)) if kind == "numbers" else rng.integers(2, size=(rows, 1)).astype(float)
    action = rng.integers(3, size=rows)
    chance = 0.2 + 0.2 * action
    reward = (rng.random(rows) < chance).astype(float)
    if kind == "numbers":
        reward = reward + rng.standard_normal(rows)
    reward[:2] = 0.0, 1.0
    columns: dict[str, Any] = {f"x{place}": column for place, column in enumerate(context.T)}
    columns |= {"action": action, "reward": reward}
    columns |= {f"p_{label}": np.full(rows, 1 / 3) for label in range(3)}
    columns |= {f"t_{label}": np.full(rows, share) for label, share in enumerate([0.2, 0.3, 0.5])}
    return pa.table(columns)


def evaluate(table: pa.Table, engine: str) -> cf.Evaluation:
    context = [name for name in table.column_names if name.startswith("x")]
    scan = cf.LogScan(table, context=context, logging_probs="p")
    return cf.evaluate(scan, "t", engine=engine, progress=False)


def list_numbers(result: cf.Evaluation) -> list[float]:
    return [result.value, result.stderr, result.interval.low, result.interval.high]


def make_log(table: pa.Table) -> cf.Log:
    context = [table.column(name).to_numpy() for name in table.column_names if name.startswith("x")]
    return cf.Log(
        context=np.column_stack(context),
        action=table.column("action").to_numpy(),
        reward=table.column("reward").to_numpy(),
        propensity=np.full(len(table), 1 / 3),
        actions=[0, 1, 2],
    )


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("rows", ROWS)
def test_the_order_of_the_rows_does_not_matter(rows: int, engine: str) -> None:
    table = draw_table(rows, "numbers")
    expected = list_numbers(evaluate(table, engine))
    assert evaluate(table, "memory").value == pytest.approx(expected[0], rel=1e-8, abs=1e-10)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(rows)
        assert list_numbers(evaluate(table.take(order), engine)) == pytest.approx(expected, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("rows", ROWS)
def test_engines_agree_where_rows_differ_by_their_rewards_alone(rows: int) -> None:
    table = draw_table(rows, "kinds")
    expected = list_numbers(evaluate(table, "memory"))
    assert list_numbers(evaluate(table, "local"))[0] == pytest.approx(expected[0], rel=1e-8, abs=1e-10)


def test_several_rewards_have_the_same_folds() -> None:
    table = draw_table(500, "kinds")
    log = make_log(table)
    other = make_log(table.set_column(table.column_names.index("reward"), "reward", pa.array(np.arange(500.0) % 7)))
    assert (log.row_units == other.row_units).all()


def test_a_shuffled_log_in_memory_has_the_same_folds() -> None:
    table = draw_table(800, "numbers")
    order = np.random.default_rng(5).permutation(800)
    assert (make_log(table).row_units[order] == make_log(table.take(order)).row_units).all()


def test_equal_rows_fall_into_all_folds() -> None:
    """Each of a few kinds of rows is spread over the folds as by chance: no fold lacks a kind of 30 rows or more."""
    log = make_log(draw_table(2000, "kinds"))
    fold = assign_folds(log.row_units, 5)
    kinds = log.context[:, 0] * 6 + log.action * 2 + log.reward
    for kind in np.unique(kinds):
        counts = np.bincount(fold[kinds == kind], minlength=5)
        assert counts.sum() < 30 or counts.min() > 0


def test_folds_do_not_follow_rewards() -> None:
    """Over 200 logs the mean reward of a fold differs from that of the others as by chance (5 standard errors)."""
    gaps = []
    for seed in range(200):
        log = make_log(draw_table(300, "kinds" if seed % 2 else "numbers", seed))
        inside = assign_folds(log.row_units, 5) == 0
        gap = log.reward[inside].mean() - log.reward[~inside].mean()
        gaps.append(gap / (log.reward.std() * np.sqrt(1 / inside.sum() + 1 / (~inside).sum())))
    assert abs(np.mean(gaps)) * np.sqrt(len(gaps)) < 5
    assert np.std(gaps) == pytest.approx(1.0, abs=0.25)


def test_the_last_bits_of_a_column_do_not_matter() -> None:
    table = draw_table(400, "numbers")
    moved = table.set_column(0, "x0", pa.array(table.column("x0").to_numpy() * (1 + 2e-16)))
    assert (make_log(table).row_units == make_log(moved).row_units).mean() > 0.99


def test_rows_of_long_logs_are_known_by_their_places() -> None:
    rows = MOST_RANKED + 1
    log = cf.Log(action=np.arange(rows) % 2, reward=np.arange(rows) % 3, propensity=np.full(rows, 0.5))
    assert (log.row_units == np.arange(rows)).all()
