"""The equations by which the authors of IPSLambda choose its parameter, and by which a paper says that they do."""

from collections.abc import Callable

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators.base import Rules

LEAST = -700.0
"""The logarithm of the smallest solution that is looked for."""


def solve_equation(weights: Floats, delta: float, rules: Rules) -> float:
    """Return the parameter by the equation of its authors, or by the one that the paper on cross-validation quotes."""
    return solve_authors_equation(weights, delta) if rules == "authors" else solve_quoted_equation(weights, delta)


def solve_authors_equation(weights: Floats, delta: float) -> float:
    """Return the parameter, which is at most n to the power of -1/4; its solution is taken as logarithms, too."""
    logs = np.log(weights[weights > 0])
    right = np.log(2 * np.log(1 / delta) / (3 * np.sqrt(len(weights))))

    def excess(log_mix: float) -> float:
        odds = log_mix + logs
        shrunk = odds - np.logaddexp(np.log1p(-np.exp(log_mix)), odds)
        return float(np.logaddexp.reduce(2 * shrunk) - np.log(len(weights)) - right)

    return float(find_root(excess) / len(weights) ** 0.25)


def solve_quoted_equation(weights: Floats, delta: float) -> float:
    """Return the parameter.

    Weights to the power s may overflow and the solution may be tiny, so everything is taken as logarithms.
    """
    power = len(weights) ** 0.25
    logs = power * np.log(np.maximum(weights, np.finfo(float).tiny))
    right = np.log(2 * np.log(1 / delta) / (3 * len(weights)))

    def excess(log_mix: float) -> float:
        mixed = np.logaddexp(np.log1p(-np.exp(log_mix)) + logs, log_mix) * (2 / power)
        return float(2 * log_mix + np.logaddexp.reduce(mixed) - np.log(len(weights)) - right)

    return find_root(excess)


def find_root(excess: Callable[[float], float]) -> float:
    """Return where the left side of an equation, 0 at 0, meets the right, or 1 if it is smaller even there."""
    from scipy.optimize import brentq

    largest = -1e-12
    return float(np.exp(brentq(excess, LEAST, largest, xtol=1e-14))) if excess(largest) > 0 else 1.0
