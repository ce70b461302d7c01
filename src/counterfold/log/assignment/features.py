"""Features: what residuals are multiplied by: 1, the time or the number of the row, and every column of the context."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base.arrays import Floats, Ints

CHANGED = (
    "they changed in the course of the log in a way that it does not say, unless it is sorted by what came of them"
)

CHANGED_IN_TIME = "they changed in the course of time in a way that the log does not say"

LARGEST = 1e100
"""How large a scaled number may be, as its square must be finite."""

ROWS = 1 << 14
"""The number of the row is counted in so many rows."""


@dataclass(frozen=True, eq=False)
class Features:
    """Columns centred and scaled as the first rows of a log suggest, and bounded, so that no row has all the say.

    Where a row is in the log is told by its time, or else by its number, less `start` and in units of `step`.

    >>> Features.of(np.array([[1.0], [3.0]])).build(np.array([[2.0], [1e9]]), np.array([0, 1 << 14])).round(2)
    array([[1., 0., 0.],
           [1., 1., 1.]])
    """

    centre: Floats
    scale: Floats
    start: float = 0.0
    step: float = ROWS

    @classmethod
    def of(cls, context: Floats, times: Floats | None = None) -> Self:
        """Return the features of a log with such first rows."""
        spread = context.std(axis=0)
        scaled = context.mean(axis=0), np.where(spread > 0, spread, 1.0)
        return cls(*scaled) if times is None else cls(*scaled, float(times.mean()), float(times.std()) or 1.0)

    @property
    def count(self) -> int:
        """Return how many features there are."""
        return 2 + len(self.centre)

    def build(self, context: Floats, places: Floats | Ints) -> Floats:
        """Return 1, where the row is in the log, and the bounded columns."""
        found = np.empty((len(context), self.count))
        found[:, 0], found[:, 1] = 1.0, (places - self.start) / self.step
        scaled = np.clip((context - self.centre) / self.scale, -LARGEST, LARGEST)
        found[:, 2:] = scaled / np.sqrt(1.0 + scaled * scaled)
        return found


@dataclass(frozen=True, eq=False)
class FeatureRange:
    """The least and the largest value of every feature; two such can be added."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, features: Floats) -> Self:
        """Return the ends of some rows."""
        return cls(features.min(axis=0), features.max(axis=0))

    def __add__(self, other: "FeatureRange") -> "FeatureRange":
        return FeatureRange(np.minimum(self.low, other.low), np.maximum(self.high, other.high))
