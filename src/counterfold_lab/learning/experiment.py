"""LearningExperiment: draws the problem of a task, and returns a row for every way to learn a policy from it."""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import counterfold as cf
from counterfold_lab.files import Row
from counterfold_lab.learning import references
from counterfold_lab.learning.references import Decide
from counterfold_lab.learning.worlds import BanditWorld, DatasetWorld, World
from counterfold_lab.paper.datasets import NAMES, load_once
from counterfold_lab.paper.experiment import RUNS_PER_SEED
from counterfold_lab.selection.bandits import FAMILIES, draw_bandit
from counterfold_lab.selection.experiment import Part, part_of

LEFT_OUT = ("user's model", "few rows", "many rows")
"""Families that differ from others only by a model that nobody has while learning, or by their number of rows."""

KNOWN = (*(family for family in FAMILIES if family not in LEFT_OUT), *NAMES)
"""The families of problems: bandits, and the paper's datasets."""

LOGGING_BETAS = (-1.0, 0.0, 1.0, 3.0)
"""The inverse temperatures of the policy that logs a dataset, in turn; the larger, the better it is."""

OURS, LOGGER, BEST = "learn", "logger", "best"
REFERENCES: dict[str, Callable[[cf.Log, int], Decide]] = {
    "IPW learner": references.learn_by_ipw,
    "greedy DM": references.learn_by_model,
    "boosted T-learner": references.learn_by_boosting,
    "best arm": references.learn_best_arm,
    "DRPolicyTree": references.learn_by_econml,
    "DRPolicyForest": references.learn_by_forest,
}
ECONML = ("DRPolicyTree", "DRPolicyForest")
"""The references that need EconML."""

MOST_ACTIONS = 20
"""Of logs with more actions EconML's tree and forest are not asked, which fit a model for each."""

APART = 1000
"""How far the seeds of two families are apart, so that their problems have nothing in common."""


class LearningTask(NamedTuple):
    """A problem: its family, its number there, and how many rows its log has."""

    family: str
    number: int
    rows: int

    def __str__(self) -> str:
        return "|".join(map(str, tuple(self)))


def list_tasks(families: Sequence[str], problems: int, rows: Sequence[int], part: Part) -> list[LearningTask]:
    """Return those of the first `problems` of each family that belong to a part, at each number of rows.

    >>> [task.number for task in list_tasks(["binary"], 6, [500], "development")]
    [0, 3]
    """
    numbers = [number for number in range(problems) if part in {"all", part_of(number)}]
    return [LearningTask(family, number, size) for size in rows for family in families for number in numbers]


@dataclass(frozen=True, eq=False)
class LearningExperiment:
    """What a task of the benchmark needs to know besides the task; `learners` are those of `learn`.

    `data` is the folder of the paper's datasets.
    """

    seed: int = 0
    learners: Any = "default"
    data: Path | None = None

    def __call__(self, task: LearningTask) -> list[Row]:
        """Return a row for every method."""
        world = self.draw_world(task)
        log = world.log
        where = {"family": task.family, "problem": task.number, "rows": task.rows, "actions": len(log.actions)}
        where |= {"part": part_of(task.number), "scale": float(log.reward.std()), "logged": world.logger_value}
        rows = [
            self.learn(world),
            make_row(LOGGER, world.logger_value),
            make_row(BEST, float(world.means.max(1).mean())),
        ]
        known = dict(REFERENCES)
        if find_spec("econml") is None or len(log.actions) > MOST_ACTIONS:
            known = {name: learn for name, learn in known.items() if name not in ECONML}
        for name, learn in known.items():
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of fits that did not converge
                decide = learn(log, 0)
            seconds = time.perf_counter() - start
            rows.append(make_row(name, world.value(decide(world.contexts)), seconds))
        return [where | row for row in rows]

    def draw_world(self, task: LearningTask) -> World:
        """Return the problem of a task; at all numbers of rows it has the same rewards and policies."""
        number = task.number + RUNS_PER_SEED * self.seed
        seed = APART * (1 + KNOWN.index(task.family)) + number
        if task.family in NAMES:
            beta = LOGGING_BETAS[task.number % len(LOGGING_BETAS)]
            return DatasetWorld(load_once(task.family, self.data), beta, task.rows, seed)
        return BanditWorld(replace(draw_bandit(task.family, number), rows=task.rows), seed)

    def learn(self, world: World) -> Row:
        """Return what `learn` finds; where nothing beats the log, the logger stays."""
        start = time.perf_counter()
        learned = cf.learn(world.log, self.learners, progress=False, threads=1)
        seconds = time.perf_counter() - start
        own = world.value(learned.policy.predict_proba(world.contexts))
        evaluation, gain = learned.evaluation, learned.evaluation.uplift().interval()
        ends = evaluation.interval.low, evaluation.interval.high, gain.low, gain.high
        low, high, gain_low, gain_high = (end if math.isfinite(end) else None for end in ends)
        row = make_row(OURS, own if learned.beats_log else world.logger_value, seconds)
        row |= {"beats_log": learned.beats_log, "chosen": learned.chosen, "verdict": evaluation.verdict, "own": own}
        return row | {
            "estimate": evaluation.value,
            "low": low,
            "high": high,
            "gain_low": gain_low,
            "gain_high": gain_high,
        }


def make_row(method: str, value: float, seconds: float = 0.0) -> Row:
    """Return what a method's policy truly earns; other columns are for `learn` alone."""
    nothing = dict.fromkeys(("chosen", "verdict", "own", "estimate", "low", "high", "gain_low", "gain_high"))
    return {"method": method, "value": value, "seconds": seconds, "beats_log": None, **nothing}
