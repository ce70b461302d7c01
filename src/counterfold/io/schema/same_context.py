"""ContextGroups: the rows of one context as a column of groups, for a log in which nobody named any."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Bools, Ints
from counterfold.base.hashing import hash_numbers, hash_rows
from counterfold.io.schema import columns
from counterfold.io.schema.batches import Batch

COLUMN = "rows of one context"
"""What the column is called that says which rows have the same context."""

FEW, SHARE = 16, 0.05
"""A context is common if more than FEW rows have it, or more than this share of the log: it says nothing of a row."""

WHOLE = 10
"""How many bits of a hash are left out, so that it is a whole number also where Spark makes it a double."""


def count_few(rows: int) -> float:
    """Return how many rows of a log may have one context, if they are to be a group."""
    return min(FEW, SHARE * rows)


def find_common(counts: Ints, rows: int) -> Bools:
    """Return which contexts are common, from how many rows of the log have each of all contexts, or of some.

    All are, so that there are no groups, if contexts never come back, or if most rows have a common one: then those of
    few rows are few by chance. A context that a large share of the rows has, such as an unknown one, tells nothing of
    the others.

    >>> find_common(np.array([1, 2, 300]), 303), find_common(np.array([15, 18, 20]), 400)
    (array([False, False,  True]), array([ True,  True,  True]))
    """
    is_common = counts > count_few(rows)
    is_coarse = counts[is_common & (counts <= SHARE * rows)].sum() > counts[~is_common].sum()
    has_groups = bool((counts[~is_common] > 1).any()) and not is_coarse
    return is_common if has_groups else np.ones_like(is_common)


@dataclass(frozen=True, eq=False)
class ContextGroups:
    """Which rows are a group: those with the same values in the columns of the `context`, wherever they are read.

    Rows of `common` contexts, whose hashes are these in ascending order, are groups of their own.
    """

    context: tuple[str, ...]
    common: Ints

    def append_to(self, batch: Batch) -> Batch:
        """Return some rows with a column that holds the number of each row's group."""
        table, row_numbers = batch
        keys = hash_contexts(table, self.context)
        own = hash_numbers(row_numbers + (1 << 43))  # another hash than those of folds, samples, thinning and drawing
        groups = np.where(np.isin(keys, self.common), own, keys) >> WHOLE
        return Batch(table.append_column(COLUMN, pa.array(groups.astype(np.float64))), row_numbers)

    @property
    def note(self) -> tuple[str, str]:
        """Return what an answer must say of these groups."""
        done = "rows of one context count as one observation, and are learnt from together or not at all"
        return done, REMEDY


REMEDY = "nothing, or remove copies of decisions, or name the column of the user or session as `group`"
"""What may be done about rows that have the same context."""


def hash_contexts(table: pa.Table, names: Sequence[str]) -> Ints:
    """Return a hash of some columns of each row.

    >>> hash_contexts(pa.table({"age": [31, 42, 31], "city": ["Rome", "Rome", "Rome"]}), ["age", "city"]) % 97
    array([13, 17, 13])
    """
    hashes: list[Ints] = []
    for name in names:
        if pa.types.is_nested(table.column(name).type):
            elements = columns.read_features(table, [name])
            hashes.append(hash_rows([elements.column(one).to_numpy() for one in elements.column_names]))
        else:
            hashes.append(columns.hash_values(table, name))
    return hash_rows(hashes)
