"""From the columns of a log to its schema: what their names and the first rows show, and what only all rows show."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike

import pyarrow as pa

from counterfold.base import capacity
from counterfold.base.row_counts import Tally
from counterfold.base.validation import WHOLE, Checker
from counterfold.io.schema import propensities, roles
from counterfold.io.schema.batches import Batch, LogRows, Task
from counterfold.io.schema.column_roles import ROLES, ColumnArgument
from counterfold.io.schema.scan import LogScan
from counterfold.io.schema.schema import (
    ColumnRoles,
    ContextColumns,
    IdentifierColumns,
    LoggedActions,
    RowWeights,
    Schema,
    SegmentColumns,
    SourceNotes,
    choose_summaries,
)
from counterfold.io.schema.usual_names import FoundNames
from counterfold.log.encoding import ContextSummary
from counterfold.log.propensities import as_precision

KNOWN_WITH_REWARD = "it is known only with the reward"


def resolve_columns(scan: LogScan, table: pa.Table, targets: Sequence[str] = ()) -> Schema:
    """Return what the columns of a table hold, or of one like it, besides those of the targets.

    What only all rows show is still missing: how the context becomes numbers, for example.
    """
    searched = dict(ROLES)
    ignore = scan.ignore
    fit = scan.find_fit(table.column_names)
    if fit is not None:
        del searched["propensity"]
        ignore = [*ignore, "propensity"]
    roles.refuse_misspelt(table, scan.ignore)

    names = resolve_roles(scan, table, searched, ignore, targets)
    column_roles = ColumnRoles(
        columns=names.roles,
        kinds={role: searched[role].kind for role in names.roles},
        taken=names.taken,
        outcomes=roles.find_outcomes(table),
        are_private=isinstance(scan.source, (str, PathLike)),
    )
    action_table = None if scan.action_source is None else scan.action_source.read(names.roles)
    context = find_context(scan, table, names, ignore, targets)
    segments = SegmentColumns(by=roles.find_by(table, scan.by, names.roles))
    weights = RowWeights(
        fit=fit,
        precision=as_precision(scan.propensity_precision),
        logger_weights=scan.logger_weights,
    )
    return Schema(
        roles=column_roles.read_clock(table),
        context=context,
        actions=LoggedActions(labels=scan.actions, features=action_table),
        weights=weights,
        segments=segments,
        identifiers=IdentifierColumns(
            names=[*names.identifiers, *names.look_alikes, *names.repeated],
            repeated=names.repeated,
        ),
        source=SourceNotes(
            notes=[*roles.find_notes(table), *names.notes],
            missing_rewards=roles.find_missing_rewards(table),
        ),
    )


def learn_columns(rows: LogRows, schema: Schema, *, has_gaps: bool = False) -> Task[Schema]:
    """Return the schema with what all rows show of times and context, and of segments if they are in memory.

    Late rows may lack a number though the first ones do not; `has_gaps` says that this was found.
    """
    if schema.guesses_time:
        schema = yield from judge_times(rows, schema)
    context = yield from learn_context(rows, schema.context, has_gaps=has_gaps)
    schema = replace(schema, context=context)
    if rows.is_whole:
        table, row_numbers = rows.first
        schema = replace(schema, segments=schema.segments.learn(schema.segments.summarise(table, row_numbers)))
        added_columns = max(0, context.count_outputs() - len(context.names))
        capacity.require_rows(rows.count, table.nbytes + capacity.NUMBER * rows.count * added_columns)
    return schema


def judge_times(rows: LogRows, schema: Schema) -> Task[Schema]:
    """Return the schema without a column of times that nobody named, if not all rows have a time."""

    def tally_times(batch: Batch) -> Tally:
        return schema.tally_times(batch.table, batch.row_numbers)

    tally = yield rows.ask("Reading times", tally_times, [schema.columns["time"]])
    return schema.judge_times(tally)


def learn_context(rows: LogRows, context: ContextColumns, *, has_gaps: bool) -> Task[ContextColumns]:
    """Return how the context becomes numbers, by a pass over all rows unless the first ones hold plain numbers."""
    first = context.summarise(rows.first.table, WHOLE)
    if rows.is_whole or not first.columns or (first.is_plain and not has_gaps):
        return context.learn(first)

    def summarise(batch: Batch) -> ContextSummary:
        return context.summarise(batch.table, Checker(batch.row_numbers))

    summary = yield rows.ask("Reading the context", summarise, list(first.columns))
    return context.learn(summary)


def resolve_roles(
    scan: LogScan,
    table: pa.Table,
    searched: Mapping[str, ColumnArgument],
    ignore: Sequence[str],
    targets: Sequence[str],
) -> FoundNames:
    """Return the column of each role that a log has, named or not, once all that must be there is."""
    context = scan.context or ()
    named: dict[str, str | None] = {role: getattr(scan, role) for role in searched}
    columns = roles.find_roles(table, searched, named, ignore)
    roles.require(table, columns, context)
    if "propensity" in searched:  # or they are fitted
        propensities.require_propensities(table, columns, targets)
        propensities.refuse_one_of_several(table, columns)
    roles.refuse_two_roles(table, columns, targets)
    unused = [name for name in roles.list_free(table, columns, ignore, targets) if name not in context]
    if scan.horizon is not None:
        # A horizon waits for rewards from the time of the decision on: it is named by that.
        named = named | {"time": columns.get("time")}
    return FoundNames.of(table, columns, named, unused, context)


def find_context(
    scan: LogScan, table: pa.Table, names: FoundNames, ignore: Sequence[str], targets: Sequence[str]
) -> ContextColumns:
    """Return the columns of the context, and why others are none."""
    is_named = scan.context is not None
    free: Sequence[str] = []
    if not is_named:
        free = roles.list_free(table, names.roles, [*ignore, *names.identifiers], targets)
    context = roles.list_context(table, names.roles, scan.context, free, targets)
    summaries = choose_summaries(table, context)

    left_out = roles.find_left_out(table, names.roles, free)
    if not is_named:
        used = {*names.roles.values(), *ignore}
        later = [name for name in roles.find_outcomes(table) if name not in used]
        left_out |= dict.fromkeys(later, KNOWN_WITH_REWARD)
    left_out |= names.explain(named=is_named)
    return ContextColumns(names=context, is_named=is_named, left_out=left_out, summaries=summaries)
