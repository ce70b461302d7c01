"""SkewedColumns: which columns of the context are skewed, and by which normal scores reward models see them.

A few extreme values of such a column decide the slope of a linear model, and its predictions are far off where the
column is large. Normal scores of the ranks keep the order of the values and have no tail.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple, Self

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.base.hashing import sample_least
from counterfold.base.validation import FIRST

LEAST_SKEWNESS = 1.0
"""A column is skewed if its skewness is larger than this in size."""

FEW_VALUES = 20
"""A column with no more different values than this is left as it is: it marks kinds, or counts very little."""

MOST_RANKED = 1 << 14
"""At most so many rows, a random sample, tell the ranks of a column's values."""

MOST_KNOTS = 1 << 10
"""Between at most so many values of a column, normal scores are interpolated."""


class Knots(NamedTuple):
    """Values of a column in ascending order, and the normal score of each."""

    values: Floats
    scores: Floats

    @classmethod
    def of(cls, column: Floats) -> Self:
        r"""Return the scores of a column's values, by the mean rank of equal ones, $\Phi^{-1}((\bar k - 1/2) / n)$.

        >>> Knots.of(np.array([1.0, 100.0, 1.0, 10.0])).scores.round(2)
        array([-0.67,  0.32,  1.15])
        """
        values, counts = np.unique(column, return_counts=True)
        below = np.cumsum(counts) - counts
        shares = (below + counts / 2) / len(column)
        if len(values) > MOST_KNOTS:
            kept = np.round(np.linspace(0, len(values) - 1, MOST_KNOTS)).astype(np.intp)
            values = values[kept]
            shares = shares[kept]
        normal = NormalDist()
        return cls(values, np.array([normal.inv_cdf(share) for share in shares.tolist()]))

    def score(self, column: Floats) -> Floats:
        """Return the normal score of every value; that of the nearest knot outside of all knots."""
        return np.asarray(np.interp(column, self.values, self.scores))


@dataclass(frozen=True, eq=False)
class SkewedColumns:
    """The names of the columns that are skewed, and the knots of each.

    >>> column = np.exp(np.linspace(-3.0, 3.0, 61))[:, None]
    >>> skewed = SkewedColumns.of(column, ("income",), np.arange(61))
    >>> skewed.apply(column, ("income",))[[0, 30, 60]].round(2).tolist()
    [[-2.4], [0.0], [2.4]]
    """

    names: tuple[str, ...] = ()
    knots: tuple[Knots, ...] = ()

    @classmethod
    def of(cls, context: Floats, names: Sequence[str], row_numbers: Ints) -> Self:
        """Return the skewed columns of all rows of a log: its first rows tell which, and a sample tells the ranks."""
        skewed = find_skewed(context[:FIRST])
        ranked = context
        if len(skewed) and len(context) > MOST_RANKED:
            ranked = context[sample_least(row_numbers, MOST_RANKED)]
        return cls.rank(ranked, names, skewed)

    @classmethod
    def rank(cls, context: Floats, names: Sequence[str], places: Ints) -> Self:
        """Return some columns, of which these rows tell the ranks."""
        knots = tuple(Knots.of(context[:, place]) for place in places.tolist())
        return cls(tuple(names[place] for place in places.tolist()), knots)

    def apply(self, context: Floats, names: Sequence[str]) -> Floats | None:
        """Return the context with normal scores in place of skewed columns; nothing where it has none of them."""
        knots = dict(zip(self.names, self.knots, strict=True))
        places = [place for place, name in enumerate(names) if name in knots]
        if not places:
            return None
        scored = context.copy()
        for place in places:
            scored[:, place] = knots[names[place]].score(context[:, place])
        return scored


def find_skewed(context: Floats) -> Ints:
    """Return the places of the columns that are skewed.

    >>> find_skewed(np.column_stack([np.arange(40.0), np.exp(np.arange(40.0) / 8), np.arange(40) > 37]))
    array([1])
    """
    if not context.size:
        return np.empty(0, dtype=np.intp)
    if not np.isfinite(context).all():  # which is refused, with the column's name, when the log is checked
        return np.empty(0, dtype=np.intp)
    largest = np.abs(context).max(axis=0)
    apart = context / np.where(largest > 0, largest, 1.0)  # so that no third power overflows
    apart -= apart.mean(axis=0)
    squares = np.square(apart)
    variance = squares.mean(axis=0)
    cubes = np.einsum("ij,ij->j", squares, apart) / len(apart)
    spread = np.power(variance, 1.5)
    skewness = np.divide(cubes, spread, out=np.zeros(len(spread)), where=variance > 1e-20)
    places = np.flatnonzero(np.abs(skewness) > LEAST_SKEWNESS)
    return np.array([place for place in places.tolist() if has_many_values(context[:, place])], dtype=np.intp)


def has_many_values(column: Floats) -> bool:
    """Say whether a column has more than `FEW_VALUES` different values."""
    if ((column == column.min()) | (column == column.max())).all():  # as most skewed columns: they mark a kind
        return False
    return len(np.unique(column)) > FEW_VALUES
