"""Choosing: how much larger an error is because the rows that value contenders choose among them, too."""

from dataclasses import replace

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.evaluation.result import Evaluation
from counterfold.learning.screening import NORMAL_QUANTILE

DRAWS = 1 << 13
"""How many logs are drawn."""

TAIL = 0.975
"""The probability of the quantile that is compared with that of a normal variable."""

CLEAR = 2.8
"""Two contenders earn the same in drawn logs, unless they are so many standard errors of their difference apart.

Of 2, 3, 5 and 8 independent contenders without any gain, 4.4, 6.2, 9.0 and 10.2 % beat the log if nothing is done,
3.1, 3.3, 3.8 and 3.4 % with 2 standard errors, and 2.9, 2.8, 3.0 and 2.8 % with 2.8 (2,500 draws of normal fold sums).
"""


def measure_choosing(differences: Floats, units: Ints, counts: Floats | None, fold: Ints, winner: int) -> float:
    r"""Return how many times as large the error of the folds' policies is, because the other folds choose for each.

    The value is right on average, because no row takes part in its own choice. But folds agree too often: a contender
    that was lucky in most rows is chosen for all of them, and its value is that of the luckiest. So the value is
    farther from the truth than rows that are independent of the choice would be.

    The `differences` (n x contenders) are what contenders earn more than the log in each row, by policies that did not
    learn from it; `winner` is the column of the one that all rows choose. Logs are drawn in which contenders earn the
    same unless they clearly do not. The sums $S_{kc}$ of the differences in a fold are normal, with the covariances of
    the contenders. Every fold takes the contender $c(k)$ with the largest lower bound in the others, and the result is

    $$q_{0.975}\Big(\sum_k S_{k c(k)} \Big/ \sqrt{\textstyle\sum_k \operatorname{Var} S_{k c(k)}}\Big) \Big/ 1.96$$

    or 1 if that is more.
    """
    n_rows, n_contenders = differences.shape
    if n_contenders == 1:
        return 1.0
    counts = np.ones(n_rows) if counts is None else counts
    means = np.average(differences, axis=0, weights=counts)
    covariance = find_covariance(differences - means, counts, units)
    gaps = find_clear_gaps(means, covariance, winner)

    _, places = np.unique(fold, return_inverse=True)
    shares = np.bincount(places, weights=counts) / counts.sum()
    other_shares = 1 - shares[:, None]
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = np.random.default_rng(0).standard_normal((DRAWS, len(shares), n_contenders))
    sums = draws @ root.T * np.sqrt(shares)[:, None]
    others = (sums.sum(axis=1, keepdims=True) - sums) / other_shares
    variances = covariance.diagonal()
    bounds = others - gaps - NORMAL_QUANTILE * np.sqrt(variances / other_shares)
    chosen = bounds.argmax(axis=2)
    totals = np.take_along_axis(sums, chosen[:, :, None], axis=2).sum(axis=(1, 2))
    stderrs = np.sqrt(variances[chosen] @ shares)
    standardised = totals / np.where(stderrs > 0, stderrs, 1.0)
    return max(1.0, float(np.quantile(standardised, TAIL)) / NORMAL_QUANTILE)


def find_covariance(deviations: Floats, counts: Floats, units: Ints) -> Floats:
    """Return the covariances of the mean deviations; rows of one unit count as one observation."""
    _, places = np.unique(units, return_inverse=True)
    sums = np.column_stack([np.bincount(places, weights=counts * column) for column in deviations.T])
    return np.asarray(sums.T @ sums / counts.sum() ** 2)


def find_clear_gaps(means: Floats, covariance: Floats, winner: int) -> Floats:
    """Return how much less than the winner each contender earns, 0 where that is not clear."""
    gaps = means[winner] - means
    variances = covariance.diagonal()
    squared_errors = variances + variances[winner] - 2 * covariance[winner]
    is_clear = np.square(gaps) > CLEAR**2 * squared_errors
    return np.where(is_clear, gaps, 0.0)


def include_choosing(valued: Evaluation, choosing: float) -> Evaluation:
    """Return an evaluation whose difference to the log has an error that many times as large."""
    variance = (choosing**2 - 1) * valued.uplift().stderr ** 2
    return replace(valued, estimate=valued.estimate.add_doubt(variance, beyond=(0.0, 0.0)))
