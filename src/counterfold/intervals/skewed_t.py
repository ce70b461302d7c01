"""Student's interval, which reaches farther to the side where rare large contributions may be missing."""

from dataclasses import dataclass

import numpy as np

from counterfold import checks
from counterfold.intervals.base import Bounds, Interval, Units, normal_quantile, student_quantile


@dataclass(frozen=True)
class SkewedT(Interval):
    r"""The means that are not too far away by Student's t, if the variance changes with the mean as skewness says.

    $$\left\{ \mu : (\mu - \bar v)^2 \le t^2 \hat\sigma^2 / n + z^2 \kappa\, (\mu - \bar v) \right\} =
      \bar v + \frac{z^2 \kappa}{2} \pm \sqrt{t^2 \frac{\hat\sigma^2}{n} + \frac{z^4 \kappa^2}{4}}, \qquad
      \kappa = \frac{\sum_i d_i^3}{n \sum_i d_i^2}$$

    with $d_i = v_i - \bar v$, the quantile t of `StudentT` with its degrees of freedom and its `doubt`, and the normal
    quantile z. A log that happens to lack its rare large rewards has a low value and a small error at once; so a higher
    mean is judged by the larger error that it would have. For 0 and 1 this is nearly Wilson's interval. In an
    evaluation $\kappa$ is that of contributions or that of the log's rewards over its effective rows, whichever is
    larger in size, since the rows of the target may be few.

    Wilson (1927), "Probable inference, the law of succession, and statistical inference"; Hall (1992), "On the removal
    of skewness by transformation".

    >>> import counterfold as cf
    >>> low, high = cf.Estimate("IPS", cf.IPS().contributions(cf.example_rows())).interval(0.9, cf.SkewedT())
    >>> round(low, 3), round(high, 3)
    (-2.596, 6.157)
    """

    doubt: float = 1.5

    def __post_init__(self) -> None:
        checks.at_least(1, doubt=self.doubt)

    def bounds(self, units: Units, level: float) -> Bounds:
        if units.constant or len(units) < 2:
            return Bounds(units.value, units.value)
        reach = student_quantile(level, max(1.0, units.freedom / self.doubt)) * units.stderr
        shift = normal_quantile(level) ** 2 * units.slope / 2
        half = float(np.hypot(reach, shift))
        return Bounds(units.value + shift - half, units.value + shift + half)
