"""Differences of segments drawn towards that of the whole log, as far as noise alone may have made them differ."""

from collections.abc import Sequence

import numpy as np

from counterfold.arrays import Floats
from counterfold.estimates import Estimate

TAUS = np.concatenate([[0.0], np.geomspace(0.01, 1000.0, 128)])
"""By how much segments may truly differ (a standard deviation), in `USUAL` standard deviations of the rewards."""

USUAL = 0.1
"""How many standard deviations of the rewards the differences of segments usually vary by: half of a Cauchy's scale."""


def pool_differences(gaps: Sequence[Estimate], whole: Estimate, usual: float) -> list[tuple[float, float]]:
    r"""Return differences drawn towards that of the whole log, each with its standard error.

    $$\tilde d_s = \mathbb E_\tau \left[ \frac{\tau^2 d_s + \sigma_s^2 d}{\tau^2 + \sigma_s^2} \right]$$

    where the true differences vary around $d$ with a standard deviation $\tau$ that has half a Cauchy distribution
    before the segments are seen, times the likelihood $\prod_s N(d_s; d, \tau^2 + \sigma_s^2)$ after. $\sigma_s$ is the
    noise alone: with what may be left of a bias, segments would seem to differ less than their errors allow. The error
    holds what is left of the segment's noise, all that may be left of its bias, which others may have in common, what
    is not known of $\tau$, and the error of the whole.
    """
    noise = np.array([max(one.shown_variance, one.moves.variance) for one in gaps])
    biases = np.array([one.stderr**2 for one in gaps]) - noise
    known = np.isfinite(biases)
    apart = np.where(known, np.array([one.value for one in gaps]) - whole.value, 0.0)
    taus = np.square(TAUS * usual)[:, None]
    total = taus + noise
    there = known & (total > 0)
    safe = np.where(there, total, 1.0)
    chances = weigh_taus(-np.where(there, np.log(safe) + np.square(apart) / safe, 0.0).sum(axis=1) / 2)
    own = np.where(known, np.where(there, taus / safe, 1.0), 0.0)
    left = np.where(known, own * noise + np.where(known, biases, 0.0), taus)
    pooled = chances @ (own * apart)
    spread = chances @ (left + np.square(own * apart - pooled) + np.square((1 - own) * whole.stderr))
    return list(zip((whole.value + pooled).tolist(), np.sqrt(spread).tolist(), strict=True))


def weigh_taus(likelihoods: Floats) -> Floats:
    """Return the probability of each of the standard deviations, by the logarithms of their likelihoods."""
    widths = np.gradient(TAUS)
    logs = likelihoods + np.log(widths / (1 + np.square(TAUS)))
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum())
