"""Differences of segments drawn towards that of the whole log, as far as noise alone may have made them differ."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators.estimates import Estimate

TAUS = np.concatenate([[0.0], np.geomspace(0.01, 1000.0, 128)])
"""By how much segments may truly differ (a standard deviation), in `USUAL` standard deviations of the rewards."""

USUAL = 0.1
"""How many standard deviations of the rewards the differences of segments usually vary by: half of a Cauchy's scale."""


FARTHEST = 1.0
"""How many standard errors of its own a difference is drawn at most."""


class Pooled(NamedTuple):
    """A difference that is drawn towards that of the whole log, and its interval."""

    value: float
    low: float
    high: float


def pool_differences(gaps: Sequence[Estimate], whole: Estimate, usual: float) -> list[Pooled]:
    """Return differences drawn towards that of the whole log, each with an interval that covers it for itself.

    `draw_together` says how far, but a difference is drawn by one standard error of its own at most (limited
    translation). So a segment that truly differs from all others loses little of its difference.

    The interval is that of `draw_together`, and at least as long to each side as the segment's own one-sided interval.
    Where segments are alike, the first one would do. The second one covers the truth of any segment, however far it
    is from the others.

    Efron, Morris (1972), "Limiting the risk of Bayes and empirical Bayes estimators".
    """
    level = whole.level
    reach = NormalDist().inv_cdf((1 + level) / 2)
    one_sided = max(2 * level - 1, level / 2)
    found = []
    for gap, (value, error) in zip(gaps, draw_together(gaps, whole, usual), strict=True):
        low, high = value - reach * error, value + reach * error
        if not math.isfinite(gap.stderr):
            found.append(Pooled(value, low, high))
            continue
        own = gap.interval(one_sided)
        most = FARTHEST * gap.stderr
        limited = min(max(value, gap.value - most), gap.value + most)
        found.append(Pooled(limited, min(low, own.low), max(high, own.high)))
    return found


def draw_together(gaps: Sequence[Estimate], whole: Estimate, usual: float) -> list[tuple[float, float]]:
    r"""Return differences drawn towards that of the whole log, each with its standard error.

    $$\tilde d_s = \mathbb E_\tau \left[ \frac{\tau^2 d_s + \sigma_s^2 d}{\tau^2 + \sigma_s^2} \right]$$

    where the true differences vary around $d$ with a standard deviation $\tau$ that has half a Cauchy distribution
    before the segments are seen, times the likelihood $\prod_s N(d_s; d, \tau^2 + \sigma_s^2)$ after. $\sigma_s$ is
    the standard error. The error of the result holds what is left of the segment's own, what is not known of $\tau$,
    and the error of the whole.
    """
    errors = np.array([one.stderr for one in gaps])
    known = np.isfinite(errors)
    noise = np.where(known, np.square(errors), 0.0)
    apart = np.where(known, np.array([one.value for one in gaps]) - whole.value, 0.0)
    taus = np.square(TAUS * usual)[:, None]
    total = taus + noise
    there = known & (total > 0)
    safe = np.where(there, total, 1.0)
    chances = weigh_taus(-np.where(there, np.log(safe) + np.square(apart) / safe, 0.0).sum(axis=1) / 2)
    own = np.where(known, np.where(there, taus / safe, 1.0), 0.0)
    left = np.where(known, own * noise, taus)
    pooled = chances @ (own * apart)
    spread = chances @ (left + np.square(own * apart - pooled) + np.square((1 - own) * whole.stderr))
    return list(zip((whole.value + pooled).tolist(), np.sqrt(spread).tolist(), strict=True))


def weigh_taus(likelihoods: Floats) -> Floats:
    """Return the probability of each of the standard deviations, by the logarithms of their likelihoods."""
    widths = np.gradient(TAUS)
    logs = likelihoods + np.log(widths / (1 + np.square(TAUS)))
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum())
