"""How likely a sum of residuals is to be that far from 0, where few rows may carry most of it."""

import numpy as np

from counterfold.base.arrays import Floats

TOLERANCE = 0.003
"""Logged probabilities may be wrong by this share of themselves: rounding alone is no mistake, however long the log."""


def tame(deviations: Floats, variances: Floats, largest: Floats) -> Floats:
    r"""Return by how many standard deviations sums deviate from 0, fewer where one of their terms may be large.

    $$x^2 = 2 m \big((1 + u) \log(1 + u) - u\big), \quad u = b |T| / V, \quad m = V / b^2$$

    This is the exponent of Bennett's inequality for terms of at most $b$, so that rare actions, whose counts are like
    Poisson's, are not alarming; with many rows it is $|T| / \sqrt V$.

    >>> tame(np.array([4.0, 40.0]), np.array([1.0, 100.0]), np.array([1.0, 1.0])).round(2)
    array([2.85, 3.77])
    """
    known, most = np.maximum(variances, 1e-300), np.maximum(largest, 1e-9)
    effective = known / most**2
    ratio = np.abs(deviations) * most / known
    return np.asarray(np.sqrt(np.maximum(2 * effective * ((1 + ratio) * np.log1p(ratio) - ratio), 0.0)))


def tame_excess(sums: Floats, squares: Floats) -> Floats:
    r"""Return by how many standard deviations sums of terms above -1 exceed 0, whatever the tail of the terms.

    $$x^2 = 2 \big(S - Q \log(1 + S / Q)\big)$$

    $S$ is the sum and $Q$ that of squares. $\exp(\lambda S + (\lambda + \log(1 - \lambda)) Q)$ is at most 1 on average
    for every $\lambda$ (Fan, Grama, Liu, 2015, "Exponential inequalities for martingales with applications"); the best
    $\lambda$ gives the formula.

    >>> tame_excess(np.array([4.0, 40.0, -3.0]), np.array([1.0, 100.0, 1.0])).round(2)
    array([2.19, 3.56, 0.  ])
    """
    known, above = np.maximum(squares, 1e-300), np.maximum(sums, 0.0)
    return np.asarray(np.sqrt(np.maximum(2 * (above - known * np.log1p(above / known)), 0.0)))
