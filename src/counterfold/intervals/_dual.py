"""The dual of empirical likelihood, by Newton's method as in Owen (2001), "Empirical likelihood"."""

import numpy as np

from counterfold.arrays import Floats

STEPS, HALVINGS = 80, 40
PRECISION = 1e-11


def log_ratio(moments: Floats, enough: float) -> tuple[float, Floats]:
    r"""Return $2 \max_\lambda \sum_i \ln(1 + \lambda^T m_i)$ of moments (k x n) that are 0 on average, and chances.

    Stops as soon as it is `enough`, and is infinite where no chances of the units make all moments 0. Below 1 / n the
    logarithm is continued by a parabola, so that no step leaves its domain and the solution stays the same.
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
