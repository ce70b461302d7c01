"""An interval that holds at any number of rows."""

import numpy as np

from counterfold.intervals.base import Bounded, Bounds, Units


class EmpiricalBernstein(Bounded):
    r"""Never covers less often than it says, at any number of rows, for contributions between `low` and `high`.

    $$\bar v \pm \left( \sqrt{\frac{2 \hat\sigma^2 \ln(2 / \delta)}{n}} + \frac{7\, (b - a) \ln(2 / \delta)}{3 (n - 1)}
      \right), \qquad \delta = \frac{1 - \text{level}}{2}, \qquad a \le v_i \le b$$

    The range must be known, not seen: for IPS it follows from the largest possible weight and reward. An end that is
    not given is the outermost contribution, and then there is no guarantee. Nor is there one for linearised
    contributions (SNIPS, SNDR), for a reward model fitted on the same rows, or for groups of unequal sizes.

    Maurer, Pontil (2009), "Empirical Bernstein bounds and sample variance penalization".

    >>> import numpy as np
    >>> import counterfold as cf
    >>> clicks = cf.Estimate("IPS", np.tile([0.0, 0.0, 1.0, 4.0], 250))
    >>> low, high = clicks.interval(0.9, cf.EmpiricalBernstein(low=0.0, high=5.0))
    >>> round(low, 3), round(high, 3)
    (1.066, 1.434)
    """

    def bounds(self, units: Units, level: float) -> Bounds:
        low, high = self.span(units)
        if len(units) < 2:
            return Bounds(low, high)
        chance = np.log(4 / (1 - level))
        reach = np.sqrt(2 * chance) * units.stderr + 7 * (high - low) * chance / (3 * (len(units) - 1))
        return Bounds(float(max(low, units.value - reach)), float(min(high, units.value + reach)))
