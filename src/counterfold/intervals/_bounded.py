"""What intervals share that hold at any number of rows because contributions have a known range."""

from dataclasses import dataclass

import numpy as np

from counterfold import checks
from counterfold.intervals.base import Interval, Units

TOLERANCE = 1e-9
"""By how much of the range a contribution may leave it: linearised ones have rounding errors."""


@dataclass(frozen=True)
class Bounded(Interval):
    """An interval for contributions that are known to lie between `low` and `high`."""

    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        given = {name: end for name, end in {"low": self.low, "high": self.high}.items() if end is not None}
        checks.parameter("a finite number", np.isfinite, given)
        if self.low is not None and self.high is not None:
            checks.above(self.low, high=self.high)

    def span(self, units: Units) -> tuple[float, float]:
        """Return between what the units lie: as far out as the largest of them can be, or as they are observed."""
        least, most, value = float(units.values.min()), float(units.values.max()), units.value
        low = least if self.low is None else value - units.largest * (value - self.low)
        high = most if self.high is None else value + units.largest * (self.high - value)
        slack = TOLERANCE * (high - low)
        good = (units.values >= low - slack) & (units.values <= high + slack)
        checks.WHOLE.every("contributions", units.values, good, f"in [{low:g}, {high:g}]")
        return low, high
