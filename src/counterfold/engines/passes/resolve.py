"""The schema of a log, for every engine: what its columns hold, which actions exist, how rows are weighed.

Each step is a task. Where all rows are in memory they are one batch, and `Log` learns from its own rows which actions
exist and how likely they were. Where they are read a few at a time, no batch shows that, and so passes must.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import capacity
from counterfold.base.errors import DataError
from counterfold.base.validation import FIRST, WHOLE, Checker
from counterfold.engines.base import Request, list_columns
from counterfold.engines.passes.sample import Sample
from counterfold.io.schema import columns, roles
from counterfold.io.schema.batches import Batch, LogRows, Task
from counterfold.io.schema.columns import list_keys, list_values
from counterfold.io.schema.resolution import learn_columns, resolve_columns
from counterfold.io.schema.schema import ContextColumns, Schema
from counterfold.log import log_checks
from counterfold.log.assignment import choose_context, count_first
from counterfold.log.contents import Spread
from counterfold.log.encoding.json_texts import parse_json
from counterfold.log.encoding.kinds import is_text
from counterfold.log.known_actions import KnownActions, Naming, find_actions, find_categories
from counterfold.log.log_checks import Matrix
from counterfold.log.skewed_columns import MOST_RANKED, SkewedColumns, find_skewed
from counterfold.models import Column
from counterfold.policies.from_tables import TargetReader

SAMPLE, NUMBERS = 1 << 16, 1 << 23
"""A sample has at most SAMPLE rows, and about NUMBERS numbers, but never fewer than 256 rows."""

MATRICES = {"logging_probs", "available", "logger_probs"}
"""The roles that hold a number for each action in every row."""


def resolve_schema(
    rows: LogRows, request: Request, targets: Mapping[str, TargetReader], *, has_gaps: bool = False
) -> Task[Schema]:
    """Return what the columns of a log hold, as its first rows and then all its rows show.

    `has_gaps` says that late rows lack numbers though the first ones do not.
    """
    table = rows.first.table
    named = list_columns(targets.values(), request.reward_model)
    for name in named:
        roles.require(table, {"target": name})
    schema = resolve_columns(rows.scan, table, named)
    for target in targets.values():
        target.refuse_outcomes(schema.roles)

    if not rows.is_whole:
        schema = yield from name_actions(rows, schema, targets.values())
    schema = yield from learn_columns(rows, schema, has_gaps=has_gaps)
    if not rows.is_whole:
        uses_context = any(target.uses_context for target in targets.values())
        schema = yield from weigh_rows(rows, schema, keep_all=uses_context)
        if fits_models(request, targets.values()):
            schema = yield from rank_skewed(rows, schema)
    return schema


def fits_models(request: Request, targets: Iterable[TargetReader]) -> bool:
    """Say whether a reward model is fitted: not if there is none, if its predictions are read, or if none uses it."""
    is_fitted = request.reward_model is not None and not isinstance(request.reward_model, Column)
    return is_fitted and any(target.is_full for target in targets)


def name_actions(rows: LogRows, schema: Schema, targets: Iterable[TargetReader]) -> Task[Schema]:
    """Return the schema with all actions, where any target or column has a number for each of them."""
    table = rows.first.table
    if "dose" in schema.columns:
        raise DataError("a log of doses must be evaluated in memory; use engine 'memory'.")
    is_needed = (
        any(target.is_full for target in targets)
        or bool(MATRICES & set(schema.columns))
        or schema.weights.fit is not None
        or schema.actions.features is not None  # which say what the actions have in common
    )
    # Where the first rows hold a single action, all rows must show that there are two at least.
    if is_needed or len(np.unique(schema.read_labels(table, "action"))) < 2:
        labels = yield from list_actions(rows, schema)
        schema = replace(schema, actions=schema.actions.name_all(labels))
        capacity.require_few_actions(schema.actions.count)
    return schema


def list_actions(rows: LogRows, schema: Schema) -> Task[KnownActions]:
    """Return all actions: those that the user or the probabilities' columns name, or those in the log."""
    table = rows.first.table
    column = schema.columns["action"]
    labels = schema.read_labels(table, "action")
    if schema.actions.labels is not None:
        return find_actions(labels, schema.actions.labels, Naming(), WHOLE)
    categories = find_categories(columns.read_labels(table, column))
    matrices = yield from read_probabilities(rows, schema)
    naming = log_checks.find_naming(matrices, categories)
    width = naming.width or 0
    is_counted = width and labels.dtype.kind in "iu" and labels.min() == 0 and labels.max() < width
    if not (is_counted or naming.names or categories):  # the first rows may not show every action
        kind = table.schema.field(column).type
        distinct = yield from list_distinct(rows, column)
        values = pa.array(distinct, None if isinstance(kind, pa.BaseExtensionType) else kind)
        labels = schema.read_labels(pa.table({column: values}), "action")
    return find_actions(labels, None, naming, WHOLE)


def read_probabilities(rows: LogRows, schema: Schema) -> Task[list[Matrix]]:
    """Return the probabilities of the logging policy, or of each of several, in some of the first rows."""
    table = rows.first.table
    wanted = [
        place
        for role in ("logging_probs", "logger_probs")
        if role in schema.columns
        for place in roles.places(table, role, schema.columns[role])
    ]
    parsed = {place: parse_json(table, place, WHOLE) for place in wanted}
    texts = {place for place in parsed if is_text(table.column(place).type)}
    for place, column in parsed.items():
        table = table.set_column(table.column_names.index(place), place, column)
    few = table.slice(0, count_first(columns.count_numbers(table, wanted)))

    matrices: dict[str, Any] = {}
    if "logging_probs" in schema.columns:
        name = schema.columns["logging_probs"]
        matrices[name] = columns.read_matrix(few, name)
    if "logger_probs" in schema.columns:
        loggers: set[str] = set()
        if "logger" in schema.columns:
            loggers = {str(label) for label in schema.read_labels(table, "logger")}
        matrices |= columns.read_matrices(few, schema.columns["logger_probs"], loggers)

    checked: list[Matrix] = []
    for name, values in matrices.items():
        matrix = log_checks.check_matrix(name, values, few.num_rows, WHOLE)
        if name in parsed and pa.types.is_map(parsed[name].type):  # other rows may name other actions
            keys = list_keys(parsed[name]) if name in texts else (yield from list_distinct(rows, name))
            matrix = matrix._replace(names=tuple(map(str, keys)))
        checked.append(matrix)
    return checked


@dataclass(frozen=True)
class Distinct:
    """Different values of some rows; those of other rows can be added."""

    values: frozenset[Any]

    def __add__(self, other: "Distinct") -> "Distinct":
        return Distinct(self.values | other.values)


def list_distinct(rows: LogRows, column: str) -> Task[list[Any]]:
    """Return the different values of a column, or keys of its maps, sorted."""

    def find(batch: Batch) -> Distinct:
        chunks = batch.table.column(column).chunks
        arrays = (chunk.keys if pa.types.is_map(chunk.type) else chunk for chunk in chunks)
        return Distinct(frozenset(value for array in arrays for value in list_values(array)))

    distinct = yield rows.ask("Listing actions", find, [column])
    return sorted(value for value in distinct.values if value is not None)


def weigh_rows(rows: LogRows, schema: Schema, *, keep_all: bool) -> Task[Schema]:
    """Return the schema with how much rows count; `keep_all` says that all columns stay context."""
    if "kept" in schema.columns:
        schema = yield from find_least_kept(rows, schema)
    if schema.weights.fit is not None:
        schema = yield from fit_propensities(rows, schema, keep_all=keep_all)
    if "logger" in schema.columns and schema.weights.logger_weights == "balanced":
        shares = yield from count_loggers(rows, schema)
        schema = replace(schema, weights=replace(schema.weights, logger_shares=shares))
    return schema


def find_least_kept(rows: LogRows, schema: Schema) -> Task[Schema]:
    """Return the schema with the least probability of a row to be kept; all count the same if that is every row's."""

    def find(batch: Batch) -> Spread:
        return Spread.of(schema.read_kept(batch.table, batch.row_numbers))

    spread = yield rows.ask("Reading how rows were kept", find, [schema.columns["kept"]])
    if spread.low >= spread.high:
        by_role = {role: column for role, column in schema.columns.items() if role != "kept"}
        schema = replace(schema, roles=replace(schema.roles, columns=by_role))
    return replace(schema, weights=replace(schema.weights, least_kept=spread.low))


def fit_propensities(rows: LogRows, schema: Schema, *, keep_all: bool) -> Task[Schema]:
    """Return the schema with propensities that are fitted on a sample, and with the context that they depend on."""
    table = rows.first.table
    size = count_sample(schema, table, schema.context.count_outputs(), 0)
    take_sample = partial(Sample.of, size=size, row_count=rows.count)
    sample = yield rows.ask("Fitting propensities", take_sample, list_read_columns(schema, table, ()))
    log, _ = choose_context(schema.read_log(*sample.batch), keep_all=keep_all)
    return replace(
        schema,
        context=replace(schema.context.without(log.left_out), left_out=log.left_out),
        weights=replace(schema.weights, fit=log.fitted),
    )


def count_loggers(rows: LogRows, schema: Schema) -> Task[dict[str, float]]:
    """Return how large a share of all rows each logger decided."""
    needed = [schema.columns[role] for role in ("logger", "kept") if role in schema.columns]

    def count(batch: Batch) -> "Counter[str]":
        labels = list(map(str, schema.read_labels(batch.table, "logger", batch.row_numbers).tolist()))
        if "kept" not in schema.columns:
            return Counter(labels)
        loggers, places = np.unique(labels, return_inverse=True)
        decisions = np.bincount(places, 1 / schema.read_kept(batch.table, batch.row_numbers))
        return Counter(dict(zip(loggers.tolist(), decisions.tolist(), strict=True)))

    counts = yield rows.ask("Counting loggers", count, needed)
    return {label: number / counts.total() for label, number in counts.items()}


def rank_skewed(rows: LogRows, schema: Schema) -> Task[Schema]:
    """Return the schema with the skewed columns of the context, of which reward models see normal scores."""
    skewed = yield from find_normal_scores(rows, schema.context)
    if skewed is None:
        return schema
    return replace(schema, context=replace(schema.context, skewed=skewed))


def find_normal_scores(rows: LogRows, context: ContextColumns) -> Task[SkewedColumns | None]:
    """Return the skewed columns of the context, if there are any.

    The first rows show which columns are skewed. Where they are not all rows, a sample of all shows the ranks, by a
    pass over these columns.
    """
    table, row_numbers = rows.first
    first = context.read(table, Checker(row_numbers))
    if first is None:
        return None
    places = find_skewed(first.values[:FIRST])
    if not len(places):
        return None
    if rows.count <= min(len(first.values), MOST_RANKED):
        return SkewedColumns.rank(first.values, first.column_names, places)
    sources = {first.sources[place] for place in places.tolist()}
    wanted = [name for name in context.names if name in sources]
    if len(wanted) < len(sources):  # elements of a list, whose column has another name
        wanted = list(context.names)
    take_sample = partial(Sample.of, size=MOST_RANKED, row_count=rows.count)
    sample = yield rows.ask("Reading skewed columns", take_sample, wanted)
    ranked = replace(context, names=wanted).read(sample.batch.table, Checker(sample.batch.row_numbers))
    if ranked is None:
        return None
    names = [first.column_names[place] for place in places.tolist()]
    ranked_places = np.array([ranked.column_names.index(name) for name in names])
    return SkewedColumns.rank(ranked.values, ranked.column_names, ranked_places)


def list_read_columns(schema: Schema, table: pa.Table, targets: Sequence[str]) -> list[str]:
    """Return every column that is read, in the order of the table."""
    wanted = {*schema.places(table), *roles.list_places(table, targets)}
    return [place for place in table.column_names if place in wanted]


def count_sample(schema: Schema, table: pa.Table, width: int, targets: int) -> int:
    """Return how many rows a sample may have, fewer where a row holds very many numbers, `width` of them context."""
    plain: int = table.num_columns - len(schema.context.names) + width  # lists hold more numbers than one
    return max(256, min(SAMPLE, NUMBERS // (plain + 3 * schema.actions.count * (1 + targets))))
