"""Plan: what the first rows of a large log tell of all, and what the passes over it must find."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import capacity
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.validation import WHOLE
from counterfold.engines.base import Request, list_columns, list_features
from counterfold.engines.passes.batches import HEAD, PreparedRows
from counterfold.engines.passes.first_pass import FirstPass, FirstPassSums
from counterfold.engines.passes.row_builder import RowBuilder
from counterfold.engines.passes.whole_layout import (
    complete_layout,
    count_sample,
    encode_context,
    know_skewed,
    list_distinct,
    list_read_columns,
)
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import BUCKETS
from counterfold.io.schema import columns, roles
from counterfold.io.schema.batches import Batch, Task
from counterfold.io.schema.layout import Layout
from counterfold.io.schema.maps import list_keys
from counterfold.log import log_checks
from counterfold.log.assignment import Balance, BalanceStream, BalanceSums, count_first, is_number
from counterfold.log.encoding.json_texts import parse_json
from counterfold.log.encoding.kinds import is_text
from counterfold.log.known_actions import KnownActions, Naming, find_actions, find_categories
from counterfold.log.log import Log
from counterfold.log.log_checks import Matrix
from counterfold.log.skewed_columns import MOST_RANKED
from counterfold.models import Column, Fitted, ModelSums, Summed, as_model, fit_on_sample, solve_stream, stream_models
from counterfold.models.base import Examples, Given, RewardModel
from counterfold.models.cross_fitted import CrossFitted
from counterfold.policies.from_tables import TargetReader, make_readers, require_streamable

MATRICES = {"logging_probs", "available", "logger_probs"}
"""The roles that hold a number for each action in every row."""


@dataclass(frozen=True, eq=False)
class Plan:
    """How rows are built from batches, which columns are read, and which reward model is fitted.

    `head` and `log` are the first rows, as a table and checked.
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
        predictions = request.reward_model.name if isinstance(request.reward_model, Column) else None
        log_checks.require_rows(rows.count)
        head = rows.head.first(HEAD)
        targets = make_readers(request.targets, head.table)
        require_streamable(request.targets, targets)
        has_full_target = any(one.is_full for one in targets.values())
        uses_context = any(one.uses_context for one in targets.values())
        named = list_columns(targets.values(), request.reward_model)
        layout = yield from lay_out(rows, head.table, targets.values(), named)
        layout = yield from encode_context(rows, layout, head.table, has_gaps=has_gaps)
        layout = yield from complete_layout(rows, layout, keep_all=uses_context)
        if has_full_target and predictions is None and request.reward_model is not None:
            layout = yield from know_skewed(rows, layout, head)
        head = head.first(count_first(len(layout.actions or ()) if MATRICES & set(layout.roles) else 0))
        log = layout.log(*head)
        refuse_misreadings(targets.values(), layout, head, log)
        builder = RowBuilder(replace(layout, width=log.context.shape[1]), targets, predictions)
        if rows.count <= min(MOST_RANKED, len(rows.head.row_numbers)) and not builder.has_groups:
            builder = builder.rank_rows(rows.head)
        fittable = None if predictions else require_fittable(request.reward_model, log)
        model = fittable if has_full_target else None  # checked, even where nothing can use it
        fixes_context = layout.named_context or layout.fit is not None
        needs_first = builder.has_groups or rows.count <= BUCKETS or request.needs_sample
        is_unknown = is_context_unknown(layout) or (has_full_target and is_support_unknown(log))
        needs_first = needs_first or is_unknown or model is not None or bool(layout.by)
        size = count_sample(layout, head.table, log.context.shape[1], len(targets))
        columns = list_read_columns(layout, head.table, [*named, *list_features(targets.values())])
        streams = stream_models(model, builder.examples(head))
        first_pass = FirstPass(builder, size, rows.count, streams, BalanceStream.of(log, rows.count))
        return cls(builder, head, log, columns, model, first_pass, needs_first, fixes_context)

    def test_balance(self, sums: BalanceSums | None) -> tuple["Plan", Balance]:
        """Return the plan without columns of the context that nobody named and that are none, and what tests found."""
        balance = self.first_pass.balance.solve(sums)
        reasons = {} if self.fixes_context else balance.leave_out()
        if any(one.uses_context for one in self.builder.targets.values()):
            reasons = {name: why for name, why in reasons.items() if not is_number(self.log, name)}
        if not reasons:
            return self, balance
        log = self.log.leave_out(reasons)
        context = [name for name in self.builder.layout.context if name not in reasons]
        layout = replace(self.builder.layout, context=context, width=len(log.context_names))
        looked_at = [*layout.identifiers, *(one.column for one in layout.by)]
        needed = [*list_features(self.builder.targets.values()), *looked_at]
        columns = [place for place in self.columns if place not in reasons or place in needed]
        return replace(self, builder=replace(self.builder, layout=layout), log=log, columns=columns), balance

    def fit(self, first: FirstPassSums | None) -> dict[str, Fitted]:
        """Return the reward model of every target, from the sums of the first pass or fitted on its sample."""
        if self.model is None or first is None:
            return {}
        samples = self._list_samples(first)
        found = {name: self._solve(name, sums, samples.get(name)) for name, sums in first.models.items()}
        found = found or fit_on_sample(self.model, self.builder.examples(first.batch), first.rewards.count)
        shared = next(iter(found.values()))
        return {name: found.get(name, shared) for name in self.builder.targets}

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
        stream, known = self.first_pass.streams[name], self.first_pass.balance.columns.sources
        kept = [place for place, source in enumerate(known) if source not in self.log.left_out]
        kept += range(len(known), stream.width)  # what policies think of actions
        return solve_stream(stream.narrow(kept), sums.narrow(kept), sample)


def is_context_unknown(layout: Layout) -> bool:
    """Say whether all rows must tell which columns are context."""
    return bool(layout.context) and not layout.named_context and layout.fit is None


def is_support_unknown(log: Log) -> bool:
    """Say whether all rows must tell which actions were ever taken."""
    return log.logging_probs is None and log.available is None


def refuse_misreadings(targets: Iterable[TargetReader], layout: Layout, head: Batch, log: Log) -> None:
    """Refuse targets that can be read in no way or in two ways; those of all actions show it in a few rows."""
    few = head.first(count_first(len(layout.actions or ())))
    for one in targets:
        one.refuse_outcomes(layout)
        one.refuse_misreading(*((layout.log(*few), *few) if one.is_full else (log, *head)))


def require_fittable(value: Any, log: Log) -> RewardModel | None:
    """Return the reward model, which must be one that can be fitted."""
    if log_checks.count_dimensions(value) == 2 or isinstance(value, Given):
        raise ParameterError("`reward_model` must be a model where the log is not in memory, got predictions.")
    return as_model(value, log)


def lay_out(rows: PreparedRows, table: pa.Table, targets: Iterable[TargetReader], named: Sequence[str]) -> Task[Layout]:
    """Return what the columns hold, with all actions where any target or column has a number for each of them."""
    for name in named:
        roles.require(table, {"target": name})
    layout = rows.scan.layout(table, named)
    if "dose" in layout.roles:
        raise DataError("a log of doses must be evaluated in memory; use engine 'memory'.")
    is_needed = any(one.is_full for one in targets) or MATRICES & set(layout.roles) or layout.fit is not None
    is_needed = is_needed or layout.action_table is not None  # which tells what the actions have in common
    if is_needed or len(np.unique(layout.read_labels(table, "action"))) < 2:  # all rows must tell of two, at least
        actions = yield from list_actions(layout, table, rows)
        layout = layout.know_actions(actions)
        capacity.require_few_actions(len(layout.actions or ()))
    return layout


def list_actions(layout: Layout, head: pa.Table, rows: PreparedRows) -> Task[KnownActions]:
    """Return all actions: those that the user or the probabilities' columns name, or those in the log."""
    labels, column = layout.read_labels(head, "action"), layout.roles["action"]
    if layout.actions is not None:
        return find_actions(labels, layout.actions, Naming(), WHOLE)
    categories = find_categories(columns.read_labels(head, column))
    matrices = yield from read_probabilities(layout, head, rows)
    naming = log_checks.find_naming(matrices, categories)
    width = naming.width or 0
    is_counted = width and labels.dtype.kind in "iu" and labels.min() == 0 and labels.max() < width
    if not (is_counted or naming.names or categories):  # the first rows may not show every action
        kind = head.schema.field(column).type
        distinct = yield from list_distinct(rows, column)
        values = pa.array(distinct, None if isinstance(kind, pa.BaseExtensionType) else kind)
        labels = layout.read_labels(pa.table({column: values}), "action")
    return find_actions(labels, None, naming, WHOLE)


def read_probabilities(layout: Layout, head: pa.Table, rows: PreparedRows) -> Task[list[Matrix]]:
    """Return the probabilities of the logging policy, or of each of several, in some of the first rows."""
    known = {role: layout.roles[role] for role in ("logging_probs", "logger_probs") if role in layout.roles}
    wanted = [place for role, name in known.items() for place in roles.places(head, role, name)]
    parsed = {place: parse_json(head, place, WHOLE) for place in wanted}
    texts = {name for name in parsed if is_text(head.column(name).type)}
    for name, column in parsed.items():
        head = head.set_column(head.column_names.index(name), name, column)
    few = head.slice(0, count_first(columns.count_numbers(head, wanted)))
    found = {}
    if "logging_probs" in known:
        found[known["logging_probs"]] = columns.read_matrix(few, known["logging_probs"])
    if "logger_probs" in known:
        labels = {str(label) for label in layout.read_labels(head, "logger")} if "logger" in layout.roles else set()
        found |= columns.read_matrices(few, known["logger_probs"], labels)
    matrices = []
    for name, one in found.items():
        matrix = log_checks.check_matrix(name, one, few.num_rows, WHOLE)
        if name in parsed and pa.types.is_map(parsed[name].type):  # other rows may name other actions
            names = list_keys(parsed[name]) if name in texts else (yield from list_distinct(rows, name))
            matrix = matrix._replace(names=tuple(map(str, names)))
        matrices.append(matrix)
    return matrices
