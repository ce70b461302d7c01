"""Unseen: how far rewards that happen not to be in a log may move a value."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

Limits = tuple[float, float]
"""The least and the largest possible reward."""


class Chance(NamedTuple):
    """Rows that are worth `effective` rows, and how far a value would move if all rewards of theirs were others."""

    effective: float
    below: float
    above: float


@dataclass(frozen=True)
class Unseen:
    r"""What keeps an interval from being narrower, or wider, than the log's own rewards allow.

    A log that is worth m effective rows for a target has missed what makes up $1 - (\alpha / 2)^{1 / m}$ of the
    target's rows with a chance of $\alpha / 2$. So the interval reaches at least that share of the way `below` and
    `above` of each of the `chances`; for rewards of 0 and 1 this is the rule of three. `limits` are the least and the
    largest possible value, and `slope`, if known, is by how much the variance of a mean of m rewards grows with it.
    `beyond` is how much lower and higher the value itself may be than anything that was logged can tell.

    >>> clicks = Unseen((Chance(300.0, below=0.0, above=1.0),), limits=(0.0, 1.0))
    >>> low, high = clicks.widen(0.0, 0.0, value=0.0, level=0.95)
    >>> low, round(high, 4)
    (0.0, 0.0122)
    """

    chances: tuple[Chance, ...] = ()
    limits: Limits = (-math.inf, math.inf)
    slope: float | None = None
    beyond: Limits = (0.0, 0.0)

    def widen(self, low: float, high: float, value: float, level: float) -> tuple[float, float]:
        """Return the ends of an interval that reaches as far as it must, not beyond the limits, and holds the value."""
        for effective, below, above in self.chances:
            missed = 1.0 if effective == 0 else -math.expm1(math.log((1 - level) / 2) / effective)
            low, high = min(low, value - missed * below), max(high, value + missed * above)
        (least, most), (lower, higher) = self.limits, self.beyond
        return min(max(low - lower, least), value), max(min(high + higher, most), value)

    def forget(self) -> "Unseen":
        """Return what would hold if no reward were missed."""
        return replace(self, chances=())

    def times(self, factor: float) -> "Unseen":
        """Return what holds for a multiple of the value."""
        if factor == 0:
            return Unseen(limits=(0.0, 0.0))
        size, turn = abs(factor), 1 if factor > 0 else -1
        chances = (
            Chance(one.effective, *(size * way for way in (one.below, one.above)[::turn])) for one in self.chances
        )
        least, most = (factor * end for end in self.limits[::turn])
        lower, higher = (size * way for way in self.beyond[::turn])
        slope = None if self.slope is None else factor * self.slope
        return Unseen(tuple(chances), (least, most), slope, (lower, higher))

    def between(self, other: "Unseen", gained: float, lost: float) -> "Unseen":
        """Return what holds for the difference of two values.

        A row has the share `gained` of the weight that rows gain from the second value to the first, or the share
        `lost` of what they lose; 0 where no row does.
        """
        mine = [Chance(1 / gained, one.below, one.above) for one in self.chances if gained]
        theirs = [Chance(1 / lost, one.above, one.below) for one in other.chances if lost]
        (least, most), (lower, upper) = self.limits, other.limits
        beyond = self.beyond[0] + other.beyond[1], self.beyond[1] + other.beyond[0]
        return Unseen((*mine, *theirs), (least - upper, most - lower), beyond=beyond)
