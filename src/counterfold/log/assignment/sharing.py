"""Whether rows with the same value of a column were decided together, as where whole schools are assigned."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from scipy.special import chdtrc

from counterfold.base.arrays import Floats, Ints
from counterfold.log.log import Log

BUCKETS = 1 << 10
"""The number of buckets into which values are hashed; rows without a value are in none."""

SURPRISING = 0.001
"""Below this p-value, times the number of columns, rows with the same value were decided together."""

TOGETHER = 0.5
"""From this correlation of the decisions of two rows on, one decision was made for all rows with the same value.

Where propensities are wrong for some values of a column, decisions go together, too, but hardly so much.
"""


class Sharing(NamedTuple):
    """How far rows with the same value were decided together.

    `size` is the design effect of the decisions, `correlation` that of two rows with the same value.
    """

    size: float
    correlation: float
    p: float

    @property
    def is_whole(self) -> bool:
        """Say whether one decision was made for all rows with the same value."""
        return self.p < SURPRISING and self.correlation >= TOGETHER


@dataclass(frozen=True, eq=False)
class SharingSums:
    """Sums over the values of each column in buckets (columns x 3 x buckets); those of other rows can be added.

    These are the numbers of rows, and the sums of the residuals of decisions and of their squares.
    """

    sums: Floats

    def __add__(self, other: "SharingSums") -> "SharingSums":
        return SharingSums(self.sums + other.sums)


@dataclass(frozen=True, eq=False)
class SharingTest:
    r"""Tests whether the residuals of decisions are independent within the values of a column.

    For a set $H$ of actions that the log takes about half of the time, $e_i = 1[a_i \in H] - p_0(H \mid x_i)$ has the
    mean 0 whatever was known before the decision. So a column may say much about rewards, and residuals of rows with
    the same value are independent still, unless these rows were decided together. With propensities alone,
    $e_i = 1[a_i = a] / p_i - 1$ for the most frequent action.

    `labels` are those of the actions in the set: numbers of actions are those of a batch.
    """

    names: tuple[str, ...]
    labels: frozenset[str]

    @classmethod
    def of(cls, first: Log, rows: int, *, is_tested: bool) -> Self:
        """Return the test for a log that begins with these rows; it tests nothing where rows belong to groups."""
        if not is_tested or first.group is not None or not first.identifiers:
            return cls((), frozenset())
        counts = np.bincount(first.action[:rows], minlength=len(first.actions)).astype(np.float64)
        is_inside = np.zeros(len(counts))
        order = np.argsort(-counts, kind="stable")
        if first.drawn_probs is None:
            is_inside[order[0]] = 1.0
        else:
            shares = np.cumsum(counts[order]) / max(1.0, counts.sum())
            is_inside[order[: 1 + np.searchsorted(shares, 0.5)]] = 1.0
            if is_inside.all():
                is_inside[order[-1]] = 0.0
        several = zip(first.actions, is_inside.tolist(), strict=True)
        return cls(tuple(first.identifiers), frozenset(str(label) for label, inside in several if inside))

    def sum_rows(self, log: Log, place: Ints | slice, probs: Floats) -> SharingSums | None:
        """Return the sums of some rows, given the probabilities of all actions if they are known."""
        if not self.names:
            return None
        is_inside = np.array([str(label) in self.labels for label in log.actions], dtype=np.float64)
        taken = is_inside[log.action[place]]
        residuals = taken - probs @ is_inside if probs.size else taken / log.propensity[place] - 1
        lines = (np.ones(len(residuals)), residuals, residuals**2)
        several = []
        for name in self.names:
            values = log.identifiers[name][place]
            bucket = np.where(values < 0, BUCKETS, values % BUCKETS)
            several.append(np.stack([np.bincount(bucket, line, BUCKETS + 1)[:-1] for line in lines]))
        return SharingSums(np.stack(several))

    def test(self, sums: SharingSums | None) -> dict[str, Sharing]:
        """Return how far rows were decided together, by each column."""
        if sums is None:
            return {}
        found = {}
        for name, (rows, totals, squares) in zip(self.names, sums.sums, strict=True):
            found[name] = measure_sharing(rows, totals, squares, columns=len(self.names))
        return found


def measure_sharing(rows: Floats, totals: Floats, squares: Floats, columns: int) -> Sharing:
    """Return how far residuals in buckets go together; the p-value is multiplied by the number of columns.

    If they are independent, a bucket's squared sum is its sum of squares times a chi-square of one degree of freedom.
    The p-value is that of the chi-square that varies as much as the sum of these (Satterthwaite).
    """
    every = float(squares.sum())
    number = float(rows.sum())
    if every <= 0 or number <= 0:
        return Sharing(size=1.0, correlation=0.0, p=1.0)
    size = float((totals**2).sum()) / every
    freedom = 1 / float(((squares / every) ** 2).sum())
    # Rows of different values share a bucket, too: n² / B pairs of them, which have nothing to do with each other.
    pairs = float((rows**2).sum()) - number - number**2 / BUCKETS
    correlation = (size - 1) * number / max(pairs, number * 0.01)
    p = float(chdtrc(freedom, freedom * size))
    return Sharing(size=size, correlation=correlation, p=min(1.0, columns * p))


def find_whole(sharing: Mapping[str, Sharing]) -> float:
    """Return the design effect of decisions that were made for several rows at once; 1 where each row had its own."""
    return max((one.size for one in sharing.values() if one.is_whole), default=1.0)
