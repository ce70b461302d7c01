"""Contexts: how many rows of a large log have the same one, and which of them are groups."""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from counterfold.base.validation import WHOLE
from counterfold.diagnostics.base import Least
from counterfold.engines.passes.batches import PreparedRows
from counterfold.engines.passes.sample import Sample
from counterfold.io.schema.batches import Batch, Task
from counterfold.io.schema.resolution import resolve_columns
from counterfold.io.schema.same_context import ContextGroups, count_few, find_common, hash_contexts
from counterfold.io.schema.schema import ContextColumns

SAMPLED, KEPT = 1 << 16, 1 << 13
"""So many rows tell which contexts are common, and so many contexts how many rows have the same one."""

SURE = 3
"""A context is common if so many standard errors more of its rows are in a sample than there would be of few."""


@dataclass(frozen=True, eq=False)
class ContextCounts:
    """The contexts of a sample of rows, and how many rows have each of some contexts; those of others can be added."""

    sample: Sample
    some: Least

    def __add__(self, other: "ContextCounts") -> "ContextCounts":
        return ContextCounts(self.sample + other.sample, self.some + other.some)

    def find_groups(self, context: tuple[str, ...], row_count: int) -> ContextGroups | None:
        """Return which rows are groups, if any are."""
        is_common = find_common(self.some.counts, row_count)
        if is_common.all():
            return None
        keys, counts = np.unique(self.sample.batch.table.column("context").to_numpy(), return_counts=True)
        share, few = int(counts.sum()) / row_count, count_few(row_count)
        often = keys[counts > share * few + SURE * math.sqrt(few * share * (1 - share))]
        return ContextGroups(context, np.union1d(often, self.some.numbers[is_common]))


def find_context_groups(rows: PreparedRows) -> Task[ContextGroups | None]:
    """Return which rows of a log have the same context, if nobody named groups, and few rows have the same one."""
    table = rows.first.table
    schema = resolve_columns(rows.scan, table)
    context = list_context(schema.context, table)
    if "group" in schema.columns or not context:
        return None

    def count(batch: Batch) -> ContextCounts:
        keys = hash_contexts(batch.table, context)
        hashed = Batch(pa.table({"context": keys}), batch.row_numbers)
        return ContextCounts(Sample.of(hashed, SAMPLED, rows.count), Least.of(keys, KEPT))

    found: ContextCounts = yield rows.ask("Comparing contexts", count, context)
    return found.find_groups(context, rows.count)


def list_context(context: ContextColumns, table: pa.Table) -> tuple[str, ...]:
    """Return the columns of the context, without those that the first rows show to be none, such as identifiers."""
    reasons = {} if context.is_named else context.summarise(table, WHOLE).explain()
    return tuple(name for name in context.names if name not in reasons)
