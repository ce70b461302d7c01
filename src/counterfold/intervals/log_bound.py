"""An interval that holds at any number of rows, whatever the largest weight."""

import math
from dataclasses import replace

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.intervals.base import TOLERANCE, Bounds, Interval, Ranged, Units

HINT = ' This interval is for IPS alone; for an evaluation, ask for `candidates="ips"`.'


class LogBound(Ranged):
    r"""Never covers less often than it says, however large weights may be, for IPS and rewards from `low` to `high`.

    $$a + \frac{1}{\lambda} \left( \exp\left( \frac1n \sum_i \ln(1 + \lambda\, w_i (r_i - a)) -
      \frac{\ln(1 / \delta)}{n} \right) - 1 \right), \qquad
      \lambda = \frac{1}{b - a} \sqrt{\frac{2 \ln(1 / \delta)}{n}}, \qquad \delta = \frac{1 - \text{level}}{2}$$

    is the lower end, and the upper end is the same with $w_i (b - r_i)$, from $b$ down. It is Markov's inequality for
    the product of all $1 + \lambda\, w_i (r_i - a)$, so nothing must be known of the weights but that they are 1 on
    average. A bound of 0 needs no weights. For any other one the end is the bound itself where the estimate has no
    weights: where the target may do what the log does not support, or is known for the logged actions alone.

    Bounds must be known beforehand, not seen. In the place of one that is not given stands the outermost contribution,
    and then there is no guarantee, as in differences of estimates; nor is there one for groups of unequal sizes.
    Contributions that are not weights times such rewards, as those of DR, are refused. A bucket of a large log counts
    as one row, so more than 1,024 rows narrow it little there.

    Sakhi, Aouali, Alquier, Chopin (2024), "Logarithmic smoothing for pessimistic off-policy evaluation, selection and
    learning".

    >>> import numpy as np
    >>> import counterfold as cf
    >>> weights, clicks = np.tile([0.0, 0.5, 0.5, 3.0], 250), np.tile([1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0], 125)
    >>> low, high = cf.Estimate("IPS", weights * clicks, weights=weights).interval(0.9, cf.LogBound(low=0.0, high=1.0))
    >>> round(low, 3), round(high, 3)
    (0.428, 0.572)
    """

    def bounds(self, units: Units, level: float) -> Bounds:
        chance = math.log(2 / (1 - level))
        unit = None if self.low is None or self.high is None else self.high - self.low
        low = float(units.values.min()) if self.low is None else self.low
        high = float(units.values.max()) if self.high is None else self.high
        below, above = measure_surplus(units, self.low, 1.0), measure_surplus(units, self.high, -1.0)
        return Bounds(low + bound_mean(*below, unit, chance), high - bound_mean(*above, unit, chance))

    def for_differences(self) -> Interval:
        return replace(self, low=None, high=None)


def measure_surplus(units: Units, end: float | None, sign: float) -> tuple[Floats, float]:
    """Return by how much units exceed the least reward (or, sign -1, the largest one them), and what was added to that.

    It is at least 0: a unit of more rows than usual may be below, and as much is added as it may be. Without weights
    nothing is known, unless the end is 0.
    """
    if end is None:
        values = sign * units.values
        return values - values.min(), 0.0
    if len(units.excess) != 1 and end != 0:
        return np.empty(0), 0.0
    weights = 1 + units.excess[0] if end != 0 else np.ones(len(units))
    apart = sign * (units.value - end)
    added = max((units.largest - 1) * apart, -apart) if units.largest > 1 else 0.0
    surplus = sign * (units.values - end * weights) + added
    good = surplus >= -TOLERANCE * np.abs(surplus).max()
    rule = f"weights times rewards of at {'least' if sign > 0 else 'most'} {end:g}"
    validation.WHOLE.every("contributions", units.values, good, rule, HINT)
    return np.maximum(surplus, 0), added


def bound_mean(surplus: Floats, added: float, unit: float | None, chance: float) -> float:
    """Return what the mean of numbers of at least 0 exceeds, but for a chance of exp(-chance), less what was added."""
    largest, count = float(surplus.max(initial=0.0)), len(surplus)
    if largest == 0:
        return 0.0
    usual = unit or largest * math.sqrt(np.square(surplus / largest).mean())
    stake = math.sqrt(2 * chance / count) / usual
    mean = math.expm1(float(np.log1p(stake * surplus).mean()) - chance / count) / stake
    return max(mean - added, 0.0)
