"""Plan: what the first rows of a large log tell of all, and what the passes over it must find."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from counterfold.base.errors import ParameterError
from counterfold.engines.base import Request, list_columns, list_features
from counterfold.engines.passes.batches import PreparedRows
from counterfold.engines.passes.first_pass import FirstPass, FirstPassSums
from counterfold.engines.passes.resolve import MATRICES, count_sample, list_read_columns, resolve_schema
from counterfold.engines.passes.row_builder import RowBuilder
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import BUCKETS
from counterfold.io.schema.batches import Batch, Task
from counterfold.io.schema.schema import Schema
from counterfold.log import log_checks
from counterfold.log.assignment import Balance, BalanceStream, BalanceSums, count_first, is_number
from counterfold.log.log import Log
from counterfold.log.skewed_columns import MOST_RANKED
from counterfold.models import Column, Fitted, ModelSums, Summed, as_model, fit_on_sample, solve_stream, stream_models
from counterfold.models.base import Examples, Given, RewardModel
from counterfold.models.cross_fitted import CrossFitted
from counterfold.policies.from_tables import TargetReader, make_readers, require_streamable


@dataclass(frozen=True, eq=False)
class Plan:
    """How rows are built from batches, which columns are read, and which reward model is fitted.

    - `builder`: makes rows of every target from a batch.
    - `head`, `log`: the first rows, as a table and checked.
    - `columns`: the columns that the passes read.
    - `model`: the reward model that is fitted, if any target uses one.
    - `first_pass`: what a first pass would find; `needs_first_pass` says whether it is needed.
    - `fixes_context`: whether no column of the context may be left out any more.
    """

    builder: RowBuilder
    head: Batch
    log: Log
    columns: Sequence[str]
    model: RewardModel | None
    first_pass: FirstPass
    needs_first_pass: bool
    fixes_context: bool

    @classmethod
    def of(cls, rows: PreparedRows, request: Request, *, has_gaps: bool = False) -> "Task[Plan]":
        """Return the plan for one log and its targets; `has_gaps` says that late rows lack numbers."""
        log_checks.require_rows(rows.count)
        targets = make_readers(request.targets, rows.first.table)
        require_streamable(request.targets, targets)

        schema = yield from resolve_schema(rows, request, targets, has_gaps=has_gaps)
        head, log = read_first_rows(rows, schema, targets)
        builder = make_builder(rows, schema, targets, request, width=log.context.shape[1])
        model = choose_model(request, targets, log)
        read_columns = [*list_columns(targets.values(), request.reward_model), *list_features(targets.values())]
        return cls(
            builder=builder,
            head=head,
            log=log,
            columns=list_read_columns(schema, head.table, read_columns),
            model=model,
            first_pass=plan_first_pass(rows, builder, model, head, log),
            needs_first_pass=needs_first_pass(rows, request, builder, model, log),
            fixes_context=schema.context.is_named or schema.weights.fit is not None,
        )

    def test_balance(self, sums: BalanceSums | None) -> tuple["Plan", Balance]:
        """Return the plan without columns of the context that nobody named and that are none, and what tests found."""
        balance = self.first_pass.balance.solve(sums)
        reasons = {} if self.fixes_context else balance.leave_out()
        if any(target.uses_context for target in self.builder.targets.values()):
            reasons = {name: why for name, why in reasons.items() if not is_number(self.log, name)}
        if not reasons:
            return self, balance
        log = self.log.leave_out(reasons)
        schema = self.builder.schema
        context = replace(schema.context.without(reasons), width=len(log.context_names))
        builder = replace(self.builder, schema=replace(schema, context=context))
        features = list_features(self.builder.targets.values())
        needed = {*features, *schema.identifiers.names, *schema.segments.names}
        columns = [place for place in self.columns if place not in reasons or place in needed]
        return replace(self, builder=builder, log=log, columns=columns), balance

    def fit(self, first: FirstPassSums | None) -> dict[str, Fitted]:
        """Return the reward model of every target, from the sums of the first pass or fitted on its sample."""
        if self.model is None or first is None:
            return {}
        samples = self._list_samples(first)
        models = {name: self._solve(name, sums, samples.get(name)) for name, sums in first.models.items()}
        if not models:
            models = fit_on_sample(self.model, self.builder.examples(first.batch), first.rewards.count)
        shared = next(iter(models.values()))  # of all targets that need no model of their own
        return {name: models.get(name, shared) for name in self.builder.targets}

    def unfit_rows(self, sample: Rows, count: int) -> Rows | None:
        """Return all rows of a log with so many, and its reward model as it is in memory, if the sample holds them.

        A model that memory fits in sample, and this engine in folds of the sample, is another one in memory.
        """
        is_same = isinstance(self.model, (Summed, CrossFitted))
        if not is_same or len(sample) < count:
            return None
        return replace(sample, model=self.model, refit=None, stands_for=None)

    def _list_samples(self, first: FirstPassSums) -> dict[str, Examples]:
        """Return some rows for every target, if models are to see rows again."""
        most = max((stream.model.sees_rows for stream in self.first_pass.streams.values()), default=0)
        return self.builder.examples(first.batch.sample(most)) if most else {}

    def _solve(self, name: str, sums: ModelSums, sample: Examples | None) -> Fitted:
        """Return a model from sums, as if columns that turned out to be no context had never been there."""
        stream = self.first_pass.streams[name]
        sources = self.first_pass.balance.columns.sources
        kept = [place for place, source in enumerate(sources) if source not in self.log.left_out]
        kept += range(len(sources), stream.width)  # what policies think of actions
        return solve_stream(stream.narrow(kept), sums.narrow(kept), sample)


def read_first_rows(rows: PreparedRows, schema: Schema, targets: Mapping[str, TargetReader]) -> tuple[Batch, Log]:
    """Return the first rows, as a table and checked, once they show that every target can be read in one way."""
    has_matrices = bool(MATRICES & set(schema.columns))
    head = rows.first.first(count_first(schema.actions.count if has_matrices else 0))
    log = schema.read_log(*head)
    # Targets of all actions take much room, but show in a few rows whether they can be read.
    few = head.first(count_first(schema.actions.count))
    for target in targets.values():
        if target.is_full:
            target.refuse_misreading(schema.read_log(*few), *few)
        else:
            target.refuse_misreading(log, *head)
    return head, log


def make_builder(
    rows: PreparedRows, schema: Schema, targets: Mapping[str, TargetReader], request: Request, *, width: int
) -> RowBuilder:
    """Return what builds rows; `width` is the number of numbers in the context of a row."""
    predictions = request.reward_model.name if isinstance(request.reward_model, Column) else None
    builder = RowBuilder(replace(schema, context=replace(schema.context, width=width)), targets, predictions)
    has_all_rows = rows.count <= min(MOST_RANKED, len(rows.head.row_numbers))
    return builder.rank_rows(rows.head) if has_all_rows and not builder.has_groups else builder


def choose_model(request: Request, targets: Mapping[str, TargetReader], log: Log) -> RewardModel | None:
    """Return the reward model that is fitted; it is checked even where no target can use it."""
    if isinstance(request.reward_model, Column):
        return None
    model = require_fittable(request.reward_model, log)
    return model if any(target.is_full for target in targets.values()) else None


def plan_first_pass(
    rows: PreparedRows, builder: RowBuilder, model: RewardModel | None, head: Batch, log: Log
) -> FirstPass:
    """Return what a first pass finds."""
    return FirstPass(
        builder=builder,
        size=count_sample(builder.schema, head.table, log.context.shape[1], len(builder.targets)),
        row_count=rows.count,
        streams=stream_models(model, builder.examples(head)),
        balance=BalanceStream.of(log, rows.count),
    )


def needs_first_pass(
    rows: PreparedRows, request: Request, builder: RowBuilder, model: RewardModel | None, log: Log
) -> bool:
    """Say whether the last pass alone cannot answer.

    A first pass fits the reward model, draws the sample, counts the groups, finds the units of a short log and the
    edges of segments, and shows which columns are context and which actions were ever taken.
    """
    context = builder.schema.context
    is_context_unknown = bool(context.names) and not context.is_named and builder.schema.weights.fit is None
    is_support_unknown = log.logging_probs is None and log.available is None
    has_full_target = any(target.is_full for target in builder.targets.values())
    return (
        model is not None
        or request.needs_sample
        or builder.has_groups
        or rows.count <= BUCKETS
        or bool(builder.schema.segments.by)
        or is_context_unknown
        or (has_full_target and is_support_unknown)
    )


def require_fittable(value: Any, log: Log) -> RewardModel | None:
    """Return the reward model, which must be one that can be fitted."""
    if log_checks.count_dimensions(value) == 2 or isinstance(value, Given):
        raise ParameterError("`reward_model` must be a model where the log is not in memory, got predictions.")
    return as_model(value, log)
