"""Logs in memory, of which every row is at hand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from counterfold.checks import WHOLE
from counterfold.engines.base import Engine, Request, Source
from counterfold.estimates import Estimate
from counterfold.estimators.base import Estimator
from counterfold.evidence import Evidence, Unsupported
from counterfold.hashing import assign_blocks
from counterfold.log import Contents, Log
from counterfold.models import Column, as_model
from counterfold.models.base import RewardModel
from counterfold.models.cross_fitted import CrossFitted
from counterfold.pool import Pool
from counterfold.readers import read_table
from counterfold.rows import Rows
from counterfold.selectors.base import Selection, Selector
from counterfold.sums import Sums, sum_buckets
from counterfold.target import Target, as_target

if TYPE_CHECKING:
    import pyarrow as pa

BLOCKS = 20
"""How many blocks of rows are left out in turn to see the noise of fitting."""


@dataclass(frozen=True, eq=False)
class Memory(Engine):
    """Everything is computed from the rows themselves, one target after the other."""

    source: Source
    pool: Pool
    keeps_rows: ClassVar[bool] = True

    @classmethod
    def of(cls, source: Source, threads: int | None) -> Self:
        return cls(source, Pool(threads))

    @classmethod
    def can_read(cls, source: Source) -> bool:
        return isinstance(source, Log) or not type(source.source).__module__.startswith("pyspark.")

    @classmethod
    def is_best_for(cls, source: Source) -> bool:
        return cls.can_read(source)

    def gather(self, request: Request) -> Iterator[tuple[str, Evidence]]:
        log, table = self._read(request)
        contents = Contents.of(log)
        for name, value in request.targets.items():
            target = read_target(value, log, table)
            rows = Rows.of(log, target, read_model(request.reward_model, log, target, table))
            request.resolve(name, rows)
            observed = {one.name: one.observe(rows) for one in request.diagnostics}
            yield name, RowEvidence(rows, contents, sum_unsupported(rows), observed, self.pool)

    def _read(self, request: Request) -> "tuple[Log, pa.Table | None]":
        """Return the log and, if it is read from one, the table that may hold targets."""
        if isinstance(self.source, Log):
            return self.source, None
        table = read_table(self.source.source)
        named = [value for value in request.targets.values() if isinstance(value, str)]
        if isinstance(request.reward_model, Column):
            named.append(request.reward_model.name)
        return self.source.layout(table, named).log(table), table


def read_target(value: Any, log: Log, table: "pa.Table | None") -> Target:
    """Return a checked target, which may be the name of a column."""
    if table is None or not isinstance(value, str):
        return as_target(value, log)
    from counterfold.tables import roles

    return as_target(roles.read_target(table, value), log, WHOLE.name_columns({"target": value}))


def read_model(value: Any, log: Log, target: Target, table: "pa.Table | None") -> RewardModel | None:
    """Return a reward model, which may be a column of predictions."""
    if table is None or not isinstance(value, Column):
        return as_model(value, log, target.draws)
    from counterfold.tables import roles

    predictions = roles.read_target(table, value.name)
    return as_model(predictions, log, target.draws, WHOLE.name_columns({"reward_model": value.name}))


def sum_unsupported(rows: Rows) -> Unsupported | None:
    """Return in how many rows support is missing, and how much on average."""
    if rows.unsupported is None:
        return None
    return Unsupported(int((rows.unsupported > 0).sum()), float(rows.unsupported.mean()))


@dataclass(frozen=True, eq=False)
class RowEvidence(Evidence):
    """Evidence from all rows: a unit is a row or a group."""

    pool: Pool

    @property
    def mean_weight(self) -> Estimate:
        return Estimate("mean weight", self.rows.weights, self.rows.groups)

    @property
    def total_weight(self) -> float:
        return float(self.rows.weights.sum())

    def estimate(self, name: str, estimator: Estimator) -> Estimate:
        return Estimate(name, estimator.contributions(self.rows), self.rows.groups)

    def choose(
        self, selector: Selector, candidates: Sequence[Estimator], rng: np.random.Generator, pool: Pool
    ) -> Selection:
        return selector.select(self.rows, candidates, rng, pool)

    def sum_units(self, estimators: Sequence[Estimator]) -> Sums:
        return sum_buckets(self.rows, estimators, self.pool)

    def include_fitting(self, answer: Estimate, estimator: Estimator, pool: Pool) -> Estimate:
        r"""Return the answer with an error from refits of the reward model.

        A jackknife: leave out each of m blocks of rows (or groups) in turn, fit anew on the rest, and take
        $\hat\sigma^2 = \frac{m - 1}{m} \sum_b (\hat V_{-b} - \bar V)^2$. The model's settings stay as all rows chose
        them: the jackknife is for what moves smoothly, and a choice among few values jumps.
        """
        model = self.rows.model
        if model is None or not model.learns or not estimator.uses("model"):
            return answer
        rows = replace(self.rows, model=model.tune(self.rows.examples))
        block = assign_blocks(rows.examples.units, BLOCKS)
        kept = [np.flatnonzero(block != number) for number in range(block.max() + 1)]
        values = np.array(pool.map(lambda some: estimator.value(rows.take(some)), kept))
        spread = np.square(values - values.mean()).sum() * (len(kept) - 1) / len(kept)
        return replace(answer, refit_stderr=float(np.sqrt(spread)))

    def predict_outside(self, inside: Estimate, estimator: Estimator) -> Estimate | None:
        if self._outside is None:
            return None
        return Estimate(inside.name, estimator.contributions(self._outside), self.rows.groups)

    @cached_property
    def _outside(self) -> Rows | None:
        """Return the rows with a cross-fitted model, if their own predicts rows that it was fitted on."""
        model: Any = self.rows.model
        if model is None or not model.is_in_sample:
            return None
        return replace(self.rows, model=CrossFitted(model))
