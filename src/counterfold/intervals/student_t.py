"""The normal interval, wider where the error itself is uncertain."""

from dataclasses import dataclass

from counterfold.intervals.base import Bounds, Interval, Units, student_quantile


@dataclass(frozen=True)
class StudentT(Interval):
    r"""Like normal, but with Student's t, whose degrees of freedom are few where the estimate hangs on few rows.

    $$\bar v \pm t_{\nu, (1 + \text{level}) / 2}\, \hat\sigma / \sqrt n, \qquad
      \nu = \frac{(\sum_i d_i^2)^2}{\sum_i d_i^4}, \qquad d_i = v_i - \bar v$$

    The degrees of freedom are the effective number of squares in the variance, at least 1 and less than there are rows.
    For normal contributions that is a third of the rows; where one row has all of the variance it is 1.

    Student (1908), "The probable error of a mean".

    >>> import numpy as np
    >>> import counterfold as cf
    >>> low, high = cf.Estimate("IPS", np.array([0.0, 0.0, 1.0, 4.0])).interval(0.9, cf.StudentT())
    >>> round(low, 3), round(high, 3)
    (-1.659, 4.159)
    """

    def bounds(self, units: Units, level: float) -> Bounds:
        """Return the ends, equally far from the mean."""
        if units.constant or len(units) < 2:
            return Bounds(units.value, units.value)
        reach = student_quantile(level, units.freedom) * units.stderr
        return Bounds(units.value - reach, units.value + reach)
