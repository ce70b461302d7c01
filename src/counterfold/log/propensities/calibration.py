"""Calibration: sharpens or softens probabilities, and mixes in how often actions are taken at all."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base.arrays import Bools, Floats, Ints

STEPS, FARTHEST = 80, 30.0
"""How many pairs of settings are tried at most, and how large their logarithms may be."""


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
    def of(cls, probs: Floats, codes: Ints, frequencies: Floats, available: Bools | None) -> Self:
        """Return the calibration under which logged actions are most likely, given predictions from other rows."""
        from scipy.optimize import minimize

        least = 1 / len(codes)

        def read(settings: Floats) -> tuple[float, float]:
            sharpness, share = np.clip(settings, -FARTHEST, FARTHEST)
            return float(np.exp(sharpness)), float(least + (1 - least) / (1 + np.exp(-share)))

        def find_loss(settings: Floats) -> float:
            return log_loss(cls(*read(settings), frequencies).apply(probs, available), codes)

        found = minimize(find_loss, np.array([0.0, -4.0]), method="Nelder-Mead", options={"maxiter": STEPS})
        return cls(*read(found.x), frequencies)

    def apply(self, probs: Floats, available: Bools | None = None) -> Floats:
        """Return calibrated probabilities (n x A), of the actions that are available."""
        mask = np.ones(probs.shape, dtype=bool) if available is None else available
        probs = np.where(mask, probs, 0.0)
        largest = probs.max(axis=1, keepdims=True)
        sharp = np.divide(probs, largest, out=mask.astype(np.float64), where=largest > 0) ** self.sharpness
        sharp, usual = np.where(mask, sharp, 0.0), np.where(mask, self.frequencies, 0.0)
        shares = (sharp / sharp.sum(axis=1, keepdims=True), usual / usual.sum(axis=1, keepdims=True))
        return np.asarray((1 - self.share) * shares[0] + self.share * shares[1])


def log_loss(probs: Floats, codes: Ints) -> float:
    """Return the mean of minus the logarithm of the logged actions' probabilities."""
    return float(-np.log(probs[np.arange(len(codes)), codes]).mean())
