"""Interval: two ends around the mean of independent units, which contributions are turned into here."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import ClassVar, NamedTuple

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.base.cached import cached_property

ROUNDING = 1e-12

TOLERANCE = 1e-9
"""By how much of the range a contribution may leave it: linearised ones have rounding errors."""


class Bounds(NamedTuple):
    """The two ends of an interval."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Units:
    """Independent observations whose mean is the estimate: rows, groups of rows, or buckets of rows.

    A group of twice the usual size is twice as far from the mean, and `largest` is the size of the largest unit in
    relation to the usual one. `excess` (lines x units) holds what is 0 on average, as weights less 1 are.
    `known_slope` is by how much the variance of the mean grows with the mean, if others know.
    """

    values: Floats
    excess: Floats
    largest: float = 1.0
    known_slope: float | None = None

    @classmethod
    def of(
        cls,
        contributions: Floats,
        groups: Ints | None = None,
        sizes: Floats | None = None,
        weights: Floats | None = None,
        slope: float | None = None,
    ) -> "Units":
        """Return the units of contributions, groups in the order of their first rows."""
        excess = np.empty((0, len(contributions))) if weights is None else np.atleast_2d(weights) - 1
        if groups is None and sizes is None:
            return cls(contributions, excess, known_slope=slope)
        counts = np.ones(len(contributions)) if sizes is None else sizes
        value = np.average(contributions, weights=counts)
        lines = counts * np.vstack([np.ones(len(contributions)), contributions - value, excess])
        if groups is not None:
            first = np.full(int(groups.max()) + 1, len(groups))
            first[groups[::-1]] = np.arange(len(groups))[::-1]  # of several rows, the last one written stays: the first
            order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(groups))]
            lines = np.stack([np.bincount(groups, weights=line)[order] for line in lines])
        lines /= lines[0].mean()
        return cls(value + lines[1], lines[2:], float(lines[0].max()), slope)

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def value(self) -> float:
        """Return the mean."""
        return float(self.values.mean())

    @cached_property
    def stderr(self) -> float:
        """Return the standard error of the mean."""
        if len(self) == 1:
            return 0.0
        apart = self.values - self.value
        return math.sqrt(np.einsum("i,i->", apart, apart) / (len(self) - 1) / len(self))

    @property
    def moves(self) -> Floats:
        """Return how the mean moves with each unit; the sum of the squares is its variance."""
        count = len(self)
        return (self.values - self.value) / np.sqrt(count * (count - 1)) if count > 1 else np.zeros(count)

    @property
    def constant(self) -> bool:
        """Say whether the units differ by rounding errors alone, or by so little that its square is 0."""
        low, high = self.values.min(), self.values.max()
        return bool(high - low <= ROUNDING * max(abs(low), abs(high))) or self.stderr == 0

    @property
    def freedom(self) -> float:
        """Return the effective number of squares in the variance: 1 where one unit has all of it."""
        squares = np.square((self.values - self.value) / self.stderr)
        return float(np.clip(np.square(squares.sum()) / np.square(squares).sum(), 1, len(self) - 1))

    @property
    def slope(self) -> float:
        r"""Return by how much the variance of the mean grows with the mean, $\hat\mu_3 / (n \hat\mu_2)$.

        It does so as the units are reweighted a little.
        """
        scaled = (self.values - self.value) / self.stderr
        squares = np.square(scaled)
        return float(self.stderr * (squares * scaled).sum() / squares.sum() / len(self))


class Interval(ABC):
    """A frozen dataclass that finds the two ends; the same units give the same ends.

    One that `is_guaranteed` holds at its level for any number of units, and so is never made of that of another level.
    """

    is_guaranteed: ClassVar[bool] = False

    @abstractmethod
    def bounds(self, units: Units, level: float) -> Bounds:
        """Return the interval of the mean of the units."""

    def around(self, units: Units, level: float, stderr: float) -> Bounds:
        """Return the interval, stretched to an error that may include what units do not show; it holds the mean."""
        low, high = self.bounds(units, level)
        value, shown = units.value, units.stderr
        below, above = max(value - low, 0.0), max(high - value, 0.0)
        if stderr > shown:
            stretch, reach = (1.0, normal_quantile(level) * stderr) if units.constant else (stderr / shown, 0.0)
            below, above = stretch * below + reach, stretch * above + reach
        return Bounds(value - below, value + above)

    def for_differences(self) -> "Interval":
        """Return the interval for the difference of two estimates of which each may have this one."""
        return self


@dataclass(frozen=True)
class Ranged(Interval):
    """An interval that takes what is known to lie between `low` and `high`."""

    is_guaranteed = True
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        given = {name: end for name, end in {"low": self.low, "high": self.high}.items() if end is not None}
        validation.finite(**given)
        if self.low is not None and self.high is not None:
            validation.above(self.low, high=self.high)


class Bounded(Ranged):
    """An interval for contributions that are known to lie between `low` and `high`."""

    def span(self, units: Units) -> tuple[float, float]:
        """Return the range of the units: as far out as the largest of them can be, or as they are observed."""
        least, most, value = float(units.values.min()), float(units.values.max()), units.value
        low = least if self.low is None else value - units.largest * (value - self.low)
        high = most if self.high is None else value + units.largest * (self.high - value)
        slack = TOLERANCE * (high - low)
        good = (units.values >= low - slack) & (units.values <= high + slack)
        validation.WHOLE.every("contributions", units.values, good, f"in [{low:g}, {high:g}]")
        return low, high

    def for_differences(self) -> Interval:
        if self.low is None or self.high is None:
            return replace(self, low=None, high=None)
        return replace(self, low=self.low - self.high, high=self.high - self.low)


def normal_quantile(level: float) -> float:
    """Return how many standard errors to both sides hold a normal variable with probability `level`."""
    return NormalDist().inv_cdf((1 + level) / 2)


def student_quantile(level: float, freedom: float) -> float:
    """Return the same for Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))
