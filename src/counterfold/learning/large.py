"""Large logs: a policy is learnt from some rows, and valued by all others where these are read."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import capacity
from counterfold.base.errors import DataError, SupportWarning
from counterfold.base.progress import Progress
from counterfold.base.validation import Checker
from counterfold.engines.base import Engine
from counterfold.engines.passes.batch_engine import BatchEngine
from counterfold.engines.passes.drawing import Drawn
from counterfold.evaluation.assembly import evaluate_targets
from counterfold.evaluation.question import Question
from counterfold.evaluation.result import Evaluation
from counterfold.learning.out_of_fold import find_possible
from counterfold.log.contents import Spread
from counterfold.log.log import Log
from counterfold.policies.given.base import Reads, Target, TargetForm
from counterfold.policies.learned.policy import Policy

SAMPLE, LEAST = 1 << 16, 1 << 10
"""A policy is learnt from at most SAMPLE rows of a large log; from fewer where there is no room, but at least LEAST."""


SAME = 1e-9
"""Means of the same rewards may differ by so much of the largest one, because they were added up in another order."""


@dataclass(frozen=True, eq=False)
class Learnt(TargetForm):
    """A policy that was learnt from other rows of a log, in whose `columns` its context is.

    It takes no action that the log could not take in a row, as far as that row tells.
    """

    policy: Policy
    columns: list[str]
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reads(self) -> tuple[Reads, ...]:
        return tuple(Reads(name, "raw", is_feature=True) for name in self.columns)

    def fill(self, values: Mapping[str, Any]) -> TargetForm:
        return replace(self, values={name: values[name] for name in self.columns})

    def resolve(self, log: Log, check: Checker) -> Target:
        seen = np.ones(len(log.actions), dtype=bool)  # a few rows do not tell what others take
        numbers = np.empty((len(log), 0))  # unless it looks at anything
        if self.values:
            numbers = self.policy.features.encode(pa.table(self.values), check)
        return Target.of(self.policy.decide(numbers, find_possible(log, self.policy.allowed, seen)), log)


def group_large(engine: Engine, *, progress: Progress | bool) -> Engine:
    """Return an engine that knows which rows of a large log have the same context; any other one as it is."""
    if not isinstance(engine, BatchEngine):
        return engine
    where: Any = engine
    grouped: Engine = replace(where, groups=engine.find_groups(progress=progress))
    return grouped


def draw_rows(engine: Engine, matrices: int, *, progress: Progress | bool) -> Drawn | None:
    """Return the rows of a large log that a policy is learnt from; nothing if all rows are at hand.

    So many matrices of rows and actions are made of them.
    """
    if not isinstance(engine, BatchEngine):
        return None

    def count(actions: int, width: int) -> int:
        numbers = matrices * capacity.MATRICES * actions + capacity.COPIES * width
        return max(LEAST, min(SAMPLE, capacity.find_limit() // (capacity.NUMBER * max(numbers, 1))))

    return engine.draw(count, progress=progress)


@dataclass(frozen=True, eq=False)
class OtherRows:
    """The rows of a large log that were not drawn, and what is asked of them."""

    engine: Any
    drawn: Drawn
    question: Question
    threads: int | None
    progress: Progress | bool

    def value(self, policy: Policy) -> Evaluation:
        """Return what a policy would have earned in these rows."""
        columns = [name for name in self.drawn.context if is_used(name, policy)]
        target, rest = {"policy": Learnt(policy, columns)}, replace(self.engine, drawn=self.drawn)
        given = self.engine.scan, target, self.question
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SupportWarning)  # the verdict says the same
            try:
                found = evaluate_targets(*given, threads=self.threads, progress=self.progress, engine=rest)
            except DataError as error:
                raise DataError(f"in the rows that value the policy, {error}") from None
        (results,) = found.values()
        self.require_others(results.contents.rewards)
        return results.targets["policy"]

    def require_others(self, rewards: Spread) -> None:
        """Require that all rows were read but those that were drawn, which is not so if rows come in another order.

        Rows are told apart by their places. If others have these now, they are as many, but earned something else.
        """
        units, scale = self.drawn.units, max(abs(rewards.low), abs(rewards.high))
        count = units.total - units.row_count
        if rewards.count != count or abs(rewards.mean - units.reward) > SAME * scale:
            rule = f"the other {count} rows must be those that nothing was learnt from, with a mean reward of"
            way = "Rows came in another order than before: write the log to Parquet, and learn from that"
            got = f"got {rewards.count} rows and {rewards.mean:.6g}"
            raise DataError(f"{rule} {units.reward:.6g}, {got}. {way}.")


def is_used(column: str, policy: Policy) -> bool:
    """Say whether a policy looks at a column, or at an element of its lists."""
    return any(name == column or name.startswith(f"{column}.") for name in policy.features.names)
