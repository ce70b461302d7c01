"""AutoOPE: a forest that learns, on problems whose truth is known, which estimator errs least on logs of a kind."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import counterfold as cf
from counterfold.base.arrays import Floats
from counterfold.base.progress import Progress
from counterfold.models import as_model
from counterfold.policies.given import as_target
from counterfold.selectors.base import Candidates
from counterfold_lab import runner
from counterfold_lab.files import Row, write_parquet
from counterfold_lab.paper.figures import PLAIN
from counterfold_lab.selection.bandits import FAMILIES, draw_bandit

FIRST_SEED = 2**160
"""The seed of the first training problem: larger than that of any problem of the benchmark."""

MOST_ROWS = 10_000
"""The most rows of a training problem, so that a hundred of them take about a minute."""

TREES, LEAF, LEAST = 200, 5, 10
"""The trees of the forest, the fewest training problems in a leaf, and in all."""

SMALLEST = 1e-6
"""The least error that counts, in standard deviations of the rewards."""


class TrainingTask(NamedTuple):
    """A training problem, by its number; families take turns."""

    number: int

    def __str__(self) -> str:
        return f"training|{self.number}"


def measure_errors(task: TrainingTask) -> list[Row]:
    """Return what the log of a training problem looks like, and the error of every candidate on it."""
    family, seed = list(FAMILIES)[task.number % len(FAMILIES)], FIRST_SEED + task.number
    bandit = draw_bandit(family, seed)
    problem = replace(bandit, rows=min(bandit.rows, MOST_ROWS)).draw_problem(seed)
    model = as_model("default" if problem.predictions is None else problem.predictions, problem.log)
    rows = cf.Rows.of(problem.log, as_target(problem.target, problem.log), model)
    errors = [(one.value(rows) - problem.truth) / problem.scale for one in PLAIN]
    return [{"family": family, "statistics": describe_log(rows), "errors": [float(error) for error in errors]}]


def describe_log(rows: cf.Rows) -> dict[str, float]:
    """Return statistics of a log, of how far both policies are apart, and of the reward model, free of units."""
    policies = describe_policies(rows.logging_probs, rows.target_probs)
    return describe_weights(rows.weights) | policies | describe_rewards(rows.rewards) | describe_model(rows)


def describe_weights(weights: Floats) -> dict[str, float]:
    """Return statistics of the weights."""
    count, total, squares = len(weights), float(weights.sum()), float(weights @ weights)
    effective = total**2 / squares if squares else 0.0
    marks = {f"weight_{share}": float(np.quantile(weights, share)) for share in (0.5, 0.9, 0.99)}
    return marks | {
        "rows": float(np.log(count)),
        "effective_rows": float(np.log1p(effective)),
        "effective_share": effective / count,
        "mean_weight": total / count,
        "largest_weight": float(np.log1p(weights.max())),
        "largest_share": float(weights.max()) / total if total else 1.0,
        "without_weight": float((weights == 0).mean()),
    }


def describe_policies(logging: Floats, target: Floats) -> dict[str, float]:
    """Return the number of actions, how sure each policy is, and divergences between them."""
    ratio = np.divide(target, logging, out=np.zeros_like(target), where=(target > 0) & (logging > 0))
    logs = np.log(ratio, out=np.zeros_like(ratio), where=ratio > 0)
    return {
        "actions": float(np.log(logging.shape[1])),
        "sureness_logging": float(logging.max(axis=1).mean()),
        "sureness_target": float(target.max(axis=1).mean()),
        "least_propensity": float(np.log(logging[logging > 0].min())),
        "total_variation": float(np.abs(target - logging).sum(axis=1).mean() / 2),
        "kullback_leibler": float((target * logs).sum(axis=1).mean()),
        "chi_square": float(np.log1p((target * ratio).sum(axis=1).mean())),
    }


def describe_rewards(rewards: Floats) -> dict[str, float]:
    """Return the shape of the rewards."""
    spread = float(rewards.std())
    scaled = (rewards - rewards.mean()) / spread
    _, counts = np.unique(rewards, return_counts=True)
    return {
        "reward_mean": float(np.clip(rewards.mean() / spread, -100, 100)),
        "reward_skewness": float((scaled**3).mean()),
        "reward_tails": float(np.log1p((scaled**4).mean())),
        "reward_values": float(np.log(len(counts))),
        "reward_commonest": float(counts.max() / len(rewards)),
    }


def describe_model(rows: cf.Rows) -> dict[str, float]:
    """Return how well the reward model predicts what was logged, and what the target would meet."""
    variance = float(rows.rewards.var())
    squares, total = np.square(rows.residuals) / variance, float(rows.weights.sum()) or 1.0
    return {
        "model_error": float(np.clip(squares.mean(), 0, 100)),
        "model_error_weighted": float(np.clip(rows.weights @ squares / total, 0, 100)),
        "model_bias": float(np.clip(rows.residuals.mean() / np.sqrt(variance), -100, 100)),
        "model_spread": float(np.clip(rows.q_policy.std() / np.sqrt(variance), 0, 100)),
    }


def train(problems: int, folder: Path, settings: Row, jobs: int = 1, progress: Progress | None = None) -> "AutoOPE":
    """Return the selector that has learnt from so many problems; what an earlier run found is not found again."""
    tasks = [TrainingTask(number) for number in range(problems)]
    rows = runner.run_tasks(tasks, measure_errors, folder / "training.jsonl", settings, jobs, progress)
    return AutoOPE(write_parquet(rows, folder / "training.parquet"), problems)


@dataclass(frozen=True)
class AutoOPE(cf.Selector):
    """Choose the estimator whose error a random forest predicts to be the least, from statistics of the log.

    Its authors train on synthetic problems and predict the mean squared error of every estimator; so does this, on the
    benchmark's own families, which makes it a stronger rival there than it would be elsewhere. `training` is the file
    of errors on so many `problems`, from which each process grows the forest once.

    Felicioni, Benigni, Ferrari Dacrema (2024), "AutoOPE: Automated off-policy estimator selection".
    """

    training: Path
    problems: int
    needs = ("target_probs", "logging_probs", "model", "all_rows")

    def scores(self, rows: cf.Rows, candidates: Candidates, rng: np.random.Generator, pool: cf.Pool) -> Floats:
        forest, names = grow_forest(self.training.read_bytes(), self.problems)
        statistics = describe_log(rows)
        predicted = forest.predict([[statistics[name] for name in names]])[0]
        return np.array([predicted[PLAIN.index(one)] for one in candidates])


@cache
def grow_forest(training: bytes, problems: int) -> tuple[Any, list[str]]:
    """Return the forest that the first problems of a file grow, and the names of the statistics that it asks for.

    The content of the file is given, not its path: what was grown from a file that has changed since is not it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq
    from sklearn.ensemble import RandomForestRegressor

    rows = pq.read_table(pa.BufferReader(training)).to_pylist()[:problems]
    names = list(rows[0]["statistics"])
    found = [[row["statistics"][name] for name in names] for row in rows]
    forest = RandomForestRegressor(TREES, min_samples_leaf=LEAF, random_state=0)
    return forest.fit(found, compare_errors([row["errors"] for row in rows])), names


def compare_errors(errors: Sequence[Sequence[float]]) -> Floats:
    """Return the logarithm of each squared error (problems x candidates), of which none is less than the smallest."""
    return np.log(np.square(errors) + SMALLEST**2)
