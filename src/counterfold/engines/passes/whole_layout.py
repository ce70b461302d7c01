"""What only all rows of a large log tell of its layout: levels of text, fitted propensities, loggers, what was kept."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from counterfold.balance import choose_context
from counterfold.contents import Spread
from counterfold.encoding import ContextSummary
from counterfold.engines.passes.batches import Batch, BatchReader
from counterfold.engines.passes.sample import Sample
from counterfold.progress import Progress, show_progress
from counterfold.tables import roles
from counterfold.tables.layout import Layout

SAMPLE, NUMBERS = 1 << 16, 1 << 23
"""A sample has at most SAMPLE rows, and about NUMBERS numbers, but never fewer than 256 rows."""


def complete_layout(
    reader: BatchReader, layout: Layout, head: pa.Table, *, keep_all: bool, progress: Progress | bool
) -> Layout:
    """Return the layout with all that is known of the logging policy; `keep_all` says that all columns stay context."""
    if "kept" in layout.roles:
        layout = know_kept(reader, layout)
    if layout.fit is not None:
        layout = fit_propensities(reader, layout, head, keep_all=keep_all, progress=progress)
    if "logger" in layout.roles and layout.logger_weights == "balanced":
        layout = replace(layout, logger_shares=count_loggers(reader, layout))
    return layout


def encode_context(
    reader: BatchReader, layout: Layout, head: pa.Table, *, has_gaps: bool, progress: Progress | bool
) -> Layout:
    """Return the layout with how the context becomes numbers, by a pass over all rows unless there are plain numbers.

    Late rows may lack a number though the first ones do not; `has_gaps` says that this was found.
    """
    first = layout.summarise(head)
    if not first.columns or (first.is_plain and not has_gaps):
        return layout.learn(first)

    def summarise(batch: Batch) -> ContextSummary:
        return layout.summarise(*batch)

    with show_progress("Reading the context", progress=progress, unit="rows") as moved:
        return layout.learn(reader.total(summarise, list(first.columns), moved))


def fit_propensities(
    reader: BatchReader, layout: Layout, head: pa.Table, *, keep_all: bool, progress: Progress | bool
) -> Layout:
    """Return the layout with propensities that are fitted on a sample, and with the context that they depend on."""
    count, size = reader.count_rows(), count_sample(layout, head, layout.count_outputs(), 0)
    columns = list_read_columns(layout, head, ())
    with show_progress("Fitting propensities", progress=progress, unit="rows") as moved:
        sample = reader.total(partial(Sample.of, size=size, row_count=count), columns, moved)
    log, _ = choose_context(layout.log(*sample.batch), keep_all=keep_all)
    context = [name for name in layout.context if name not in log.left_out]
    return replace(layout, context=context, left_out=log.left_out, fit=log.fitted)


def know_kept(reader: BatchReader, layout: Layout) -> Layout:
    """Return the layout with the least probability of a row to be kept; all count the same if that is every row's."""

    def find(batch: Batch) -> "Spread":
        return Spread.of(layout.read_kept(batch.table, batch.row_numbers))

    found = reader.total(find, [layout.roles["kept"]], None)
    others = {role: name for role, name in layout.roles.items() if role != "kept" or found.low < found.high}
    return replace(layout, roles=others, least_kept=found.low)


def count_loggers(reader: BatchReader, layout: Layout) -> dict[str, float]:
    """Return how large a share of all rows each logger decided."""
    columns = [layout.roles[role] for role in ("logger", "kept") if role in layout.roles]

    def count(batch: Batch) -> "Counter[str]":
        labels = map(str, layout.read_labels(batch.table, "logger", batch.row_numbers).tolist())
        if "kept" not in layout.roles:
            return Counter(labels)
        known, places = np.unique(list(labels), return_inverse=True)
        decisions = np.bincount(places, 1 / layout.read_kept(batch.table, batch.row_numbers))
        return Counter(dict(zip(known.tolist(), decisions.tolist(), strict=True)))

    counts = reader.total(count, columns, None)
    return {label: number / counts.total() for label, number in counts.items()}


def list_read_columns(layout: Layout, table: pa.Table, named: Sequence[str]) -> list[str]:
    """Return every column that is read, in the order of the table."""
    wanted = {*layout.places(table), *roles.list_places(table, named)}
    return [place for place in table.column_names if place in wanted]


def count_sample(layout: Layout, table: pa.Table, width: int, targets: int) -> int:
    """Return how many rows a sample may have, fewer where a row holds very many numbers, `width` of them context."""
    plain: int = table.num_columns - len(layout.context) + width  # lists hold more numbers than one
    return max(256, min(SAMPLE, NUMBERS // (plain + 3 * len(layout.actions or ()) * (1 + targets))))
