"""Skewed columns: normal scores against a naive reference, the same on every engine, and never seen by policies."""

from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression

import counterfold as cf
from counterfold.log.skewed_columns import MOST_RANKED, SkewedColumns, find_skewed
from counterfold.models import as_model
from counterfold.policies.given import as_target

NAMES = ("plain", "income", "visits", "rare")


def draw_context(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Return a symmetric column, two skewed ones, one of which has ties, and a mark of few rows."""
    income = np.exp(1.5 * rng.standard_normal(rows))
    visits = np.floor(income * 3)
    rare = (rng.random(rows) < 0.05).astype(float)
    return np.column_stack([rng.standard_normal(rows), income, visits, rare])


def score_naively(column: np.ndarray) -> list[float]:
    """Return the normal score of the mean rank of each value, one value after the other."""
    scores = []
    for value in column:
        below = sum(1 for other in column if other < value)
        equal = sum(1 for other in column if other == value)
        scores.append(NormalDist().inv_cdf((below + equal / 2) / len(column)))
    return scores


def draw_table(rows: int, seed: int = 0) -> pa.Table:
    """Return a log whose rewards follow the logarithm of a skewed column."""
    rng = np.random.default_rng(seed)
    context = draw_context(rng, rows)
    action = rng.integers(3, size=rows)
    reward = np.log(context[:, 1]) * (action - 1) + rng.standard_normal(rows)
    target = rng.dirichlet(np.ones(3), size=rows)
    columns: dict[str, Any] = {name: context[:, place] for place, name in enumerate(NAMES)}
    columns |= {"action": action, "reward": reward}
    columns |= {f"p_{label}": np.full(rows, 1 / 3) for label in range(3)}
    columns |= {f"t_{label}": target[:, label] for label in range(3)}
    return pa.table(columns)


def evaluate(table: pa.Table, engine: str, group: str | None = None, **options: Any) -> cf.Evaluation:
    scan = cf.LogScan(table, context=list(NAMES), logging_probs="p", group=group)
    return cf.evaluate(scan, "t", engine=engine, progress=False, **options)


def test_scores_are_those_of_a_naive_loop() -> None:
    context = draw_context(np.random.default_rng(1), 300)
    skewed = SkewedColumns.of(context, NAMES, np.arange(300))
    assert skewed.names == ("income", "visits")
    scored = skewed.apply(context, NAMES)
    assert scored is not None
    assert scored[:, 1] == pytest.approx(score_naively(context[:, 1]))
    assert scored[:, 2] == pytest.approx(score_naively(context[:, 2]))
    assert (scored[:, [0, 3]] == context[:, [0, 3]]).all()


def test_a_sample_tells_the_ranks_of_a_long_column() -> None:
    context = np.exp(np.random.default_rng(2).standard_normal((4 * MOST_RANKED, 1)))
    scored = SkewedColumns.of(context, ("income",), np.arange(len(context))).apply(context, ("income",))
    assert scored is not None
    assert scored[:, 0] == pytest.approx(np.log(context[:, 0]), abs=0.15, rel=0.15)


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1.0, 1e90])
def test_the_unit_of_a_column_does_not_matter(scale: float) -> None:
    context = draw_context(np.random.default_rng(3), 200)
    assert find_skewed(scale * context).tolist() == [1, 2]


def test_columns_that_do_not_vary_are_not_skewed() -> None:
    context = np.column_stack([np.full(50, 1e9), np.full(50, 0.1), np.zeros(50)])
    assert not len(find_skewed(context))


def test_columns_with_few_values_stay_as_they_are() -> None:
    counts = np.minimum(np.random.default_rng(4).geometric(0.4, size=5000), 20).astype(float)
    assert not len(find_skewed(counts[:, None]))


def test_the_default_model_sees_ranks_alone() -> None:
    table = draw_table(600)
    squeezed = table.set_column(1, "income", pa.array(np.log1p(table.column("income").to_numpy())))
    squeezed = squeezed.set_column(2, "visits", pa.array(np.sqrt(table.column("visits").to_numpy()) ** 1.5))
    plain = find_skewed(np.column_stack([squeezed.column(name).to_numpy() for name in NAMES])).tolist()
    assert plain == [1, 2]
    several = [one.append_column("place", pa.array(np.arange(600))) for one in (squeezed, table)]
    after, before = [evaluate(one, "memory", group="place").value for one in several]  # so that folds are the same
    assert after == pytest.approx(before, rel=1e-9)


def test_models_of_users_see_columns_as_they_are() -> None:
    table = draw_table(200)
    context = np.column_stack([table.column(name).to_numpy() for name in NAMES])
    seen: list[np.ndarray] = []

    class Spy(LinearRegression):
        def fit(self, X: Any, y: Any) -> Any:  # noqa: N803 (as in scikit-learn)
            seen.append(X)
            return super().fit(X, y)

    probs = np.full((200, 3), 1 / 3)
    log = cf.Log(context=context, action=table.column("action"), reward=table.column("reward"), logging_probs=probs)
    model = as_model(cf.PerAction(Spy()), log)
    _ = cf.Rows.of(log, as_target(probs, log), model).q
    assert seen
    assert set(np.concatenate(seen)[:, 1].tolist()) <= set(context[:, 1].tolist())


@pytest.mark.parametrize("rows", [300, 2 * MOST_RANKED])
def test_local_gives_the_answer_of_memory(rows: int) -> None:
    table = draw_table(rows)
    memory = evaluate(table, "memory")
    local = evaluate(table, "local", threads=2)
    assert local.value == pytest.approx(memory.value, rel=1e-9)
    assert local.estimate.bias_variance == pytest.approx(memory.estimate.bias_variance, rel=1e-6)


def test_arrays_give_the_answer_of_a_table() -> None:
    table = draw_table(400)
    context = np.column_stack([table.column(name).to_numpy() for name in NAMES])
    target = np.column_stack([table.column(f"t_{label}").to_numpy() for label in range(3)])
    log = cf.Log(
        context=context,
        action=table.column("action").to_numpy(),
        reward=table.column("reward").to_numpy(),
        logging_probs=np.full((400, 3), 1 / 3),
    )
    assert cf.evaluate(log, target, progress=False).value == pytest.approx(evaluate(table, "memory").value, rel=1e-9)


def test_predictions_with_scores_are_nearer_to_the_means() -> None:
    """The mean squared error of predicted rewards in one log of 2,000 rows; the means follow the logarithm."""
    table = draw_table(2000)
    context = np.column_stack([table.column(name).to_numpy() for name in NAMES])
    action, reward = table.column("action").to_numpy(), table.column("reward").to_numpy()
    probs = np.full((2000, 3), 1 / 3)
    means = np.outer(np.log(context[:, 1]), [-1.0, 0.0, 1.0])
    log = cf.Log(context=context, action=action, reward=reward, logging_probs=probs)
    with_scores = cf.Rows.of(log, as_target(probs, log), as_model("default", log)).q
    log.skewed = SkewedColumns()
    raw = cf.Rows.of(log, as_target(probs, log), as_model("default", log)).q
    assert np.square(with_scores - means).mean() < 0.25 * np.square(raw - means).mean()


def test_fitted_propensities_follow_ranks() -> None:
    rng = np.random.default_rng(5)
    income = np.exp(1.5 * rng.standard_normal(3000))
    chance = 1 / (1 + np.exp(-1.5 * np.log(income)))
    action = (rng.random(3000) < chance).astype(int)
    log = cf.Log(context=income[:, None], action=action, reward=rng.random(3000), propensity="fit")
    assert log.logging_probs is not None
    assert np.abs(log.logging_probs[:, 1] - chance).mean() < 0.02  # 0.09 on the column as it is
