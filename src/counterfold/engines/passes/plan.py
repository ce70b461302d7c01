"""Plan: what the first rows of a large log tell of all, and what the passes over it must find."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold import capacity, log_checks
from counterfold.balance import Balance, BalanceStream, BalanceSums, choose_context, count_first
from counterfold.checks import WHOLE
from counterfold.engines.base import Request, list_columns
from counterfold.engines.passes.batches import HEAD, Batch, BatchReader
from counterfold.engines.passes.first_pass import FirstPass, FirstPassSums
from counterfold.engines.passes.row_builder import RowBuilder
from counterfold.engines.passes.sample import Sample
from counterfold.errors import DataError, ParameterError
from counterfold.labels import KnownActions, Naming, find_actions, find_categories
from counterfold.log import Log
from counterfold.log_checks import Matrix
from counterfold.models import Column, Streamed, as_model, fit_on_sample, stream_model
from counterfold.models.base import Given, RewardModel
from counterfold.progress import show_progress
from counterfold.sums import BUCKETS
from counterfold.tables import columns, roles
from counterfold.tables.layout import Layout
from counterfold.tables.maps import list_keys
from counterfold.tables.targets import TargetReader, make_readers, require_streamable

SAMPLE, NUMBERS = 1 << 16, 1 << 23
"""A sample has at most SAMPLE rows, and about NUMBERS numbers, but never fewer than 256 rows."""

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
    def of(cls, reader: BatchReader, request: Request) -> "Plan":
        """Return the plan for one log and its targets."""
        require_streamable(request.targets)
        predictions = request.reward_model.name if isinstance(request.reward_model, Column) else None
        table, row_numbers = reader.head()
        count = reader.count_rows()
        log_checks.require_rows(2 if count is None else count)
        head = Batch(table, row_numbers).first(HEAD)
        targets = make_readers(request.targets, head.table)
        has_full_target = any(one.is_full for one in targets.values())
        named = list_columns(targets.values(), request.reward_model)
        layout = lay_out(reader, head.table, targets.values(), named)
        if layout.fit is not None:
            layout = fit_propensities(reader, layout, table, request)
        head = head.first(count_first(len(layout.actions or ()) if MATRICES & set(layout.roles) else 0))
        log = layout.log(*head)
        refuse_misreadings(targets.values(), layout, head, log)
        builder = RowBuilder(replace(layout, width=log.context.shape[1]), targets, predictions)
        fittable = None if predictions else require_fittable(request.reward_model, log)
        model = fittable if has_full_target else None  # checked, even where nothing can use it
        is_support_unknown = has_full_target and log.logging_probs is None and log.available is None
        needs_first = is_support_unknown or (count or len(row_numbers)) <= BUCKETS or builder.has_groups
        fixes_context = layout.named_context or request.fixes_context or layout.fit is not None
        is_context_unknown = bool(layout.context) and not (layout.named_context or layout.fit)
        size, stream = (
            count_sample(layout, table, log.context.shape[1], len(targets)),
            stream_model(model, builder.examples(head)),
        )
        return cls(
            builder=builder,
            head=head,
            log=log,
            columns=list_read_columns(layout, head.table, named),
            model=model,
            first_pass=FirstPass(builder, size, count, stream, BalanceStream.of(log, count)),
            needs_first_pass=needs_first or is_context_unknown or model is not None or request.needs_sample,
            fixes_context=fixes_context,
        )

    def test_balance(self, sums: BalanceSums | None) -> tuple["Plan", Balance]:
        """Return the plan without columns of the context that nobody named and that are none, and what tests found."""
        balance = self.first_pass.balance.solve(sums)
        if self.fixes_context:
            return self, balance
        log = self.log.leave_out(balance.leave_out())
        layout = replace(self.builder.layout, context=log.context_names, width=len(log.context_names))
        columns = [place for place in self.columns if place not in log.left_out]
        return replace(self, builder=replace(self.builder, layout=layout), log=log, columns=columns), balance

    def fit(self, first: FirstPassSums | None) -> Streamed | None:
        """Return the reward model, from the sums of the first pass or fitted on its sample."""
        if self.model is None or first is None:
            return None
        if self.first_pass.stream is not None and first.model is not None:
            known = self.first_pass.balance.columns.names
            kept = [place for place, name in enumerate(known) if name not in self.log.left_out]
            return self.first_pass.stream.narrow(kept).solve(first.model.narrow(kept))
        return fit_on_sample(self.builder.examples(first.batch), self.model)


def refuse_misreadings(targets: Iterable[TargetReader], layout: Layout, head: Batch, log: Log) -> None:
    """Refuse targets that can be read in no way or in two ways; those of all actions show it in a few rows."""
    few = head.first(count_first(len(layout.actions or ())))
    for one in targets:
        one.refuse_misreading(*((layout.log(*few), *few) if one.is_full else (log, *head)))


def require_fittable(value: Any, log: Log) -> RewardModel | None:
    """Return the reward model, which must be one that can be fitted."""
    if log_checks.count_dimensions(value) == 2 or isinstance(value, Given):
        raise ParameterError("`reward_model` must be a model where the log is not in memory, got predictions.")
    return as_model(value, log)


def lay_out(reader: BatchReader, table: pa.Table, targets: Iterable[TargetReader], named: Sequence[str]) -> Layout:
    """Return what the columns hold, with all actions where any target or column has a number for each of them."""
    for name in named:
        roles.require(table, {"target": name})
    layout = reader.scan.layout(table, named)
    if "dose" in layout.roles:
        raise DataError("a log of doses must be evaluated in memory; use engine 'memory'.")
    is_needed = any(one.is_full for one in targets) or MATRICES & set(layout.roles) or layout.fit is not None
    if is_needed or len(np.unique(layout.read_labels(table, "action"))) < 2:  # all rows must tell of two, at least
        layout = replace(layout, actions=list_actions(layout, table, reader))
        capacity.require_few_actions(len(layout.actions or ()))
    return layout


def fit_propensities(reader: BatchReader, layout: Layout, head: pa.Table, request: Request) -> Layout:
    """Return the layout with propensities that are fitted on a sample, and with the context that they depend on."""
    count, size = reader.count_rows(), count_sample(layout, head, len(layout.context), 0)
    columns = list_read_columns(layout, head, ())
    with show_progress("Sampling", progress=request.progress, unit="rows") as progress:
        sample = reader.total(partial(Sample.of, size=size, row_count=count), columns, progress)
    log, _ = choose_context(layout.log(*sample.batch), keep_all=request.fixes_context)
    context = layout.context if layout.named_context else log.context_names
    return replace(layout, context=context, left_out=log.left_out, fit=log.fitted)


def list_read_columns(layout: Layout, table: pa.Table, named: Sequence[str]) -> list[str]:
    """Return every column that is read, in the order of the table."""
    wanted = {*layout.places(table), *(place for name in named for place in roles.places(table, "target", name))}
    return [place for place in table.column_names if place in wanted]


def count_sample(layout: Layout, table: pa.Table, width: int, targets: int) -> int:
    """Return how many rows a sample may have, fewer where a row holds very many numbers, `width` of them context."""
    plain: int = table.num_columns - len(layout.context) + width  # lists hold more numbers than one
    return max(256, min(SAMPLE, NUMBERS // (plain + 3 * len(layout.actions or ()) * (1 + targets))))


def list_actions(layout: Layout, head: pa.Table, reader: BatchReader) -> KnownActions:
    """Return all actions: those that the user or the probabilities' columns name, or those in the log."""
    labels, column = layout.read_labels(head, "action"), layout.roles["action"]
    if layout.actions is not None:
        return find_actions(labels, layout.actions, Naming(), WHOLE)
    categories = find_categories(columns.read_labels(head, column))
    naming = log_checks.find_naming(read_probabilities(layout, head, reader), categories)
    width = naming.width or 0
    is_counted = width and labels.dtype.kind in "iu" and labels.min() == 0 and labels.max() < width
    if not (is_counted or naming.names or categories):  # the first rows may not show every action
        values = pa.array(reader.distinct(column), head.schema.field(column).type)
        labels = layout.read_labels(pa.table({column: values}), "action")
    return find_actions(labels, None, naming, WHOLE)


def read_probabilities(layout: Layout, head: pa.Table, reader: BatchReader) -> list[Matrix]:
    """Return the probabilities of the logging policy, or of each of several, in some of the first rows."""
    known = {role: layout.roles[role] for role in ("logging_probs", "logger_probs") if role in layout.roles}
    wanted = [place for role, name in known.items() for place in roles.places(head, role, name)]
    parsed = {place: columns.parse_json(head, place, WHOLE) for place in wanted}
    texts = {name for name in parsed if columns.is_text(head.column(name).type)}
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
            names = list_keys(parsed[name]) if name in texts else reader.distinct(name)
            matrix = matrix._replace(names=tuple(map(str, names)))
        matrices.append(matrix)
    return matrices
