"""Cuts: how columns become segments of the rows, such as one for each device, or five for an age."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Floats, Ints
from counterfold.base.validation import freeze
from counterfold.log.segments.by import MOST
from counterfold.log.segments.columns import list_values, read_numbers

OTHER, MISSING = "(other)", "(missing)"
"""What values are called that are too many, and rows that have none."""


@dataclass(frozen=True, eq=False)
class Cut:
    """How a column is cut: at `edges`, or by its values, of which `merged` are in one segment together."""

    column: str
    labels: tuple[str, ...]
    edges: Floats | None
    merged: int = 0

    def encode(self, column: pa.ChunkedArray) -> Ints:
        """Return the segment of each row."""
        places = {label: place for place, label in enumerate(self.labels)}
        missing, other = places.get(MISSING, 0), places.get(OTHER, 0)
        if self.edges is not None:
            numbers = read_numbers(column)
            return np.where(np.isnan(numbers), missing, np.searchsorted(self.edges, numbers))
        found = [np.empty(0, dtype=np.intp)]
        for values, codes in list_values(column):
            known = [missing if one is None else places.get(one, other) for one in values]
            found.append(np.array([*known, missing], dtype=np.intp)[codes])
        return np.concatenate(found)

    @property
    def note(self) -> str | None:
        """Say what was put together, if anything was."""
        if not self.merged:
            return None
        return f"`{self.column}` has {MOST + self.merged} values; the {MOST} largest are segments, all others are one"


def find_edges(numbers: Floats, parts: int) -> Floats:
    """Return where numbers are cut into parts of equally many rows, or fewer parts where many are equal.

    >>> find_edges(np.arange(10.0), 5)
    array([1., 3., 5., 7.])
    """
    shares = np.arange(1, parts) / parts
    edges = np.unique(np.quantile(numbers, shares, method="inverted_cdf"))
    return freeze(edges[edges < numbers.max()])


def name_parts(edges: Floats) -> tuple[str, ...]:
    """Return what the parts between edges are called, by as many digits as tell them apart.

    >>> name_parts(np.array([30.0, 45.5]))
    ('up to 30', '30 to 45.5', 'above 45.5')
    """
    if not len(edges):
        return ("all",)
    texts = next(
        found
        for digits in range(4, 18)
        if len(set(found := [f"{one:.{digits}g}" for one in edges.tolist()])) == len(edges)
    )
    between = (f"{low} to {high}" for low, high in pairwise(texts))
    return (f"up to {texts[0]}", *between, f"above {texts[-1]}")
