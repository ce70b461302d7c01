"""The equation by which the authors of IPSLambda choose its parameter."""

import numpy as np

from counterfold.arrays import Floats


def solve_parameter(weights: Floats, delta: float) -> float:
    """Return the parameter that solves the equation, or 1 if its left side is smaller than the right even there.

    The left side is 0 at 0. Weights to the power s may overflow and the solution may be tiny, so everything is taken
    as logarithms.
    """
    from scipy.optimize import brentq

    power = len(weights) ** 0.25
    logs = power * np.log(np.maximum(weights, np.finfo(float).tiny))
    right = np.log(2 * np.log(1 / delta) / (3 * len(weights)))

    def excess(log_mix: float) -> float:
        mixed = np.logaddexp(np.log1p(-np.exp(log_mix)) + logs, log_mix) * (2 / power)
        return float(2 * log_mix + np.logaddexp.reduce(mixed) - np.log(len(weights)) - right)

    largest = -1e-12
    return float(np.exp(brentq(excess, -700.0, largest, xtol=1e-14))) if excess(largest) > 0 else 1.0
