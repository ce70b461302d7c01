"""Logistic regression, by Newton's method: scikit-learn's takes longer to import and to start than this to end."""

import numpy as np

from counterfold.base.arrays import Floats

LEAST = 0.02
"""No prediction is taken for nearer to a sure reward than this, before its logarithm is taken."""

STEPS, TOLERANCE = 100, 1e-10
"""Newton's steps end when they move no coefficient by more than this, and after so many."""

ROUNDING = 1e-12
"""What part of the loss rounding errors may be."""


def find_log_odds(q: Floats, low: float, high: float) -> Floats:
    """Return the log-odds of the larger of two rewards, where it is predicted; no prediction is taken for sure.

    >>> find_log_odds(np.array([0.5, 2.0]), 0.0, 1.0).round(2)
    array([0.  , 3.89])
    """
    chance = np.clip((q - low) / (high - low), LEAST, 1 - LEAST)
    return np.asarray(np.log(chance / (1 - chance)))


def fit_logistic(columns: Floats, won: Floats, counts: Floats, penalty: float) -> Floats:
    r"""Return the intercept and slopes of a logistic regression (1 + p), with a penalty on the slopes.

    $$\min_{b, \beta} \sum_i u_i \bigl(\ln(1 + e^{\eta_i}) - y_i \eta_i\bigr) + \tfrac12 \alpha \lVert \beta \rVert^2,
      \qquad \eta_i = b + \beta^\top x_i$$

    >>> fit_logistic(np.zeros((4, 1)), np.array([1.0, 0.0, 0.0, 0.0]), np.ones(4), 1.0).round(4)
    array([-1.0986,  0.    ])
    """
    from scipy.special import expit

    table, found = np.column_stack([np.ones(len(won)), columns]), np.zeros(1 + columns.shape[1])
    penalties = np.full(len(found), penalty)
    penalties[0] = 0.0

    def find_loss(some: Floats) -> float:
        score = table @ some
        return float(counts @ (np.logaddexp(0.0, score) - won * score) + penalties @ some**2 / 2)

    for _ in range(STEPS):
        chance = expit(table @ found)
        gradient = table.T @ (counts * (chance - won)) + penalties * found
        curvature = (table * (counts * chance * (1 - chance))[:, None]).T @ table + np.diag(penalties)
        step, most = np.linalg.solve(curvature, gradient), find_loss(found) * (1 + ROUNDING)
        while find_loss(found - step) > most and np.abs(step).max() > TOLERANCE:
            step /= 2
        found -= step
        if np.abs(step).max() <= TOLERANCE:
            break
    return found
