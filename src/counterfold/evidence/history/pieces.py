"""Pieces: sums over units of rows in each hour or day, by which the values of two targets over time are paired."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.base.hashing import assign_folds
from counterfold.log.partition import ByNumber

PIECES = 32
"""Into so many pieces the rows of an hour or a day fall, by the hashes of their groups or of their own numbers."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Sums of 1, a and b (`Terms`), over the decisions that rows stand for, in pieces of hours or days.

    `numbers` are those of the hour or day since 1970, times `PIECES`, and of the piece. Rows of one group are in the
    same piece of each period, and so is a row for every target. Sums of other rows can be added.
    """

    numbers: Ints
    sums: Floats

    @classmethod
    def of(cls, times: Ints, units: Ints, lines: Floats) -> "Pieces":
        """Return the sums of some rows, by the number of their hour and of their unit."""
        return cls(times * PIECES + assign_folds(units, PIECES), lines).add_up()

    def __add__(self, other: "Pieces") -> "Pieces":
        numbers = np.concatenate([self.numbers, other.numbers])
        return Pieces(numbers, np.concatenate([self.sums, other.sums], axis=1)).add_up()

    def add_up(self) -> "Pieces":
        """Return the sums over what has the same number."""
        known, place = np.unique(self.numbers, return_inverse=True)
        return Pieces(known, ByNumber(place, len(known)).sums(self.sums))

    @property
    def by_day(self) -> "Pieces":
        """Return the sums by day of those by hour."""
        hours, pieces = np.divmod(self.numbers, PIECES)
        return Pieces(hours // 24 * PIECES + pieces, self.sums).add_up()

    @property
    def totals(self) -> Floats:
        r"""Return the sums of contributions to $V = \sum a / \sum b$, linearised: $V + (a - V b) / \bar b$."""
        decisions, a, b = self.sums
        value, size = a.sum() / b.sum(), b.sum() / decisions.sum()
        return np.asarray(value * decisions + (a - value * b) / size)


def pair_periods(one: Pieces, other: Pieces, periods: Ints) -> tuple[Floats, Floats]:
    r"""Return the difference of two targets in each period, and its variance; `periods` are those of all pieces.

    $$\hat d_t = \frac{\sum_u g_{tu}}{n_t}, \qquad
      \hat\sigma_t^2 = \frac{m_t}{m_t - 1} \sum_u \Big(\frac{g_{tu} - \hat d_t n_{tu}}{n_t}\Big)^2$$

    where $g_{tu}$ and $n_{tu}$ are sums over the $m_t$ pieces of a period, of the differences of contributions and of
    decisions; or the variance of as many decisions of the whole log, if that is larger.
    """
    count, pieces = int(periods.max()) + 1, one.numbers % PIECES
    cells, total = periods * PIECES + pieces, np.bincount(periods, one.sums[0])
    gaps, sizes = (
        np.bincount(cells, each, count * PIECES).reshape(count, PIECES)
        for each in (one.totals - other.totals, one.sums[0])
    )
    values = gaps.sum(axis=1) / total
    several = (sizes > 0).sum(axis=1)
    squares = several / np.maximum(several - 1, 1) * np.square(gaps - values[:, None] * sizes).sum(axis=1)
    return values, np.maximum(squares / total**2, squares.sum() / total.sum() / total)
