"""Student's interval, which reaches farther to the side where rare large contributions may be missing."""

import math
from dataclasses import dataclass

from counterfold.base import validation
from counterfold.intervals.base import Bounds, Interval, Units, normal_quantile, student_quantile


@dataclass(frozen=True)
class SkewedT(Interval):
    r"""The means that are not too far away by Student's t, if the variance changes with the mean as skewness says.

    $$\left\{ \mu : (\mu - \bar v)^2 \le t^2 \hat\sigma^2 / n + z^2 \kappa\, (\mu - \bar v) \right\} =
      \bar v + \frac{z^2 \kappa}{2} \pm \sqrt{t^2 \frac{\hat\sigma^2}{n} + \frac{z^4 \kappa^2}{4}}, \qquad
      \kappa = \frac{\sum_i d_i^3}{n \sum_i d_i^2}$$

    with $d_i = v_i - \bar v$, the quantile t of `StudentT` with its degrees of freedom and a `doubt` of its own, and
    the normal quantile z. A log that happens to lack its rare large rewards has a low value and a small error at once;
    so a higher mean is judged by the larger error that it would have. For 0 and 1 this is nearly Wilson's interval. The
    rows of a target may be few; so in an evaluation there is a second interval, with the $\kappa$ of the log's rewards
    over its effective rows, and the answer holds both. An error that includes what units do not show takes the place of
    $\hat\sigma / \sqrt n$.

    Wilson (1927), "Probable inference, the law of succession, and statistical inference"; Hall (1992), "On the removal
    of skewness by transformation".

    >>> import counterfold as cf
    >>> low, high = cf.Estimate("IPS", cf.IPS().contributions(cf.example_rows())).interval(0.9, cf.SkewedT())
    >>> round(low, 3), round(high, 3)
    (-1.654, 5.216)
    """

    doubt: float = 1.2

    def __post_init__(self) -> None:
        validation.at_least(1, doubt=self.doubt)

    def bounds(self, units: Units, level: float) -> Bounds:
        return self.around(units, level, units.stderr)

    def around(self, units: Units, level: float, stderr: float) -> Bounds:
        quantile, slopes = normal_quantile(level), [] if units.known_slope is None else [units.known_slope]
        if units.constant or len(units) < 2:
            reach, slopes = quantile * stderr if stderr > units.stderr else 0.0, [0.0]
        else:
            reach = student_quantile(level, max(1.0, units.freedom / self.doubt)) * max(stderr, units.stderr)
            slopes.append(units.slope)
        shifts = [quantile**2 * slope / 2 for slope in slopes]
        low, high = (
            min(one - math.hypot(reach, one) for one in shifts),
            max(one + math.hypot(reach, one) for one in shifts),
        )
        return Bounds(units.value + low, units.value + high)
