"""Estimate: a policy value with everything that can be derived from its contributions."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple

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
    """How an answer moves from log to log, seen by leaving out or drawing anew some of its rows.

    The sum of the squared `values` is its variance. Two answers whose moves have the same `source`, such as the
    jackknife over the same units, move together, and their difference moves by the difference of the values.
    """

    source: str
    values: Floats

    @classmethod
    def by_jackknife(cls, source: str, values: Floats) -> "Moves":
        r"""Return the moves of an answer from what it is without each of m equal parts of the rows.

        $$\hat\sigma^2 = \frac{m - 1}{m} \sum_b (\hat V_{-b} - \bar V)^2$$
        """
        return cls(source, (values - values.mean()) * np.sqrt((len(values) - 1) / len(values)))

    @classmethod
    def by_bootstrap(cls, source: str, values: Floats) -> "Moves":
        """Return the moves of an answer from what it is on samples of the rows; none of fewer than two samples."""
        return cls(source, (values - values.mean()) / np.sqrt(len(values) - 1) if len(values) > 1 else np.zeros(0))

    @property
    def variance(self) -> float:
        """Return the variance."""
        return float(self.values @ self.values)

    def is_paired_with(self, other: "Moves") -> bool:
        """Say whether both move together."""
        return self.source == other.source and len(self.values) == len(other.values)


class Exposure(NamedTuple):
    """The `weights` of all rows of a log, or of a sample, and how many independent `rows` the log is worth."""

    weights: Floats
    rows: float


SUREST, EXACT = 0.9999, 1e-4
"""The highest level of an interval that is tried to find a confidence, and how exactly the level is found."""

ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""How small a difference, in relation to the numbers that it is the difference of, is taken for a rounding error.

A contribution is the result of a few additions and multiplications, each of which is off by half an `eps` at most; the
mean of a unit of rows is summed in pairs, so that its error hardly grows with their number.
"""

STILL = Moves("contributions", np.zeros(0))
"""The moves of an answer that moves only as its contributions show."""


@dataclass(frozen=True, eq=False)
class Estimate(Displayed):
    """A policy value; everything about it is derived from `contributions`, one per row.

    `groups` makes errors count a group as one observation. Where the log is too large to keep a number per row, each
    contribution is the mean of a unit of rows, and `sizes` says of how many. `moves` are those of an answer whose noise
    contributions do not show in full, as they take the reward model and the choice as given, and `bias_variance` is the
    variance of what may be left of a bias; the error is that of contributions, or of both of these if it is larger.
    `added_variance` is the variance of noise that none of these know of, and is added to whichever is larger.
    `weights`, one per contribution or several lines of them, are 1 on average, which some intervals use; `exposure`
    tells how targets differ. `unseen` tells how far the interval reaches at least, and where it ends at most. `level`
    and `method` are those of its interval, unless others are asked for. `order` holds their places in the order of
    time, if that is known: some intervals depend on it. `for_differences` is the answer that differences are made of,
    if that is another one: it is shrunk less towards what the log earned.

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
        """Return the answer that differences to other estimates are made of: this one, or one that is shrunk less."""
        return self if self.for_differences is None else self.for_differences

    @property
    def as_value(self) -> "Estimate":
        """Return the estimate without another answer for differences: what is left of one value less another."""
        return replace(self, for_differences=None)

    @property
    def units(self) -> Units:
        """Return the independent observations whose mean is the value, in the order of time."""
        place: Any = slice(None) if self.order is None else self.order
        groups = None if self.groups is None else self.groups[place]
        sizes = None if self.sizes is None else self.sizes[place]
        weights = None if self.weights is None else self.weights[..., place]
        return Units.of(self.contributions[place], groups, sizes, weights, self.unseen.slope)

    @cached_property
    def value(self) -> float:
        """Return the mean contribution."""
        return float(np.average(self.contributions, weights=self.sizes))

    @cached_property
    def shown_variance(self) -> float:
        """Return the variance of the value as contributions show it."""
        return standard_error(self.contributions, self.groups, self.sizes) ** 2

    @property
    def hidden_variance(self) -> float:
        """Return what the squared error holds beyond the noise of contributions."""
        return max(self.moves.variance + self.bias_variance - self.shown_variance, 0.0) + self.added_variance

    @property
    def stderr(self) -> float:
        r"""Return the standard error of the value.

        $$\sqrt{\max(\sigma^2_{shown},\, \sigma^2_{moves} + \tau^2) + \sigma^2_{added}}$$

        where $\tau^2$ is the variance of what may be left of a bias.
        """
        known = max(self.shown_variance, self.moves.variance + self.bias_variance)
        return float(np.sqrt(known + self.added_variance))

    def interval(self, level: float | None = None, method: Interval | str | None = None) -> Bounds:
        """Return an interval that is to cover the value with probability `level`, by a method or the name of one.

        Whatever the method, it is never narrower than what rewards that were not seen allow.

        >>> import numpy as np
        >>> low, high = Estimate("IPS", np.array([0.0, 0.0, 1.0, 4.0])).interval(0.95, "empirical-likelihood")
        >>> round(low, 2), round(high, 2)
        (0.0, 3.95)
        """
        if level is None and method is None:
            return self._own_interval
        level, method = self.level if level is None else level, self.method if method is None else method
        validation.inside(0, 1, level=level)
        return self._make_interval(
            level, registry.resolve("intervals", Interval, method, "`method` must be an interval")
        )

    @cached_property
    def _own_interval(self) -> Bounds:
        """Return the interval of the estimate's own level and method, which many findings ask for."""
        return self._make_interval(self.level, self.method)

    def _make_interval(self, level: float, method: Interval) -> Bounds:
        """Return an interval, no narrower than what rewards that were not seen allow."""
        low, high = method.around(self.units, level, self.stderr)
        return Bounds(*self.unseen.widen(low, high, self.value, level))

    def find_confidence(self, number: float = 0.0) -> float:
        r"""Return how sure it is that the value is above a number, by the widest interval that does not hold it.

        If that interval has the level $1 - \alpha$, this is $1 - \alpha / 2$ or, where the value is below the number,
        $\alpha / 2$: more than 97.5 % or less than 2.5 % if the interval of 95 % does not hold it, and else between.

        >>> import numpy as np
        >>> round(Estimate("gain", np.array([0.0, 0.0, 1.0, 4.0])).find_confidence(), 3)
        0.907
        """

        def holds(level: float) -> bool:
            low, high = self.interval(level)
            return bool(low <= number <= high)

        sure, unsure = (0.0, SUREST) if holds(SUREST) else (SUREST, SUREST)
        while unsure - sure > EXACT:
            level = (sure + unsure) / 2
            sure, unsure = (sure, level) if holds(level) else (level, unsure)
        tail = (1 - sure) / 2
        return 1 - tail if self.value > number else tail

    def times(self, factor: float) -> "Estimate":
        """Return the estimate of a multiple of the value."""
        moves = Moves(self.moves.source, factor * self.moves.values)
        contributions, unseen = factor * self.contributions, self.unseen.times(factor)
        scaled = replace(self, contributions=contributions, moves=moves, unseen=unseen)
        bias, added = factor**2 * self.bias_variance, factor**2 * self.added_variance
        other = None if self.for_differences is None else self.for_differences.times(factor)
        return replace(scaled, bias_variance=bias, added_variance=added, for_differences=other)

    def add_doubt(self, variance: float, beyond: Limits) -> "Estimate":
        """Return the estimate with noise added, and an interval that reaches farther, also in differences."""
        other = None if self.for_differences is None else self.for_differences.add_doubt(variance, beyond)
        added = self.added_variance + variance
        unseen = replace(self.unseen, beyond=beyond)
        return replace(self, added_variance=added, unseen=unseen, for_differences=other)

    def __sub__(self, other: "Estimate") -> "Estimate":
        """Return the difference of two estimates on the same rows; its error is paired row by row.

        So are the moves of both, if they have the same source; biases, and noise that is added, then cancel as far as
        both targets weigh the same rows. Otherwise nothing cancels of what errors hold beyond the noise of
        contributions. An answer that has another one `for_differences` is represented by that.
        Differences that are rounding errors are 0: those of contributions, of moves and of weights.
        """
        if self.for_differences is not None or other.for_differences is not None:
            return self.in_differences - other.in_differences
        if len(self.contributions) != len(other.contributions):
            rows = f"{len(self.contributions)} and {len(other.contributions)}"
            raise DataError(f"estimates to compare must be of the same rows, got {rows} rows.")
        moves, bias, added = STILL, 0.0, self.hidden_variance + other.hidden_variance
        size = measure_size(self) + measure_size(other)
        contributions = drop_rounding(self.contributions - other.contributions, size)
        if self.moves.is_paired_with(other.moves):
            moved = self.moves.values - other.moves.values
            moves = Moves(self.moves.source, moved if contributions.any() else drop_rounding(moved, size))
            apart = tell_apart(self, other)
            bias = subtract_variances(self.bias_variance, other.bias_variance, apart)
            added = subtract_variances(self.added_variance, other.added_variance, apart)
        known = {id(one): one for one in (self.weights, other.weights) if one is not None}
        return Estimate(
            f"{self.name} - {other.name}",
            contributions,
            self.groups,
            self.sizes,
            np.vstack(list(known.values())) if known else None,
            moves=moves,
            bias_variance=bias,
            added_variance=added,
            unseen=self.unseen.between(other.unseen, share_gained(self, other), share_gained(other, self)),
            level=self.level,
            method=self.method.for_differences(),
            order=self.order,
        )

    def __repr__(self) -> str:
        return f"Estimate({messages.clean_sentence(self.name)}: {self.value:.4g} ± {self.stderr:.2g})"


def measure_size(estimate: Estimate) -> float:
    """Return the mean size of the contributions: what their rounding errors are in relation to."""
    return float(np.average(np.abs(estimate.contributions), weights=estimate.sizes))


def drop_rounding(apart: Floats, size: float) -> Floats:
    """Return differences of numbers of some size; 0 where all of them together are no more than rounding errors."""
    if not len(apart) or np.abs(apart).mean() > ROUNDING * size:
        return apart
    return np.zeros_like(apart)


def tell_apart(one: Estimate, other: Estimate) -> float:
    """Return how unlike two targets weigh the rows: 1 less the correlation of their weights, 1 if that is not known."""
    if one.exposure is None or other.exposure is None:
        return 1.0
    lines = [find_deviations(exposure.weights) for exposure in (one.exposure, other.exposure)]
    return float(np.square(lines[0] - lines[1]).sum()) / 2


def subtract_variances(one: float, other: float, apart: float) -> float:
    r"""Return the variance of the difference of two biases, or of noise that both errors are larger by.

    $$(\tau_1 - \tau_2)^2 + 2 (1 - \rho)\, \tau_1 \tau_2$$

    where $1 - \rho$ is how far the targets are `apart`: the biases of equal targets are equal.
    """
    first, second = np.sqrt([one, other])
    return float((first - second) ** 2 + 2 * apart * first * second)


def correlate_weights(exposures: Sequence[Exposure | None]) -> Floats:
    """Return the correlations of the weights of several targets; those that are not known, or all equal, have none."""
    found = np.eye(len(exposures))
    known = [(place, find_deviations(one.weights)) for place, one in enumerate(exposures) if one is not None]
    for (place, line), (other, second) in combinations(known, 2):
        if len(line) == len(second):
            found[place, other] = found[other, place] = float(line @ second)
    return found


def find_deviations(weights: Floats) -> Floats:
    """Return how far each weight is from the mean, scaled to a length of 1, or 0 where all are equal."""
    apart = weights - weights.mean()
    length = np.linalg.norm(apart)
    if length <= ROUNDING * np.linalg.norm(weights):
        return np.zeros_like(apart)
    return np.asarray(apart / length)


def share_gained(one: Estimate, other: Estimate) -> float:
    r"""Return how much of all weight a row gains from the other target to this one, where it gains any.

    $$\sum_i \delta_i^2 \Big/ \sum_i \delta_i, \qquad \delta_i = \max(w_{1i} - w_{2i}, 0) / n$$
    """
    if one.exposure is None or other.exposure is None:
        return 0.0
    mine, theirs = one.exposure.weights, other.exposure.weights
    gains = np.where(mine - theirs > ROUNDING * (mine + theirs), mine - theirs, 0.0)
    total = gains.sum()
    return float(np.square(gains).sum() / total / one.exposure.rows) if total > 0 else 0.0
