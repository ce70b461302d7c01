"""The normal interval, wider where the error itself is uncertain."""

from dataclasses import dataclass

from counterfold.base import validation
from counterfold.intervals.base import Bounds, Interval, Units, student_quantile


@dataclass(frozen=True)
class StudentT(Interval):
    r"""Like normal, but with Student's t, whose degrees of freedom are few where the estimate hangs on few rows.

    $$\bar v \pm t_{\nu, (1 + \text{level}) / 2}\, \hat\sigma / \sqrt n, \qquad
      \nu = \frac1c \frac{(\sum_i d_i^2)^2}{\sum_i d_i^4}, \qquad d_i = v_i - \bar v$$

    The fraction is the effective number of squares in the variance: a third of the rows for normal contributions, 1
    where one row has all of it. Where tails are heavy, the largest deviations are mostly those that did not happen, and
    it is too large; so it is divided by `doubt` c, whose default was chosen on the development logs of the benchmark of
    selection. There is at least 1 degree of freedom.

    Student (1908), "The probable error of a mean".

    >>> import counterfold as cf
    >>> low, high = cf.Estimate("IPS", cf.IPS().contributions(cf.example_rows())).interval(0.9, cf.StudentT())
    >>> round(low, 3), round(high, 3)
    (-3.094, 5.594)
    """

    doubt: float = 1.5

    def __post_init__(self) -> None:
        validation.at_least(1, doubt=self.doubt)

    def bounds(self, units: Units, level: float) -> Bounds:
        if units.constant or len(units) < 2:
            return Bounds(units.value, units.value)
        reach = student_quantile(level, max(1.0, units.freedom / self.doubt)) * units.stderr
        return Bounds(units.value - reach, units.value + reach)
