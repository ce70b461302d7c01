"""Estimate: a policy value with everything that can be derived from its contributions."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from counterfold import checks
from counterfold.arrays import Floats, Ints
from counterfold.errors import DataError


class Bounds(NamedTuple):
    """The two ends of an interval."""

    low: float
    high: float


def standard_error(contributions: Floats, groups: Ints | None = None, sizes: Floats | None = None) -> float:
    """Return the standard error of the mean; rows of one group count as one observation."""
    rows = len(contributions) if sizes is None else float(sizes.sum())
    deviations = contributions - contributions.mean()
    if sizes is not None:
        deviations = sizes * (contributions - np.average(contributions, weights=sizes))
    if groups is not None:
        totals = np.bincount(groups, weights=deviations)
        deviations = totals[np.bincount(groups) > 0]
    units = len(deviations)
    if units < 2:
        return 0.0
    return float(np.sqrt(np.square(deviations).sum() * units / (units - 1)) / rows)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A policy value; everything about it is derived from `contributions`, one per row.

    `groups` makes errors count a group as one observation. Where the log is too large to keep a number per row, each
    contribution is the mean of a unit of rows, and `sizes` says of how many. `refit_stderr` is an error that includes
    the noise of fitting the reward model, which contributions do not show, if one was computed; the larger one counts.

    >>> import numpy as np
    >>> import counterfold as cf
    >>> estimate = cf.Estimate("IPS", np.array([0.0, 0.0, 1.0, 4.0]))
    >>> estimate.value, round(estimate.stderr, 4)
    (1.25, 0.9465)
    >>> estimate.interval(level=0.95).low < 0 < estimate.interval(level=0.95).high
    True
    """

    name: str
    contributions: Floats
    groups: Ints | None = None
    refit_stderr: float = 0.0
    sizes: Floats | None = None

    @property
    def value(self) -> float:
        """Return the mean contribution."""
        return float(np.average(self.contributions, weights=self.sizes))

    @property
    def stderr(self) -> float:
        """Return the standard error of the value."""
        return max(standard_error(self.contributions, self.groups, self.sizes), self.refit_stderr)

    def interval(self, level: float = 0.95) -> Bounds:
        """Return the normal interval that covers the value with probability `level` in large samples."""
        checks.inside(0, 1, level=level)
        reach = NormalDist().inv_cdf((1 + level) / 2) * self.stderr
        return Bounds(self.value - reach, self.value + reach)

    def __sub__(self, other: "Estimate") -> "Estimate":
        """Return the difference of two estimates on the same rows; its error is paired row by row.

        The noise of fitting reward models is taken not to cancel, so it is counted twice.
        """
        if len(self.contributions) != len(other.contributions):
            rows = f"{len(self.contributions)} and {len(other.contributions)}"
            raise DataError(f"estimates to compare must be of the same rows, got {rows} rows.")
        refit = float(np.hypot(self.refit_stderr, other.refit_stderr))
        gap = self.contributions - other.contributions
        return Estimate(f"{self.name} - {other.name}", gap, self.groups, refit, self.sizes)

    def __repr__(self) -> str:
        """Show the value and its error."""
        return f"Estimate({self.name}: {self.value:.4g} ± {self.stderr:.2g})"
