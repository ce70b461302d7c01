"""What only all rows of a large log tell of its layout: levels of text, fitted propensities, loggers, what was kept."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base.row_counts import Tally
from counterfold.base.validation import FIRST, Checker
from counterfold.engines.passes.batches import PreparedRows
from counterfold.engines.passes.sample import Sample
from counterfold.io.schema import roles
from counterfold.io.schema.batches import Batch, Task
from counterfold.io.schema.columns import list_values
from counterfold.io.schema.layout import Layout
from counterfold.log.assignment import choose_context
from counterfold.log.contents import Spread
from counterfold.log.encoding import ContextSummary
from counterfold.log.skewed_columns import MOST_RANKED, SkewedColumns, find_skewed

SAMPLE, NUMBERS = 1 << 16, 1 << 23
"""A sample has at most SAMPLE rows, and about NUMBERS numbers, but never fewer than 256 rows."""


@dataclass(frozen=True)
class Distinct:
    """Different values of some rows; those of other rows can be added."""

    values: frozenset[Any]

    def __add__(self, other: "Distinct") -> "Distinct":
        return Distinct(self.values | other.values)


def list_distinct(rows: PreparedRows, column: str) -> Task[list[Any]]:
    """Return the different values of a column, or keys of its maps, sorted."""

    def find(batch: Batch) -> Distinct:
        chunks = batch.table.column(column).chunks
        arrays = (chunk.keys if pa.types.is_map(chunk.type) else chunk for chunk in chunks)
        return Distinct(frozenset(value for one in arrays for value in list_values(one)))

    found = yield rows.ask("Listing actions", find, [column])
    return sorted(value for value in found.values if value is not None)


def complete_layout(rows: PreparedRows, layout: Layout, *, keep_all: bool) -> Task[Layout]:
    """Return the layout with all that is known of the logging policy; `keep_all` says that all columns stay context."""
    if layout.guesses_time:
        layout = yield from know_times(rows, layout)
    if "kept" in layout.roles:
        layout = yield from know_kept(rows, layout)
    if layout.fit is not None:
        layout = yield from fit_propensities(rows, layout, keep_all=keep_all)
    if "logger" in layout.roles and layout.logger_weights == "balanced":
        shares = yield from count_loggers(rows, layout)
        layout = replace(layout, logger_shares=shares)
    return layout


def encode_context(rows: PreparedRows, layout: Layout, head: pa.Table, *, has_gaps: bool) -> Task[Layout]:
    """Return the layout with how the context becomes numbers, by a pass over all rows unless there are plain numbers.

    Late rows may lack a number though the first ones do not; `has_gaps` says that this was found.
    """
    first = layout.summarise(head)
    if not first.columns or (first.is_plain and not has_gaps):
        return layout.learn(first)

    def summarise(batch: Batch) -> ContextSummary:
        return layout.summarise(*batch)

    found = yield rows.ask("Reading the context", summarise, list(first.columns))
    return layout.learn(found)


def fit_propensities(rows: PreparedRows, layout: Layout, *, keep_all: bool) -> Task[Layout]:
    """Return the layout with propensities that are fitted on a sample, and with the context that they depend on."""
    size = count_sample(layout, rows.head.table, layout.count_outputs(), 0)
    columns = list_read_columns(layout, rows.head.table, ())
    sample = yield rows.ask("Fitting propensities", partial(Sample.of, size=size, row_count=rows.count), columns)
    log, _ = choose_context(layout.log(*sample.batch), keep_all=keep_all)
    context = [name for name in layout.context if name not in log.left_out]
    return replace(layout, context=context, left_out=log.left_out, fit=log.fitted)


def know_skewed(rows: PreparedRows, layout: Layout, head: Batch) -> Task[Layout]:
    """Return the layout with the skewed columns of the context, of which reward models see normal scores.

    The first rows tell which columns are skewed. Where they are not all rows, a sample of all tells the ranks, by a
    pass over these columns.
    """
    first = layout.read_context(head.table, Checker(head.row_numbers))
    if first is None:
        return layout
    places = find_skewed(first.values[:FIRST])
    if not len(places):
        return layout
    if rows.count <= min(len(first.values), MOST_RANKED):
        return replace(layout, skewed=SkewedColumns.rank(first.values, first.column_names, places))
    sources = {first.sources[place] for place in places.tolist()}
    wanted = [name for name in layout.context if name in sources]
    if len(wanted) < len(sources):  # elements of a list, whose column has another name
        wanted = list(layout.context)
    take_sample = partial(Sample.of, size=MOST_RANKED, row_count=rows.count)
    sample = yield rows.ask("Reading skewed columns", take_sample, wanted)
    reader = replace(layout, context=wanted)
    ranked = reader.read_context(sample.batch.table, Checker(sample.batch.row_numbers))
    if ranked is None:
        return layout
    names = [first.column_names[place] for place in places.tolist()]
    found = [ranked.column_names.index(name) for name in names]
    return replace(layout, skewed=SkewedColumns.rank(ranked.values, ranked.column_names, np.array(found)))


def know_times(rows: PreparedRows, layout: Layout) -> Task[Layout]:
    """Return the layout with a column of times that nobody named, if all rows have a time."""

    def find(batch: Batch) -> Tally:
        return layout.tally_times(*batch)

    found = yield rows.ask("Reading times", find, [layout.roles["time"]])
    return layout.judge_times(found)


def know_kept(rows: PreparedRows, layout: Layout) -> Task[Layout]:
    """Return the layout with the least probability of a row to be kept; all count the same if that is every row's."""

    def find(batch: Batch) -> "Spread":
        return Spread.of(layout.read_kept(batch.table, batch.row_numbers))

    found = yield rows.ask("Reading how rows were kept", find, [layout.roles["kept"]])
    others = {role: name for role, name in layout.roles.items() if role != "kept" or found.low < found.high}
    return replace(layout, roles=others, least_kept=found.low)


def count_loggers(rows: PreparedRows, layout: Layout) -> Task[dict[str, float]]:
    """Return how large a share of all rows each logger decided."""
    columns = [layout.roles[role] for role in ("logger", "kept") if role in layout.roles]

    def count(batch: Batch) -> "Counter[str]":
        labels = map(str, layout.read_labels(batch.table, "logger", batch.row_numbers).tolist())
        if "kept" not in layout.roles:
            return Counter(labels)
        known, places = np.unique(list(labels), return_inverse=True)
        decisions = np.bincount(places, 1 / layout.read_kept(batch.table, batch.row_numbers))
        return Counter(dict(zip(known.tolist(), decisions.tolist(), strict=True)))

    counts = yield rows.ask("Counting loggers", count, columns)
    return {label: number / counts.total() for label, number in counts.items()}


def list_read_columns(layout: Layout, table: pa.Table, named: Sequence[str]) -> list[str]:
    """Return every column that is read, in the order of the table."""
    wanted = {*layout.places(table), *roles.list_places(table, named)}
    return [place for place in table.column_names if place in wanted]


def count_sample(layout: Layout, table: pa.Table, width: int, targets: int) -> int:
    """Return how many rows a sample may have, fewer where a row holds very many numbers, `width` of them context."""
    plain: int = table.num_columns - len(layout.context) + width  # lists hold more numbers than one
    return max(256, min(SAMPLE, NUMBERS // (plain + 3 * len(layout.actions or ()) * (1 + targets))))
