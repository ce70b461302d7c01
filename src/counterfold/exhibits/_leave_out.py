"""LeaveOut: sums over what may be left out of a log as a whole, such as days or groups, and what is said without it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from counterfold.base.arrays import Floats, Ints, ratio
from counterfold.estimators.rows import Rows
from counterfold.exhibits.base import TEN, Line, Shown
from counterfold.log.partition import ByNumber

NOTHING = 1e-9
"""What is left of all weight, if it is less than this share, is a rounding error."""


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
        masses, rewards = rows.masses, rows.rewards
        lines = np.stack([np.ones(len(rows)), counts, masses, masses * rewards, counts * rewards])
        moves = masses * np.abs(rewards - rows.weighted_reward)
        return cls(keys, lines, moves, rows.row_numbers, most).add_up()

    def __add__(self, other: "LeaveOut") -> "LeaveOut":
        both = (self, other) if self.is_exact == other.is_exact else (self.shorten(), other.shorten())
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(one, name) for one in both], axis=-1) for name in FIELDS
        }
        return replace(both[0], **joined).add_up()

    def add_up(self) -> "LeaveOut":
        """Return the sums over equal keys, and of fewer keys if there are too many."""
        keys, place = np.unique(self.keys, return_inverse=True)
        moves, places = np.zeros(len(keys)), np.full(len(keys), np.iinfo(np.intp).max)
        np.maximum.at(moves, place, self.moves)
        largest = np.flatnonzero(self.moves == moves[place])
        np.minimum.at(places, place[largest], self.places[largest])
        found = replace(self, keys=keys, sums=ByNumber(place, len(keys)).sums(self.sums), moves=moves, places=places)
        return found.shorten() if self.is_exact and self.most is not None and len(keys) > self.most else found

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
        total, left = self.sums.sum(axis=1, keepdims=True), self.find_left()
        if len(self.keys) < 2 or not total[2, 0] > 0:
            return None
        snips = float(total[3, 0] / total[2, 0])
        difference = snips - float(total[4, 0] / total[1, 0])
        far = np.abs(np.where(np.isnan(left.differences), np.inf, left.differences - difference))
        numbers = np.stack([self.sums[0], self.sums[2] / total[2], *left])
        ranked, ends = np.lexsort((self.places, -far))[:TEN], (left.differences.argmin(), left.differences.argmax())
        lines = [{**names[place], **describe(*numbers[:, place].tolist())} for place in (*ranked, *ends)]
        facts = {"snips": snips, "difference": difference, "lowest": lines[-2], "highest": lines[-1]}
        return Shown(lines[:-2], {**facts, "count": len(self.keys), "is_exact": self.is_exact})

    def find_left(self) -> Left:
        """Return what is said without each key."""
        total = self.sums.sum(axis=1, keepdims=True)
        _, decisions, weight, earned, logged = total - self.sums
        is_left = weight > NOTHING * total[2]
        values = np.where(is_left, ratio(earned, np.where(is_left, weight, 0.0)), np.nan)
        return Left(values, values - ratio(logged, decisions))


def describe(rows: float, share: float, without: float, difference: float) -> Line:
    """Return the numbers of a line; nothing where no weight is left."""
    values = {"without": without, "difference": difference}
    known = {name: None if math.isnan(one) else one for name, one in values.items()}
    return {"rows": int(rows), "weight_share": share, **known}


FIELDS = ("keys", "sums", "moves", "places")
"""What there is for each key."""
