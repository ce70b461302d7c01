"""An interval that holds at any number of rows, and is nearly that of Clopper and Pearson where it can be."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.intervals.base import TOLERANCE, Bounds, Interval, Ranged, Units
from counterfold.intervals.log_bound import measure_surplus

STAKES = np.geomspace(0.3, 300.0, 14)
"""The stakes that are averaged, times the root of the number of units, in units of the range of rewards."""

Bet = Callable[[Floats, float], Floats]
"""From stakes and a mean to the logarithm of what each stake becomes if it is bet against that mean."""

MOST = 0.99
"""The largest share of what it owns that a bet may lose on one unit."""


@dataclass(frozen=True)
class BettingBound(Ranged):
    r"""Never covers less often than it says, for IPS and rewards from `low` to `high`; made for rare rewards of 0 or 1.

    The lower end is the least m on which nobody could have won much by betting that the value is larger:

    $$\frac1J \sum_j \frac12 \left( \prod_i \frac{1 + \lambda_j\, w_i (r_i - a)}{1 + \lambda_j\, (m - a)} +
      \prod_i \left( 1 + \lambda_{jm}\, w_i (r_i - m) \right) \right) < \frac{2}{\delta}, \qquad
      \delta = \frac{1 - \text{level}}{2}, \qquad \lambda_{jm} = \min\left( \lambda_j, \frac{0.99}{(m - a) W} \right)$$

    with 14 stakes from $0.3$ to $300 / \sqrt n / (b - a)$. Weights are 1 on average, so no product is more than 1 on
    average if the value is at most m, and Markov's inequality does the rest. The second product needs the
    `largest_weight` W that the policies allow; it is what makes the upper end near where rewards are rare. Without W
    there is the first product alone, below $1 / \delta$. The upper end is the same for $b - r$.

    Where all weights are 0 or W and all rewards a or b, Clopper and Pearson's interval of the rows with weight is
    exact: accepting rows with the probability $w / W$ draws from the target, and here nothing is left to chance. It
    has the other half of $\delta$, and the nearer end counts. `largest_weight=1` says that there are no weights.

    Bounds must be known beforehand, as with `LogBound`, which also says what happens without them or without weights.
    Groups of unequal sizes and buckets of large logs have no second product, and no guarantee.

    Waudby-Smith, Ramdas (2024), "Estimating means of bounded random variables by betting"; Karampatziakis, Mineiro,
    Ramdas (2021), "Off-policy confidence sequences"; Clopper, Pearson (1934), "The use of confidence or fiducial
    limits illustrated in the case of the binomial".

    >>> import numpy as np
    >>> import counterfold as cf
    >>> weights, clicks = np.tile([0.0, 0.5, 0.5, 3.0], 250), np.repeat([1.0, 0.0], [20, 980])
    >>> ips = cf.Estimate("IPS", weights * clicks, weights=weights)
    >>> for method in (cf.BettingBound(0.0, 1.0, largest_weight=3.0), cf.LogBound(0.0, 1.0)):
    ...     low, high = ips.interval(0.9, method)
    ...     print(round(low, 3), round(high, 3))
    0.006 0.06
    0.0 0.108
    """

    largest_weight: float | None = None

    def __post_init__(self) -> None:
        Ranged.__post_init__(self)
        if self.largest_weight is not None:
            validation.at_least(1, largest_weight=self.largest_weight)
            validation.finite(largest_weight=self.largest_weight)

    def bounds(self, units: Units, level: float) -> Bounds:
        low = float(units.values.min()) if self.low is None else self.low
        high = float(units.values.max()) if self.high is None else self.high
        chance = math.log(2 / (1 - level))
        if self.largest_weight == 1 and len(units.excess) != 1:
            units = replace(units, excess=np.zeros((1, len(units))))
        return Bounds(low + self.bound_above(units, 1.0, chance), high - self.bound_above(units, -1.0, chance))

    def bound_above(self, units: Units, sign: float, chance: float) -> float:
        """Return by how much the mean exceeds the low end, or falls short of the high one (sign -1), at least."""
        end = self.low if sign > 0 else self.high
        surplus, added = measure_surplus(units, end, sign)
        largest = float(surplus.max(initial=0.0))
        if largest == 0:
            return 0.0
        scale = largest * math.sqrt(np.square(surplus / largest).mean())
        if self.low is not None and self.high is not None:
            scale = self.high - self.low
            weights = self.know_weights(units)
            if weights is not None:
                shares, halved = Shares(surplus / scale, weights, self.largest_weight or 1.0), chance + math.log(2)
                return max(shares.bound_by_bets(halved), shares.bound_by_counts(halved)) * scale
        return max(bound_by_bets(surplus / scale, chance) * scale - added, 0.0)

    def for_differences(self) -> Interval:
        return replace(self, low=None, high=None, largest_weight=None)

    def know_weights(self, units: Units) -> Floats | None:
        """Return the weights if these are known, as is the largest that they may be, and if units have one size."""
        if self.largest_weight is None or units.largest > 1 + TOLERANCE or len(units.excess) != 1:
            return None
        weights = 1 + units.excess[0]
        rule = f"at most {self.largest_weight:g}, the `largest_weight`"
        validation.WHOLE.every("weights", weights, weights <= self.largest_weight * (1 + TOLERANCE), rule)
        return np.asarray(weights)


class Shares(NamedTuple):
    """Weights times rewards from 0 to 1 (`surplus`), the weights, and the largest that these may be."""

    surplus: Floats
    weights: Floats
    largest: float

    def bound_by_bets(self, chance: float) -> float:
        """Return what the mean exceeds, but for a chance of exp(-chance), by half of the stakes on each product."""
        top = float(self.surplus.mean())
        return bound_by_bets(self.surplus, chance, self.bet, min(max(top, top / float(self.weights.mean())), 1.0))

    def bet(self, stakes: Floats, mean: float) -> Floats:
        """Return the logarithm of what each stake becomes by bets that rewards of the target are above a mean."""
        apart = self.surplus - self.weights * mean
        return grow(np.minimum(stakes, MOST / (self.largest * mean)), apart)

    def bound_by_counts(self, chance: float) -> float:
        """Return Clopper and Pearson's lower end, or 0 if not all weights are 0 or the largest and rewards 0 or 1."""
        from scipy.special import betaincinv

        shares = np.stack([self.weights, self.surplus]) / self.largest
        taken, hits = shares.round().sum(axis=1)
        if hits == 0 or np.abs(shares - shares.round()).max() > TOLERANCE:
            return 0.0
        return float(betaincinv(hits, taken - hits + 1, math.exp(-chance)))


def bound_by_bets(surplus: Floats, chance: float, more: Bet | None = None, top: float | None = None) -> float:
    """Return the least mean of numbers of at least 0 on which bets do not win exp(chance) times what was staked.

    Half is staked on `more` bets, if there are any; no bet wins on means of `top` and more, the mean seen.
    """
    from scipy.optimize import brentq

    stakes, count = STAKES / math.sqrt(len(surplus)), len(surplus)
    grown, players = grow(stakes, surplus), len(stakes) * (1 if more is None else 2)

    def lack(mean: float) -> float:
        owned = grown - count * np.log1p(stakes * mean)
        owned = owned if more is None else np.append(owned, more(stakes, mean))
        return chance + math.log(players) - float(np.logaddexp.reduce(owned))

    most = float(surplus.mean()) if top is None else top
    if lack(TOLERANCE * most) >= 0:
        return 0.0
    return most if lack(most) <= 0 else float(brentq(lack, TOLERANCE * most, most, xtol=1e-12 * most))


def grow(stakes: Floats, gains: Floats) -> Floats:
    """Return the logarithm of what each stake becomes if it is lost or won in proportion to all gains in turn."""
    return np.array([np.log1p(stake * gains).sum() for stake in stakes])
