"""Calibration: sharpens or softens probabilities, and mixes in how often actions are taken at all."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.arrays import Floats, Ints

STEPS = 80
"""How many pairs of settings are tried at most."""


@dataclass(frozen=True, eq=False)
class Calibration:
    r"""Probabilities that are as sure as they should be, by two numbers that rows outside of the fit tell.

    $$p_a = (1 - \lambda) \frac{q_a^t}{\sum_b q_b^t} + \lambda f_a$$

    where $f$ are the frequencies of the actions. $\lambda > 0$ keeps logged actions from having probability 0.

    >>> Calibration(sharpness=2.0, share=0.0, frequencies=np.array([0.5, 0.5])).apply(np.array([[0.75, 0.25]]))
    array([[0.9, 0.1]])
    """

    sharpness: float
    share: float
    frequencies: Floats

    @classmethod
    def of(cls, probs: Floats, codes: Ints) -> Self:
        """Return the calibration under which logged actions are most likely, given predictions from other rows."""
        from scipy.optimize import minimize

        frequencies = np.bincount(codes, minlength=probs.shape[1]) / len(codes)
        least = 1 / len(codes)

        def read(settings: Floats) -> tuple[float, float]:
            return float(np.exp(settings[0])), float(least + (1 - least) / (1 + np.exp(-settings[1])))

        def find_loss(settings: Floats) -> float:
            return log_loss(cls(*read(settings), frequencies).apply(probs), codes)

        found = minimize(find_loss, np.array([0.0, -4.0]), method="Nelder-Mead", options={"maxiter": STEPS})
        return cls(*read(found.x), frequencies)

    def apply(self, probs: Floats) -> Floats:
        """Return calibrated probabilities (n x A)."""
        largest = probs.max(axis=1, keepdims=True)
        sharp = np.divide(probs, largest, out=np.ones_like(probs), where=largest > 0) ** self.sharpness
        return np.asarray((1 - self.share) * sharp / sharp.sum(axis=1, keepdims=True) + self.share * self.frequencies)


def log_loss(probs: Floats, codes: Ints) -> float:
    """Return the mean of minus the logarithm of the logged actions' probabilities."""
    return float(-np.log(probs[np.arange(len(codes)), codes]).mean())
