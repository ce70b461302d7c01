"""LeaveOut: sums over what may be left out of a log as a whole, such as days or groups, and what is said without it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from counterfold.base.arrays import Floats, Ints, ratio
from counterfold.estimators.rows import Rows
from counterfold.evidence.figure_tables import TEN, Line, Shown
from counterfold.log.partition import ByNumber
from counterfold.report.html import formats
from counterfold.report.html.blocks import Table, Writer, tabulate
from counterfold.report.html.cases import Case

NOTHING_LEFT = 1e-9
"""What is left of all weight, if it is less than this share, is a rounding error."""

COLUMNS: dict[str, tuple[str, Writer]] = {
    "rows": ("Rows", formats.count),
    "weight_share": ("Share of all weight", formats.percent),
    "without": ("Value without it", formats.value),
    "difference": ("Difference to the log without it", formats.signed),
}


class Left(NamedTuple):
    """What SNIPS says without each key, and its difference to what the log earned; not a number if nothing is left."""

    values: Floats
    differences: Floats


@dataclass(frozen=True, eq=False)
class LeaveOut:
    r"""Sums of some rows by their `keys`; those of others can be added.

    `sums` (5 x keys) are those of rows, $c$, $c w$, $c w r$ and $c r$, where a row stands for c decisions. `moves` are
    the largest $c w |r - \hat V|$ of a row of each key, and `places` that row's number in the log. If there are more
    than `most` keys, those that are the same modulo `most` are one; so it is the same however rows are cut into parts.
    """

    keys: Ints
    sums: Floats
    moves: Floats
    places: Ints
    most: int | None = None
    is_exact: bool = True

    @classmethod
    def of(cls, rows: Rows, keys: Ints, most: int | None = None) -> "LeaveOut":
        """Return the sums of some rows by the key of each."""
        counts = np.ones(len(rows)) if rows.counts is None else rows.counts
        masses = rows.masses
        rewards = rows.rewards
        sums = np.stack([np.ones(len(rows)), counts, masses, masses * rewards, counts * rewards])
        moves = masses * np.abs(rewards - rows.weighted_reward)
        return cls(keys=keys, sums=sums, moves=moves, places=rows.row_numbers, most=most).add_up()

    def __add__(self, other: "LeaveOut") -> "LeaveOut":
        first, second = self, other
        if self.is_exact != other.is_exact:
            first, second = self.shorten(), other.shorten()
        joined = replace(
            first,
            keys=np.concatenate([first.keys, second.keys]),
            sums=np.concatenate([first.sums, second.sums], axis=1),
            moves=np.concatenate([first.moves, second.moves]),
            places=np.concatenate([first.places, second.places]),
        )
        return joined.add_up()

    def add_up(self) -> "LeaveOut":
        """Return the sums over equal keys, and of fewer keys if there are too many."""
        keys, place = np.unique(self.keys, return_inverse=True)
        moves = np.zeros(len(keys))
        places = np.full(len(keys), np.iinfo(np.intp).max)
        np.maximum.at(moves, place, self.moves)
        largest = np.flatnonzero(self.moves == moves[place])
        np.minimum.at(places, place[largest], self.places[largest])
        sums = ByNumber(place, len(keys)).sums(self.sums)
        added = replace(self, keys=keys, sums=sums, moves=moves, places=places)
        is_too_long = self.most is not None and len(keys) > self.most
        return added.shorten() if self.is_exact and is_too_long else added

    def shorten(self) -> "LeaveOut":
        """Return the sums over keys that are the same modulo `most`."""
        if not self.is_exact or self.most is None:
            return self
        return replace(self, keys=self.keys % self.most, is_exact=False).add_up()

    def show(self, names: Sequence[Line]) -> Shown | None:
        """Return what is said without each key, of those that change the difference most; `names` are of all keys.

        The facts have the lines without which the difference is `lowest` and `highest`, or those without which nothing
        is left. Nothing is shown of fewer than two keys, or where there is no weight.
        """
        total = self.sums.sum(axis=1, keepdims=True)
        left = self.find_left()
        if len(self.keys) < 2 or not total[2, 0] > 0:
            return None
        snips = float(total[3, 0] / total[2, 0])
        difference = snips - float(total[4, 0] / total[1, 0])
        far = np.abs(np.where(np.isnan(left.differences), np.inf, left.differences - difference))
        numbers = np.stack([self.sums[0], self.sums[2] / total[2], *left])

        def describe_key(place: int) -> Line:
            return {**names[place], **describe(*numbers[:, place].tolist())}

        facts = {
            "snips": snips,
            "difference": difference,
            "lowest": describe_key(int(left.differences.argmin())),
            "highest": describe_key(int(left.differences.argmax())),
            "count": len(self.keys),
            "is_exact": self.is_exact,
        }
        ranked = np.lexsort((self.places, -far))[:TEN].tolist()
        return Shown([describe_key(place) for place in ranked], facts)

    def find_left(self) -> Left:
        """Return what is said without each key."""
        total = self.sums.sum(axis=1, keepdims=True)
        _, decisions, weight, earned, logged = total - self.sums
        is_left = weight > NOTHING_LEFT * total[2]
        values = np.where(is_left, ratio(earned, np.where(is_left, weight, 0.0)), np.nan)
        return Left(values, values - ratio(logged, decisions))


def describe(rows: float, share: float, without: float, difference: float) -> Line:
    """Return the numbers of a line; nothing where no weight is left."""
    return {
        "rows": int(rows),
        "weight_share": share,
        "without": None if math.isnan(without) else without,
        "difference": None if math.isnan(difference) else difference,
    }


def list_parts(case: Case, name: str, title: str, columns: Mapping[str, tuple[str, Writer]]) -> Table | None:
    """Return the table of a figure of groups or days, where there is an answer."""
    shown = case.exhibits.get(name)
    if shown is None or case.shown_answer is None:
        return None
    return tabulate(title, shown.lines, {**columns, **COLUMNS}, case.shown_answer.error)
