"""The means that are likely enough under some reweighting of the rows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.intervals.base import Bounds, Interval, Units, student_quantile

SURPRISING = 0.001
"""How improbable the weights' mean may be before it is no longer taken to be 1."""

STEPS, HALVINGS = 80, 40
PRECISION = 1e-11


@dataclass(frozen=True)
class EmpiricalLikelihood(Interval):
    r"""All means that the rows could have, if not equally likely, without being much less likely than they are.

    $$\left\{ \mu : \min_p -2 \sum_i \ln(n p_i) \le c, \quad \sum_i p_i = 1, \quad \sum_i p_i v_i = \mu, \quad
      \sum_i p_i w_i = 1 \right\}$$

    less the minimum over all $\mu$. Its shape follows the rows: it reaches farther to the side of rare large
    contributions, and never beyond the outermost one. $c$ is a quantile of F with 1 and $\nu$ degrees of freedom, those
    of `StudentT`; the usual chi-square is too small where few rows dominate. That weights are 1 on average is used
    where the estimate knows `weights`, unless their mean is so far from 1 (p below 0.001) that something else is wrong;
    it narrows the interval where weights explain much of the contributions.

    Karampatziakis, Langford, Mineiro (2020), "Empirical likelihood for contextual bandits".

    >>> import counterfold as cf
    >>> ips = cf.Estimate("IPS", cf.IPS().contributions(cf.example_rows()))
    >>> low, high = ips.interval(0.9, cf.EmpiricalLikelihood())
    >>> round(low, 3), round(high, 3)
    (0.049, 3.631)
    """

    def bounds(self, units: Units, level: float) -> Bounds:
        if units.constant or len(units) < 2:
            return Bounds(units.value, units.value)
        scale = units.stderr * np.sqrt(len(units))
        deviations = (units.values - units.value) / scale
        known, least, chances = _knowledge(units.excess)
        enough = least + student_quantile(level, units.freedom) ** 2
        start = float(chances @ deviations)

        def surplus(mean: float) -> float:
            return min(log_ratio(np.vstack([deviations - mean, known]), enough)[0], enough + 1) - enough

        reach = np.sqrt((enough - least) / len(units))
        low, high = _end(surplus, start, -reach, deviations.min()), _end(surplus, start, reach, deviations.max())
        return Bounds(float(units.value + scale * low), float(units.value + scale * high))


def _knowledge(excess: Floats) -> tuple[Floats, float, Floats]:
    """Return what is 0 on average, if that is credible, the ratio it has by itself, and the chances of the units."""
    from scipy.special import chdtri

    spread = excess.std(axis=1, keepdims=True)
    known = excess[spread[:, 0] > 0] / spread[spread[:, 0] > 0]
    doubtful = float(chdtri(max(len(known), 1), SURPRISING))
    ratio, chances = log_ratio(known, doubtful)
    free = excess.shape[1] > len(known) + 1  # or else weights alone say how likely each unit is
    return (known, ratio, chances) if free and ratio < doubtful else _knowledge(excess[:0])


def _end(surplus: Callable[[float], float], start: float, step: float, limit: float) -> float:
    """Return where the surplus is 0 on the way from the start to the limit, where it is positive."""
    from scipy.optimize import brentq

    inside, outside = start, start + step
    while (limit - outside) * step > 0 and surplus(outside) < 0:
        inside, outside, step = outside, outside + step, 2 * step
    if (limit - outside) * step <= 0:
        outside = limit
        if surplus(outside) <= 0 or inside == outside:
            return outside
    return float(brentq(surplus, inside, outside, xtol=1e-9 * abs(step), rtol=1e-12))


def log_ratio(moments: Floats, enough: float) -> tuple[float, Floats]:
    r"""Return $2 \max_\lambda \sum_i \ln(1 + \lambda^T m_i)$ of moments (k x n) that are 0 on average, and chances.

    By Newton's method as in Owen (2001), "Empirical likelihood". It stops as soon as it is `enough`, and is infinite
    where no chances of the units make all moments 0. Below 1 / n the logarithm is continued by a parabola, so that no
    step leaves its domain and the solution stays the same.
    """
    slopes = np.zeros(len(moments))
    total, first, second = _logarithm(slopes @ moments)
    for _ in range(STEPS):
        gradient = moments @ first
        step = np.linalg.lstsq((moments * second) @ moments.T, gradient)[0] if len(moments) else gradient
        gain = gradient @ step
        if gain < PRECISION or 2 * total >= enough:
            return 2 * total, first / first.sum()
        for _ in range(HALVINGS):
            found = _logarithm((slopes + step) @ moments)
            if found[0] > total + 1e-4 * gain:
                break
            step, gain = step / 2, gain / 2
        else:  # rounding errors are larger than what is left to gain
            return 2 * total, first / first.sum()
        slopes, (total, first, second) = slopes + step, found
    return np.inf, first / first.sum()


def _logarithm(shifts: Floats) -> tuple[float, Floats, Floats]:
    """Return the sum of the logarithms of 1 + shifts, their derivatives, and the second ones with the sign changed."""
    count = len(shifts)
    whole = np.maximum(1 + shifts, 1 / count)
    first, total = 1 / whole, float(np.log1p(np.maximum(shifts, 1 / count - 1)).sum())
    second = np.square(first)
    left = np.flatnonzero(1 + shifts < 1 / count)
    if len(left):
        behind = 1 + shifts[left] - 1 / count
        total += float((count * behind - np.square(count * behind) / 2).sum())
        first[left] = count - count**2 * behind
    return total, first, second
