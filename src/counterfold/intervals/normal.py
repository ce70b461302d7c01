"""The normal interval."""

from dataclasses import dataclass

from counterfold.intervals.base import Bounds, Interval, Units, normal_quantile


@dataclass(frozen=True)
class Normal(Interval):
    r"""The value and so many standard errors to both sides as hold a normal variable with that probability.

    $$\bar v \pm z_{(1 + \text{level}) / 2}\, \hat\sigma / \sqrt n$$

    Right for many rows; too narrow, and wrong about which side is uncertain, where few large weights dominate.

    Owen (2013), "Monte Carlo theory, methods and examples".

    >>> import counterfold as cf
    >>> low, high = cf.Estimate("IPS", cf.IPS().contributions(cf.example_rows())).interval(0.9, cf.Normal())
    >>> round(low, 3), round(high, 3)
    (-0.307, 2.807)
    """

    def bounds(self, units: Units, level: float) -> Bounds:
        reach = normal_quantile(level) * units.stderr
        return Bounds(units.value - reach, units.value + reach)
