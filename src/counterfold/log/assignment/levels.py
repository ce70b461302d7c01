"""Encoded columns that are no context: texts whose values tell the reward or name the action, telling gaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log
from typing import NamedTuple, Self

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.base.hashing import hash_labels
from counterfold.base.messages import list_some
from counterfold.log.assignment.columns import AFTER, COINCIDENCE, COPY, FEW, NOISE, TELLS, TELLS_ONE_OF_TWO, Reason
from counterfold.log.encoding.levels import ABSENT, RARE
from counterfold.log.log import Log


class Coded(NamedTuple):
    """A column that was encoded: its name, the places of its columns of 0 and 1, and what these tell apart."""

    source: str
    places: Ints
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class LevelSums:
    """Sums over rows for each value of each encoded column, one after the other; two such can be added.

    `sums` (4 x L) are the number of rows, the sum of rewards and of their squares, centred, and the number of rewards
    that are 0. `low` and `high` are the least and the largest hash of an action that was taken there.
    """

    sums: Floats
    low: Ints
    high: Ints

    def __add__(self, other: "LevelSums") -> "LevelSums":
        return LevelSums(self.sums + other.sums, np.minimum(self.low, other.low), np.maximum(self.high, other.high))


@dataclass(frozen=True, eq=False)
class LevelTest:
    """Finds encoded columns that are no context; the first rows of a log tell how to centre rewards."""

    columns: Sequence[Coded]
    centre: float
    has_actions: bool

    @classmethod
    def of(cls, first: Log, rows: int) -> Self:
        """Return the test for a log with such first rows."""
        sources, found = np.array(first.context_sources, dtype=object), []
        for name, one in first.encodings.items():
            places = np.flatnonzero(sources == name)
            if len(one.labels) > 1 and len(places):
                found.append(Coded(name, places[1 - len(one.labels) :], one.labels))
        return cls(found, float(first.reward[:rows].mean()), bool(first.actions))

    def sum_rows(self, log: Log, place: Ints | slice) -> LevelSums:
        """Return the sums of some rows of a log."""
        rewards = log.reward[place]
        apart, zeros = rewards - self.centre, rewards == 0
        hashes = hash_labels(np.array([str(one) for one in log.actions] or [""]))[log.action[place]]
        context = log.context[place] if self.columns else log.context[:0]
        several = [self._sum_column(context, one, (apart, zeros, hashes)) for one in self.columns]
        empty = LevelSums(np.empty((4, 0)), np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
        parts = [empty, *several]
        sums = np.concatenate([one.sums for one in parts], axis=1)
        return LevelSums(sums, np.concatenate([one.low for one in parts]), np.concatenate([one.high for one in parts]))

    def _sum_column(self, context: Floats, column: Coded, known: tuple[Floats, Floats, Ints]) -> LevelSums:
        (apart, zeros, hashes), number = known, len(column.labels)
        codes = (context[:, column.places] @ np.arange(1, number)).astype(np.intp)
        counted = [np.bincount(codes, what, number) for what in (np.ones(len(codes)), apart, apart**2, zeros)]
        ends = np.iinfo(np.intp)
        low, high = np.full(number, ends.max), np.full(number, ends.min)
        np.minimum.at(low, codes, hashes)
        np.maximum.at(high, codes, hashes)
        return LevelSums(np.stack(counted), low, high)

    def explain(self, sums: LevelSums, *, has_two_rewards: bool) -> dict[str, Reason]:
        """Return why some encoded columns are no context, by the column's name."""
        reasons, start = {}, 0
        for one in self.columns:
            some = slice(start, start + len(one.labels))
            mine = LevelSums(sums.sums[:, some], sums.low[some], sums.high[some])
            start = some.stop
            reason = self._explain_column(one, mine, TELLS_ONE_OF_TWO if has_two_rewards else TELLS)
            if reason is not None:
                reasons[one.source] = reason
        return reasons

    def _explain_column(self, column: Coded, sums: LevelSums, enough: float) -> Reason | None:
        rows = sums.sums[0].sum()
        if rows < FEW:
            return None
        if self.has_actions and names_actions(column.labels, sums):
            return Reason(
                "it names the action: each of its values goes with another one", is_outcome=True, is_copy=True
            )
        size = correlate(sums.sums)
        if size > COPY:
            return Reason(
                "it is a copy of the reward: all rewards of a value are the same", is_outcome=True, is_copy=True
            )
        alive = find_rewarded(sums.sums)
        if alive is not None:
            values = list_some([column.labels[place] for place in alive])
            return Reason(f"there is no reward unless it is {values}, {AFTER}", is_outcome=True)
        if size >= enough and size * np.sqrt(rows) >= NOISE:
            return Reason(f"it tells much of the reward (correlation {size:.2f}), {AFTER}", is_outcome=True)
        return None


def names_actions(labels: Sequence[str], sums: LevelSums) -> bool:
    """Say whether each value, but rare ones together and gaps, goes with an action of its own."""
    kept = [place for place, label in enumerate(labels) if label not in {RARE, ABSENT} and sums.sums[0, place]]
    taken = sums.low[kept]
    is_single = bool((taken == sums.high[kept]).all())
    return len(kept) > 1 and is_single and len(np.unique(taken)) == len(kept)


def correlate(sums: Floats) -> float:
    r"""Return the correlation of rewards with the means of their values, less what as many random values would have.

    $$\sqrt{1 - (1 - \eta^2) \frac{n - 1}{n - k}}, \quad \eta^2 = \frac{\sum_l n_l (\bar r_l - \bar r)^2}{\sum_i (r_i -
    \bar r)^2}$$
    """
    count, total, squares, _ = sums[:, sums[0] > 0]
    rows, number = count.sum(), len(count)
    whole = squares.sum() - total.sum() ** 2 / rows
    if whole <= 0 or rows <= number:
        return 0.0
    within = squares.sum() - (total**2 / count).sum()
    return float(np.sqrt(max(0.0, 1 - max(within, 0.0) / whole * (rows - 1) / (rows - number))))


def find_rewarded(sums: Floats) -> Ints | None:
    """Return the values that have all rewards that are not 0, if that is so by structure and not by coincidence.

    As for a number that is 0 (`ColumnSums.explain_rewards`), the others hold most rows or all that have no reward; that
    any so many values hold none counts as often as these can be chosen.
    """
    count, zeros = sums[0], sums[3]
    dead = zeros == count
    rows, mine, rewarded = count.sum(), count[dead].sum(), (count - zeros).sum()
    if not mine or mine == rows or not (mine > rows / 2 or mine == zeros.sum()):
        return None
    ways = comb(int((count > 0).sum()), int((dead & (count > 0)).sum()))
    chance = rewarded * log((rows - mine) / rows) + log(ways)
    return np.flatnonzero(~dead) if chance < log(COINCIDENCE) else None
