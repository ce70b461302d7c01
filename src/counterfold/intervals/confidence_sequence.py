"""An interval that holds after every row at once."""

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.intervals.base import Bounded, Bounds, Units


class ConfidenceSequence(Bounded):
    r"""Covers after every row at once, so that a growing log may be watched, and stopped, at any time.

    $$\frac{\sum_{i \le t} \lambda_i v_i}{\sum_{i \le t} \lambda_i} \pm
      \frac{\ln(2 / \alpha) + \sum_{i \le t} (v_i - \hat\mu_{i-1})^2\, (-\ln(1 - \lambda_i) - \lambda_i)}
      {\sum_{i \le t} \lambda_i}, \qquad
      \lambda_t = \min\left( \sqrt{\frac{2 \ln(2 / \alpha)}{\hat\sigma_{t-1}^2\, t \ln(1 + t)}}, \frac12 \right)$$

    for contributions scaled to [0, 1]; what is ruled out once stays so. $\hat\mu$ and $\hat\sigma^2$ are the mean and
    variance so far, with half a row at 1/2 and a quarter of variance added. As with `EmpiricalBernstein` the range must
    be known: an end that is not given is the outermost contribution, no guarantee.

    The ends depend on the order of the rows. `Estimate.interval` takes them in the order of time (`Estimate.order`,
    which comes from the log's `time`; equal times as they are in the log), and in that of the log if no time is known:
    then the log must be in the order in which decisions were made for the promise to hold on the way. `path` takes
    contributions as they come, and those of an estimate are in the order of the log; sort them by `order`.

    Waudby-Smith, Ramdas (2023), "Estimating means of bounded random variables by betting".

    >>> import numpy as np
    >>> import counterfold as cf
    >>> cf.ConfidenceSequence(low=0.0, high=1.0).path(np.tile([0.0, 1.0], 500), level=0.95)[[9, 99, 999]].round(2)
    array([[0.  , 1.  ],
           [0.32, 0.67],
           [0.44, 0.56]])
    """

    def bounds(self, units: Units, level: float) -> Bounds:
        return Bounds(*self._path(units, level)[-1].tolist())

    def path(self, contributions: Floats, level: float = 0.95) -> Floats:
        """Return the ends (n x 2) after each of the contributions, which must come in the order of time."""
        validation.inside(0, 1, level=level)
        return self._path(Units.of(contributions), level)

    def _path(self, units: Units, level: float) -> Floats:
        low, high = self.span(units)
        if high <= low:
            return np.full((len(units), 2), low)
        steps, scaled = np.arange(1, len(units) + 1), (units.values - low) / (high - low)
        means = (0.5 + scaled.cumsum()) / (steps + 1)
        variances = (0.25 + np.square(scaled - means).cumsum()) / (steps + 1)
        mean_before, variance_before = np.append(0.5, means[:-1]), np.append(0.25, variances[:-1])
        chance = np.log(2 / (1 - level))
        stakes = np.minimum(np.sqrt(2 * chance / (variance_before * steps * np.log1p(steps))), 0.5)
        noise = (np.square(scaled - mean_before) * (-np.log1p(-stakes) - stakes)).cumsum()
        total = stakes.cumsum()
        centre, reach = (stakes * scaled).cumsum() / total, (chance + noise) / total
        lows = np.maximum.accumulate(np.maximum(centre - reach, 0))
        highs = np.minimum.accumulate(np.minimum(centre + reach, 1))
        last = int(np.count_nonzero(lows <= highs)) - 1
        kept = np.clip(np.arange(len(units)), 0, last)  # where nothing is left, the mean has moved: what was left last
        return np.asarray(low + (high - low) * np.stack([lows[kept], highs[kept]], axis=1))
