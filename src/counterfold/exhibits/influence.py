"""Influence: the rows that carry the answer, and what it would be without them."""

from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple

import numpy as np

from counterfold.base.arrays import Ints, bound_largest
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.exhibits.base import TEN, Answered, Exhibit, Shown


class Mover(NamedTuple):
    """A row that moves the answer by `move`, and what is known of it.

    `place` is its number in the log, below 0, so that of equal moves the first one is the largest.
    """

    move: float
    place: int
    action: str
    reward: float
    propensity: float
    weight: float


@dataclass(frozen=True, eq=False)
class Movers:
    """The rows that move the answer most, and sums over all rows, which two summaries of different rows add up to."""

    top: tuple[Mover, ...]
    apart: float
    weight: float
    earned: float

    def __add__(self, other: "Movers") -> "Movers":
        sums = self.apart + other.apart, self.weight + other.weight, self.earned + other.earned
        return Movers(tuple(nlargest(TEN, self.top + other.top)), *sums)


@dataclass(frozen=True)
class Influence(Exhibit):
    r"""The ten rows with the largest influence on SNIPS, $w_i |r_i - \hat V|$, where $\hat V$ is its value.

    So a row may be among them because it earned much, or because it earned nothing and counts for many. `share` is a
    row's share in the sum of these over all rows; `without` is what SNIPS says without that row and all above it. On a
    large log, $\hat V$ is that of a sample.
    """

    needs_answer = False

    def observe(self, rows: Rows) -> Movers:
        weights, rewards = rows.masses, rows.rewards
        moves = weights * np.abs(rewards - rows.weighted_reward)
        least = bound_largest(moves, TEN)
        large = np.flatnonzero((moves >= least) & (moves > 0))
        places = large[np.lexsort((rows.row_numbers[large], -moves[large]))][:TEN]
        labels = name_actions(rows, places)
        columns = moves, -rows.row_numbers, rewards, rows.propensity, weights
        several = zip(labels, *(one[places].tolist() for one in columns), strict=True)
        top = tuple(Mover(move, place, label, *numbers) for label, move, place, *numbers in several)
        return Movers(top, float(moves.sum()), float(weights.sum()), float(weights @ rewards))

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        found: Movers = evidence.observed[self.name]
        if not found.apart:
            return None
        lines = []
        weight, earned = found.weight, found.earned
        for one in found.top:
            weight, earned = weight - one.weight, earned - one.weight * one.reward
            lines.append(
                {
                    "row": -one.place,
                    "action": one.action,
                    "reward": one.reward,
                    "propensity": one.propensity,
                    "weight": one.weight,
                    "share": one.move / found.apart,
                    "without": earned / weight if weight > 1e-9 * found.weight else None,
                }
            )
        return Shown(
            lines, {"snips": found.earned / found.weight, "share": sum(one.move for one in found.top) / found.apart}
        )


def name_actions(rows: Rows, places: Ints) -> list[str]:
    """Return what some rows did: the labels of their actions, or their doses."""
    if rows.kind == "doses":
        return [f"{dose:.4g}" for dose in rows.dose[places].tolist()]
    return [str(rows.labels[code]) for code in rows.actions[places].tolist()]
