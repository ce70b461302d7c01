"""The kernel by which doses near each other stand for each other."""

import numpy as np

from counterfold.base.arrays import Floats

RULE_OF_THUMB = 2.34
"""Of the Epanechnikov kernel: nearly the best bandwidth for a normal density, in units of its spread."""


def smooth_density(logged: Floats, wanted: Floats, bandwidth: float) -> Floats:
    r"""Return the density of the wanted doses (n x m), smoothed, at the logged one of each row.

    $$K_h(t_i - d_i) = \frac1m \sum_j \frac1h\, \tfrac34 \bigl(1 - u_{ij}^2\bigr)_+,
      \qquad u_{ij} = (t_{ij} - d_i) / h$$

    >>> smooth_density(np.array([0.0, 1.0]), np.array([[0.0], [3.0]]), 2.0)
    array([0.375, 0.   ])
    """
    steps = (wanted - logged[:, None]) / bandwidth
    return np.asarray(0.75 * np.maximum(1 - steps**2, 0.0).mean(axis=1) / bandwidth)


def choose_bandwidth(doses: Floats) -> float:
    """Return the bandwidth that, by a rule of thumb, suits the spread and the number of the doses."""
    return float(RULE_OF_THUMB * doses.std() * len(doses) ** -0.2)
