"""Logs in memory, of which every row is at hand."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from counterfold.base import capacity
from counterfold.base.arrays import Bools
from counterfold.base.cached import cached_property
from counterfold.base.threads import Pool
from counterfold.base.validation import WHOLE, Checker
from counterfold.engines.base import Engine, Request, Source, is_on_spark, list_columns, list_features
from counterfold.engines.passes.resolve import resolve_schema
from counterfold.estimators.base import Estimator
from counterfold.estimators.estimates import Estimate
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import Sums, sum_buckets
from counterfold.evidence.evidence import Evidence, Unsupported, observe_rows, refit_on_blocks, split_observers
from counterfold.evidence.segments.sums import AllSegmentSums, SegmentUnits, sum_all_segments
from counterfold.io.schema import roles
from counterfold.io.schema.prepared import WholeRows, take_left
from counterfold.io.schema.scan import LogScan
from counterfold.log.assignment import Balance, choose_context
from counterfold.log.contents import Contents
from counterfold.log.log import Log
from counterfold.models import Column, as_model
from counterfold.models.cross_fitted import CrossFitted
from counterfold.policies.from_tables import TargetReader, make_readers
from counterfold.selectors.base import Selection, Selector


@dataclass(frozen=True, eq=False)
class Memory(Engine):
    """Computes everything from the rows themselves, one target after the other."""

    source: Source
    keeps_rows = True

    @classmethod
    def of(cls, source: Source, pool: Pool) -> Self:
        return cls(source)

    @classmethod
    def can_read(cls, source: Source) -> bool:
        return isinstance(source, Log) or not is_on_spark(source)

    @classmethod
    def is_best_for(cls, source: Source) -> bool:
        return cls.can_read(source)

    def gather(self, request: Request) -> Generator[tuple[str, str, Evidence]]:
        """Yield the evidence; a log is read once, and its rows are worked on for one reward after the other."""
        if isinstance(self.source, Log):
            targets = make_readers(request.targets, None)
            inputs = Inputs(self.source, targets, None, request.reward_model, WHOLE)
            for name, evidence in find_evidence(inputs, request):
                yield "reward", name, evidence
            return
        opened = self.source.opened
        scans = self.source.split()
        capacity.require_rows(opened.rows, opened.size)  # before it is read
        tables = [opened.table()] * len(scans)  # the last one to take it leaves it to nobody
        for reward, scan in scans.items():
            for name, evidence in find_evidence(read_inputs(scan, tables.pop(), request), request):
                yield reward, name, evidence


class Inputs(NamedTuple):
    """A log in memory, and what belongs to its rows.

    - `log`: all rows.
    - `targets`: how each target is read.
    - `table`: the columns from which targets are read, unless they were given beside a log.
    - `reward_model`: a reward model, or predicted rewards.
    - `check`: what names the column of predicted rewards in errors.
    """

    log: Log
    targets: Mapping[str, TargetReader]
    table: pa.Table | None
    reward_model: Any
    check: Checker


def read_inputs(scan: LogScan, table: pa.Table, request: Request) -> Inputs:
    """Return all rows of a log that is not read yet."""
    row_count = table.num_rows
    rows = WholeRows.prepare(scan, table)
    del table  # it takes as much room as the rows that are left of it
    capacity.require_rows(rows.count, rows.table.nbytes)
    given_targets = {name: take_left(one, rows.row_numbers, row_count) for name, one in request.targets.items()}
    targets = make_readers(given_targets, rows.table)
    schema = rows.run(resolve_schema(rows, request, targets))
    log = rows.read_log(schema)

    check = WHOLE
    reward_model = take_left(request.reward_model, rows.row_numbers, row_count)
    if isinstance(reward_model, Column):
        check = WHOLE.name_columns({"reward_model": reward_model.name})
        reward_model = roles.read_predictions(rows.table, reward_model.name)
    read_columns = [*list_columns(targets.values(), request.reward_model), *list_features(targets.values())]
    left = rows.table.select(roles.list_places(rows.table, read_columns))
    return Inputs(log, targets, left, reward_model, check)


def find_evidence(inputs: Inputs, request: Request) -> Generator[tuple[str, Evidence]]:
    """Yield the evidence on each target of a log in memory."""
    log, targets, table, reward_model, check = inputs
    del inputs  # so that the table is free once the last target is read from it
    for target in targets.values():
        target.form.require_known(log)
    require_room(log, targets.values())
    log, balance = choose_context(log, keep_all=any(target.uses_context for target in targets.values()))
    contents = Contents.of(log)
    of_log, of_targets = split_observers(request.observers)
    shared: dict[str, Any] | None = None
    for number, (name, reader) in enumerate(targets.items(), start=1):
        target_of_rows = reader.read(log, table)
        if number == len(targets):
            table = None  # it takes as much room as the rows made of it
        model = as_model(reward_model, log, target_of_rows.draws, check)
        rows = Rows.of(log, target_of_rows, model)
        if shared is None:
            shared = observe_rows(rows, of_log)
        observed = {**shared, **observe_rows(rows, of_targets)}
        yield name, RowEvidence.of(rows, contents, observed, balance)


def require_room(log: Log, targets: Iterable[TargetReader]) -> None:
    """Refuse a log if matrices of its rows and actions would not fit into memory."""
    if log.dose is None and any(one.is_full for one in targets):
        capacity.require_matrix("a policy", len(log), len(log.actions))


@dataclass(frozen=True, eq=False)
class RowEvidence(Evidence):
    """Evidence from all rows: a unit is a row or a group."""

    @classmethod
    def of(
        cls, rows: Rows, contents: Contents, observed: Mapping[str, Any] | None = None, balance: Balance | None = None
    ) -> Self:
        """Return what all rows tell, besides what tests of the log alone found."""
        squared = float(np.square(rows.masses).sum())
        return cls(rows, contents, Unsupported.of(rows), squared, observed or {}, balance=balance)

    @property
    def mean_weight(self) -> Estimate:
        return Estimate("mean weight", self.rows.weights, self.rows.groups, self.rows.counts, order=self.rows.order)

    @property
    def total_weight(self) -> float:
        return float(self.rows.masses.sum())

    def estimate(self, name: str, estimator: Estimator) -> Estimate:
        rows = self.rows
        return Estimate(name, estimator.contributions(rows), rows.groups, rows.counts, order=rows.order)

    def choose(
        self, selector: Selector, candidates: Sequence[Estimator], rng: np.random.Generator, pool: Pool
    ) -> Selection:
        return selector.select(self.rows, candidates, rng, pool)

    def sum_units(self, estimators: Sequence[Estimator], pool: Pool) -> Sums:
        return sum_buckets(self.rows, estimators, pool)

    def sum_segments(self, estimators: Sequence[Estimator], pool: Pool) -> AllSegmentSums | None:
        cuts = self.contents.cuts
        return sum_all_segments(self.rows, estimators, cuts, pool) if cuts else None

    def estimate_segment(self, name: str, estimator: Estimator, units: SegmentUnits, is_there: Bools) -> Estimate:
        rows = self.rows
        index = np.flatnonzero(is_there)
        some = replace(rows.take(index, lambda: rows.q[index]), whole=rows.whole or rows)
        contributions = estimator.contributions(some)
        return Estimate(name, contributions, some.groups, some.counts, weights=some.weights, order=some.order)

    def include_fitting(self, answer: Estimate, estimator: Estimator, pool: Pool) -> Estimate:
        """Return the answer with an error from refits of the reward model."""
        return refit_on_blocks(answer, self.rows, estimator, pool)

    def predict_out_of_sample(self) -> Rows | None:
        """Return the rows with the same reward model, cross-fitted unless it predicts so already."""
        return None if self.rows.model is None else self._cross_fitted or self.rows

    def estimate_out_of_sample(self, inside: Estimate, estimator: Estimator) -> Estimate | None:
        """Return the estimate with the same reward model, cross-fitted."""
        if self._cross_fitted is None:
            return None
        contributions = estimator.contributions(self._cross_fitted)
        rows = self.rows
        return Estimate(inside.name, contributions, rows.groups, rows.counts, order=rows.order)

    @cached_property
    def _cross_fitted(self) -> Rows | None:
        """Return the rows with a cross-fitted model, if their own predicts rows that it was fitted on."""
        model: Any = self.rows.model
        return replace(self.rows, model=CrossFitted(model)) if model is not None and model.is_in_sample else None
