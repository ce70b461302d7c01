"""Estimate: a policy value with everything that can be derived from its contributions."""

from dataclasses import dataclass

import numpy as np

from counterfold import checks, registry
from counterfold.arrays import Floats, Ints
from counterfold.errors import DataError
from counterfold.intervals.base import Bounds, Interval, Units


def standard_error(contributions: Floats, groups: Ints | None = None, sizes: Floats | None = None) -> float:
    """Return the standard error of the mean; rows of one group count as one observation."""
    return Units.of(contributions, groups, sizes).stderr


def jackknife_error(values: Floats) -> float:
    r"""Return the standard error of a value from what it is without each of m equal parts of the rows.

    $$\hat\sigma^2 = \frac{m - 1}{m} \sum_b (\hat V_{-b} - \bar V)^2$$
    """
    return float(np.sqrt(np.square(values - values.mean()).sum() * (len(values) - 1) / len(values)))


@dataclass(frozen=True, eq=False)
class Estimate:
    """A policy value; everything about it is derived from `contributions`, one per row.

    `groups` makes errors count a group as one observation. Where the log is too large to keep a number per row, each
    contribution is the mean of a unit of rows, and `sizes` says of how many. `refit_stderr` is an error that includes
    the noise of fitting the reward model, which contributions do not show, if one was computed; the larger one counts.
    `weights`, one per contribution or several lines of them, are 1 on average, which some intervals use.

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
    weights: Floats | None = None

    @property
    def units(self) -> Units:
        """Return the independent observations whose mean is the value."""
        return Units.of(self.contributions, self.groups, self.sizes, self.weights)

    @property
    def value(self) -> float:
        """Return the mean contribution."""
        return float(np.average(self.contributions, weights=self.sizes))

    @property
    def stderr(self) -> float:
        """Return the standard error of the value."""
        return max(standard_error(self.contributions, self.groups, self.sizes), self.refit_stderr)

    @property
    def hidden_variance(self) -> float:
        """Return what the squared error holds beyond the noise of contributions."""
        return max(self.refit_stderr**2 - standard_error(self.contributions, self.groups, self.sizes) ** 2, 0.0)

    def interval(self, level: float = 0.95, method: Interval | str = "normal") -> Bounds:
        """Return an interval that is to cover the value with probability `level`, by a method or the name of one.

        >>> import numpy as np
        >>> low, high = Estimate("IPS", np.array([0.0, 0.0, 1.0, 4.0])).interval(0.95, "empirical-likelihood")
        >>> round(low, 2), round(high, 2)
        (0.0, 3.95)
        """
        checks.inside(0, 1, level=level)
        found: Interval = registry.resolve("intervals", Interval, method, "`method` must be an interval")
        low, high = found.around(self.units, level, self.stderr)
        value = self.value  # that of units may be another one in the last digit
        return Bounds(min(low, value), max(high, value))

    def __sub__(self, other: "Estimate") -> "Estimate":
        """Return the difference of two estimates on the same rows; its error is paired row by row.

        What errors hold beyond the noise of contributions, such as that of fitting reward models, is taken not to
        cancel, so that of both is added.
        """
        if len(self.contributions) != len(other.contributions):
            rows = f"{len(self.contributions)} and {len(other.contributions)}"
            raise DataError(f"estimates to compare must be of the same rows, got {rows} rows.")
        gap = self.contributions - other.contributions
        hidden = self.hidden_variance + other.hidden_variance
        refit = float(np.sqrt(standard_error(gap, self.groups, self.sizes) ** 2 + hidden)) if hidden else 0.0
        known = {id(one): one for one in (self.weights, other.weights) if one is not None}
        weights = np.vstack(list(known.values())) if known else None
        return Estimate(f"{self.name} - {other.name}", gap, self.groups, refit, self.sizes, weights)

    def __repr__(self) -> str:
        return f"Estimate({self.name}: {self.value:.4g} ± {self.stderr:.2g})"
