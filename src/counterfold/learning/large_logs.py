"""Large logs: policies are trained on a sample of the rows, and valued by all other rows where these are read."""

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
from counterfold.evaluation.result import Evaluation
from counterfold.learning.folds import FoldPolicies
from counterfold.learning.limits import find_possible
from counterfold.learning.valuation import Valuation, WinnerValue
from counterfold.log.contents import Spread
from counterfold.log.log import Log
from counterfold.policies.given.base import Reads, Target, TargetForm
from counterfold.policies.learned.policy import Policy

MAX_SAMPLE, MIN_SAMPLE = 1 << 16, 1 << 10
"""Policies are trained on MAX_SAMPLE rows of a large log; on fewer if memory is short, but on at least MIN_SAMPLE."""

ROUNDING = 1e-9
"""Means of the same rewards may differ by this part of the largest reward, because they are summed in another order."""


@dataclass(frozen=True, eq=False)
class LearnedElsewhere(TargetForm):
    """A policy that was trained on other rows of a log, whose `columns` it looks at.

    It takes no action that the log could not take in a row, as far as that row shows.
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
        # A batch of rows does not show which actions occur elsewhere, so all of them count as seen.
        seen = np.ones(len(log.actions), dtype=bool)
        numbers = np.empty((len(log), 0))
        if self.values:
            numbers = self.policy.features.encode(pa.table(self.values), check)
        possible = find_possible(log, self.policy.allowed, seen)
        return Target.of(self.policy.decide(numbers, possible), log)


def find_groups(engine: Engine, *, progress: Progress | bool) -> Engine:
    """Return an engine that knows which rows of a large log have the same context; other engines as they are."""
    if not isinstance(engine, BatchEngine):
        return engine
    # The engines that read in batches are dataclasses with groups; their base class is not.
    dataclass_engine: Any = engine
    grouped: Engine = replace(dataclass_engine, groups=engine.find_groups(progress=progress))
    return grouped


def draw_sample(engine: Engine, n_matrices: int, *, progress: Progress | bool) -> Drawn | None:
    """Return the rows of a large log that policies are trained on; None if all rows are in memory.

    There must be room for `n_matrices` matrices of rows and actions.
    """
    if not isinstance(engine, BatchEngine):
        return None

    def count_rows(n_actions: int, width: int) -> int:
        numbers_per_row = n_matrices * capacity.MATRICES * n_actions + capacity.COPIES * width
        n_fitting = capacity.find_limit() // (capacity.NUMBER * max(numbers_per_row, 1))
        return max(MIN_SAMPLE, min(MAX_SAMPLE, n_fitting))

    return engine.draw(count_rows, progress=progress)


@dataclass(frozen=True, eq=False)
class OtherRowsValuation(Valuation):
    """Values policies by the rows of a large log that are not in the sample.

    - `policies`: the policies of the folds of the sample.
    - `engine`: where the log is read.
    - `sample`: what was drawn from it.
    - `progress`: what passes over the log report to.
    """

    policies: FoldPolicies
    engine: Any
    sample: Drawn
    progress: Progress | bool

    @property
    def sample_size(self) -> int:
        return len(self.sample.log)

    def value_winner(self, name: str, policy: Policy) -> WinnerValue:
        return WinnerValue(evaluation=self.value(policy), decisions=self.policies.decisions[name])

    def value_imitation(self, policy: Policy) -> Evaluation:
        return self.value(policy)

    def value(self, policy: Policy) -> Evaluation:
        """Return what a policy would have earned in the other rows."""
        contest = self.policies.contest
        columns = [name for name in self.sample.context if is_used(name, policy)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SupportWarning)  # the verdict says the same
            try:
                found = evaluate_targets(
                    self.engine.scan,
                    {"policy": LearnedElsewhere(policy, columns)},
                    contest.question,
                    threads=contest.threads,
                    progress=self.progress,
                    engine=replace(self.engine, drawn=self.sample),
                )
            except DataError as error:
                raise DataError(f"in the rows that value the policy, {error}") from None
        (results,) = found.values()
        self.require_other_rows(results.contents.rewards)
        return results.targets["policy"]

    def require_other_rows(self, rewards: Spread) -> None:
        """Require that the rows which were read are all but the sample.

        Rows are identified by their places. If rows come in another order, other rows have these places: as many, but
        with another mean reward.
        """
        units = self.sample.units
        count = units.total - units.row_count
        scale = max(abs(rewards.low), abs(rewards.high))
        if rewards.count != count or abs(rewards.mean - units.reward) > ROUNDING * scale:
            rule = f"the other {count} rows must be those that nothing was learnt from, with a mean reward of"
            remedy = "Rows came in another order than before: write the log to Parquet, and learn from that"
            got = f"got {rewards.count} rows and {rewards.mean:.6g}"
            raise DataError(f"{rule} {units.reward:.6g}, {got}. {remedy}.")


def is_used(column: str, policy: Policy) -> bool:
    """Say whether a policy looks at a column, or at an element of its lists."""
    return any(name == column or name.startswith(f"{column}.") for name in policy.features.names)
