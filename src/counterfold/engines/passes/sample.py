"""Sample: some rows of a large log that stand for all of them, the same however the log is cut into batches."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Ints
from counterfold.base.cached import cached_property
from counterfold.base.hashing import sample_least
from counterfold.io.schema.batches import Batch

SPARE = 2
"""A sample is cut to its size when it holds more than SPARE times as many rows."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows whose numbers have the least hashes, at least `size` of them; those of other rows can be added."""

    table: pa.Table
    row_numbers: Ints
    size: int

    @classmethod
    def of(cls, batch: Batch, size: int, row_count: int | None) -> Self:
        """Return the rows of a batch that may be in the sample of a log with so many rows, if that is known."""
        share = SPARE * size / row_count if row_count else 1.0
        kept = sample_least(batch.row_numbers, size, share)
        return cls(batch.table.take(kept), batch.row_numbers[kept], size)

    def __add__(self, other: "Sample") -> "Sample":
        row_numbers = np.concatenate([self.row_numbers, other.row_numbers])
        table = pa.concat_tables([self.table, other.table])
        if len(row_numbers) > SPARE * self.size:
            kept = sample_least(row_numbers, self.size)
            row_numbers, table = row_numbers[kept], table.take(kept)
        return Sample(table, row_numbers, self.size)

    @cached_property
    def batch(self) -> Batch:
        """Return the sample in the order of the log."""
        kept = sample_least(self.row_numbers, self.size)
        return Batch(self.table.take(kept).combine_chunks(), self.row_numbers[kept])
