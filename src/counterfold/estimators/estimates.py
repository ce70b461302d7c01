"""Estimate: a policy value with all that can be derived from its contributions."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from counterfold.base import messages, registry, validation
from counterfold.base.arrays import Floats, Ints
from counterfold.base.cached import cached_property
from counterfold.base.display import Displayed
from counterfold.base.errors import DataError
from counterfold.estimators.unseen_rewards import Limits, Unseen
from counterfold.intervals.base import Bounds, Interval, Units
from counterfold.intervals.normal import Normal


def standard_error(contributions: Floats, groups: Ints | None = None, sizes: Floats | None = None) -> float:
    """Return the standard error of the mean; rows of one group count as one observation."""
    return Units.of(contributions, groups, sizes).stderr


class Moves(NamedTuple):
    """The noise of an answer as a jackknife or a bootstrap shows it.

    The sum of the squared `values` is the variance of the answer. Two answers whose moves have the same `source`, such
    as the jackknife over the same units, are paired: their difference moves by the difference of the values.
    """

    source: str
    values: Floats

    @classmethod
    def by_jackknife(cls, source: str, values: Floats) -> "Moves":
        r"""Return the moves of an answer from its `values` without each of m equal parts of the rows.

        $$\hat\sigma^2 = \frac{m - 1}{m} \sum_b (\hat V_{-b} - \bar V)^2$$
        """
        n_parts = len(values)
        return cls(source, (values - values.mean()) * np.sqrt((n_parts - 1) / n_parts))

    @classmethod
    def by_bootstrap(cls, source: str, values: Floats) -> "Moves":
        """Return the moves of an answer from its `values` on samples of the rows; none from fewer than two samples."""
        if len(values) < 2:
            return cls(source, np.zeros(0))
        return cls(source, (values - values.mean()) / np.sqrt(len(values) - 1))

    @property
    def variance(self) -> float:
        """Return the variance."""
        return float(self.values @ self.values)

    def is_paired_with(self, other: "Moves") -> bool:
        """Return whether both are from the same parts or samples of the rows."""
        return self.source == other.source and len(self.values) == len(other.values)


class Exposure(NamedTuple):
    """The `weights` of all rows of a log, or of a sample, and the number of independent `rows` in the log."""

    weights: Floats
    rows: float


MAX_CONFIDENCE_LEVEL = 0.9999
"""The search for a confidence tries no interval with a higher level."""

CONFIDENCE_LEVEL_TOLERANCE = 1e-4
"""The search for a confidence ends when the level is this exact."""

ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""A difference counts as a rounding error if it is at most this fraction of the numbers that are subtracted.

A contribution is the result of a few additions and multiplications, each with an error of at most half an `eps`. The
mean of a unit of rows is summed in pairs, so its error hardly grows with the number of rows.
"""

STILL = Moves("contributions", np.zeros(0))
"""The moves of an answer whose noise its contributions show in full."""


@dataclass(frozen=True, eq=False)
class Estimate(Displayed):
    """A policy value, derived from `contributions`, one per row.

    The standard error is that of the contributions, or that of `moves` and `bias_variance` together if it is larger.

    - `name`: the name of the estimator or of the answer.
    - `contributions`: one per row. If the log is too large for that, each one is the mean of a unit of rows.
    - `groups`: the group of each contribution. Errors then count each group as one observation.
    - `sizes`: the number of rows in each unit, if contributions are means of units.
    - `weights`: one per contribution, or several lines of them, with mean 1. Some intervals use them.
    - `exposure`: the weights of all rows, to measure how different two targets are.
    - `moves`: the noise of an answer if contributions do not show all of it. They take the reward model and the choice
      of the estimator as given.
    - `bias_variance`: the variance of the bias that may remain.
    - `added_variance`: the variance of noise that none of these include. It is added to the larger one.
    - `unseen`: the least reach of the interval, because of rewards that were not seen, and the limits of the interval.
    - `level`, `method`: the level and the method of the interval, unless the caller passes others.
    - `order`: the places of the contributions in the order of time, if it is known. Some intervals depend on it.
    - `for_differences`: the answer for differences, if it is another one that is shrunk less towards the value of the
      log.

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
    sizes: Floats | None = None
    weights: Floats | None = None
    exposure: Exposure | None = None
    moves: Moves = STILL
    bias_variance: float = 0.0
    added_variance: float = 0.0
    unseen: Unseen = field(default_factory=Unseen)
    level: float = 0.95
    method: Interval = field(default_factory=Normal)
    order: Ints | None = None
    for_differences: "Estimate | None" = None

    @property
    def in_differences(self) -> "Estimate":
        """Return the answer for differences to other estimates: this one, or one that is shrunk less."""
        return self if self.for_differences is None else self.for_differences

    @property
    def as_value(self) -> "Estimate":
        """Return the estimate without another answer for differences."""
        return replace(self, for_differences=None)

    @property
    def units(self) -> Units:
        """Return the independent observations whose mean is the value, in the order of time."""
        order = slice(None) if self.order is None else self.order
        return Units.of(
            self.contributions[order],
            groups=None if self.groups is None else self.groups[order],
            sizes=None if self.sizes is None else self.sizes[order],
            weights=None if self.weights is None else self.weights[..., order],
            slope=self.unseen.slope,
        )

    @cached_property
    def value(self) -> float:
        """Return the mean contribution."""
        return float(np.average(self.contributions, weights=self.sizes))

    @cached_property
    def shown_variance(self) -> float:
        """Return the variance of the value that contributions show."""
        return standard_error(self.contributions, self.groups, self.sizes) ** 2

    @property
    def hidden_variance(self) -> float:
        """Return the part of the squared error that contributions do not show."""
        beyond_contributions = max(self.moves.variance + self.bias_variance - self.shown_variance, 0.0)
        return beyond_contributions + self.added_variance

    @property
    def stderr(self) -> float:
        r"""Return the standard error of the value.

        $$\sqrt{\max(\sigma^2_{shown},\, \sigma^2_{moves} + \tau^2) + \sigma^2_{added}}$$

        where $\tau^2$ is the variance of the bias that may remain.
        """
        variance = max(self.shown_variance, self.moves.variance + self.bias_variance)
        return float(np.sqrt(variance + self.added_variance))

    def interval(self, level: float | None = None, method: Interval | str | None = None) -> Bounds:
        """Return an interval with coverage `level`, by a method or the name of one.

        With every method, the interval is at least as wide as rewards that were not seen require.

        >>> import numpy as np
        >>> low, high = Estimate("IPS", np.array([0.0, 0.0, 1.0, 4.0])).interval(0.95, "empirical-likelihood")
        >>> round(low, 2), round(high, 2)
        (0.0, 3.95)
        """
        if level is None and method is None:
            return self._own_interval
        if level is None:
            level = self.level
        if method is None:
            method = self.method
        validation.inside(0, 1, level=level)
        resolved = registry.resolve("intervals", Interval, method, "`method` must be an interval")
        return self._make_interval(level, resolved)

    @cached_property
    def _own_interval(self) -> Bounds:
        """Return the interval with the estimate's own level and method, which many findings use."""
        return self._make_interval(self.level, self.method)

    def _make_interval(self, level: float, method: Interval) -> Bounds:
        """Return an interval that is at least as wide as rewards that were not seen require."""
        low, high = method.around(self.units, level, self.stderr)
        return Bounds(*self.unseen.widen(low, high, self.value, level))

    def find_confidence(self, number: float = 0.0) -> float:
        r"""Return the confidence that the value is above a number, from the widest interval that excludes the number.

        If that interval has the level $1 - \alpha$, the confidence is $1 - \alpha / 2$, or $\alpha / 2$ where the value
        is below the number. It is above 97.5 % or below 2.5 % if the 95 % interval excludes the number, and otherwise
        between.

        >>> import numpy as np
        >>> round(Estimate("gain", np.array([0.0, 0.0, 1.0, 4.0])).find_confidence(), 3)
        0.907
        """

        def covers_number(level: float) -> bool:
            low, high = self.interval(level)
            return bool(low <= number <= high)

        # Bisection: the interval excludes the number at `excluding`, and covers it at `covering`.
        excluding = 0.0
        covering = MAX_CONFIDENCE_LEVEL
        if not covers_number(MAX_CONFIDENCE_LEVEL):
            excluding = MAX_CONFIDENCE_LEVEL
        while covering - excluding > CONFIDENCE_LEVEL_TOLERANCE:
            level = (excluding + covering) / 2
            if covers_number(level):
                covering = level
            else:
                excluding = level
        tail = (1 - excluding) / 2
        return 1 - tail if self.value > number else tail

    def times(self, factor: float) -> "Estimate":
        """Return the estimate of a multiple of the value."""
        for_differences = None if self.for_differences is None else self.for_differences.times(factor)
        return replace(
            self,
            contributions=factor * self.contributions,
            moves=Moves(self.moves.source, factor * self.moves.values),
            unseen=self.unseen.times(factor),
            bias_variance=factor**2 * self.bias_variance,
            added_variance=factor**2 * self.added_variance,
            for_differences=for_differences,
        )

    def add_doubt(self, variance: float, beyond: Limits) -> "Estimate":
        """Return the estimate with noise added and an interval that reaches farther, also in differences."""
        for_differences = None if self.for_differences is None else self.for_differences.add_doubt(variance, beyond)
        return replace(
            self,
            added_variance=self.added_variance + variance,
            unseen=replace(self.unseen, beyond=beyond),
            for_differences=for_differences,
        )

    def __sub__(self, other: "Estimate") -> "Estimate":
        """Return the difference of two estimates on the same rows; its error is paired row by row.

        Moves are paired, too, if they have the same source. Biases and added noise then cancel as far as both targets
        weight the same rows. Otherwise none of the variance cancels that contributions do not show. An answer that has
        another one `for_differences` is replaced by it. Differences of contributions and of moves that are rounding
        errors are 0.
        """
        if self.for_differences is not None or other.for_differences is not None:
            return self.in_differences - other.in_differences
        if len(self.contributions) != len(other.contributions):
            rows = f"{len(self.contributions)} and {len(other.contributions)}"
            raise DataError(f"estimates to compare must be of the same rows, got {rows} rows.")

        size = measure_size(self) + measure_size(other)
        contributions = drop_rounding(self.contributions - other.contributions, size)
        if self.moves.is_paired_with(other.moves):
            move_differences = self.moves.values - other.moves.values
            # Where all contributions are equal, moves may still differ by rounding errors.
            if not contributions.any():
                move_differences = drop_rounding(move_differences, size)
            moves = Moves(self.moves.source, move_differences)
            distance = measure_distance(self, other)
            bias_variance = subtract_variances(self.bias_variance, other.bias_variance, distance)
            added_variance = subtract_variances(self.added_variance, other.added_variance, distance)
        else:
            moves = STILL
            bias_variance = 0.0
            added_variance = self.hidden_variance + other.hidden_variance

        # Two estimates of one target share one array of weights, which is then used once.
        weights = [line for line in (self.weights, other.weights) if line is not None]
        if len(weights) == 2 and weights[0] is weights[1]:
            weights = weights[:1]
        return Estimate(
            name=f"{self.name} - {other.name}",
            contributions=contributions,
            groups=self.groups,
            sizes=self.sizes,
            weights=np.vstack(weights) if weights else None,
            moves=moves,
            bias_variance=bias_variance,
            added_variance=added_variance,
            unseen=self.unseen.between(other.unseen, share_gained(self, other), share_gained(other, self)),
            level=self.level,
            method=self.method.for_differences(),
            order=self.order,
        )

    def __repr__(self) -> str:
        return f"Estimate({messages.clean_sentence(self.name)}: {self.value:.4g} ± {self.stderr:.2g})"


def measure_size(estimate: Estimate) -> float:
    """Return the mean absolute contribution, to which rounding errors are compared."""
    return float(np.average(np.abs(estimate.contributions), weights=estimate.sizes))


def drop_rounding(differences: Floats, size: float) -> Floats:
    """Return differences of numbers of this size, or 0 if all of them together are no more than rounding errors."""
    if not len(differences) or np.abs(differences).mean() > ROUNDING * size:
        return differences
    return np.zeros_like(differences)


def measure_distance(one: Estimate, other: Estimate) -> float:
    """Return 1 minus the correlation of the weights of two targets; 1 if the weights are not available."""
    if one.exposure is None or other.exposure is None:
        return 1.0
    difference = standardise_weights(one.exposure.weights) - standardise_weights(other.exposure.weights)
    return float(np.square(difference).sum()) / 2


def subtract_variances(one: float, other: float, distance: float) -> float:
    r"""Return the variance of the difference of two biases, or of the noise added to two errors.

    $$(\tau_1 - \tau_2)^2 + 2 (1 - \rho)\, \tau_1 \tau_2$$

    where $1 - \rho$ is the `distance` between the targets: the biases of equal targets are equal.
    """
    first, second = np.sqrt([one, other])
    return float((first - second) ** 2 + 2 * distance * first * second)


def correlate_weights(exposures: Sequence[Exposure | None]) -> Floats:
    """Return the correlations of the weights of several targets; 0 for weights that are missing or all equal."""
    correlations = np.eye(len(exposures))
    lines = [
        (place, standardise_weights(exposure.weights))
        for place, exposure in enumerate(exposures)
        if exposure is not None
    ]
    for (place, line), (other_place, other_line) in combinations(lines, 2):
        if len(line) == len(other_line):
            correlation = float(line @ other_line)
            correlations[place, other_place] = correlation
            correlations[other_place, place] = correlation
    return correlations


def standardise_weights(weights: Floats) -> Floats:
    """Return the deviations of the weights from their mean, scaled to length 1, or 0 if all weights are equal."""
    deviations = weights - weights.mean()
    length = np.linalg.norm(deviations)
    if length <= ROUNDING * np.linalg.norm(weights):
        return np.zeros_like(deviations)
    return np.asarray(deviations / length)


def share_gained(one: Estimate, other: Estimate) -> float:
    r"""Return the mean share of all weight that a row gains from the other target to this one, weighted by the gain.

    $$\sum_i \delta_i^2 \Big/ \sum_i \delta_i, \qquad \delta_i = \max(w_{1i} - w_{2i}, 0) / n$$
    """
    if one.exposure is None or other.exposure is None:
        return 0.0
    weights = one.exposure.weights
    other_weights = other.exposure.weights
    differences = weights - other_weights
    gains = np.where(differences > ROUNDING * (weights + other_weights), differences, 0.0)
    total = gains.sum()
    if total <= 0:
        return 0.0
    return float(np.square(gains).sum() / total / one.exposure.rows)
