"""Whether a sharper, softer or more random policy acted than the one whose probabilities are logged."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from counterfold.base.arrays import Floats, Ints
from counterfold.log.assignment.base import PropensityTest, Suspicion, Tested
from counterfold.log.assignment.tails import TOLERANCE, tame
from counterfold.log.log import Log

SMALL = 0.1
"""Probabilities below this share of chance, 1 / A, are nearly alike: nobody knows the smallest ones that well."""


@dataclass(frozen=True, eq=False)
class SharpnessSums:
    """Sums (2) over rows of the scores of two other policies, their variances, and the largest score of any row."""

    rows: int
    scores: Floats
    variances: Floats
    largest: Floats

    def __add__(self, other: "SharpnessSums") -> "SharpnessSums":
        scores, variances = self.scores + other.scores, self.variances + other.variances
        return SharpnessSums(self.rows + other.rows, scores, variances, np.maximum(self.largest, other.largest))


@dataclass(frozen=True, eq=False)
class SharpnessTest(PropensityTest[SharpnessSums]):
    r"""Score tests of $p \propto p_0^{1 + \theta}$ and of $p = (1 - \epsilon) p_0 + \epsilon / A$.

    $$\sum_i \Big(h(p_{i a_i}) - \sum_a p_{ia} h(p_{ia})\Big), \quad h(p) = \log(p + \delta / A) \text{ or }
    1 / (A p + \delta)$$

    They find propensities of another temperature, and forgotten exploration.
    """

    def sum_rows(self, log: Log, place: Ints | slice, features: Floats, probs: Floats) -> SharpnessSums:
        rows = np.arange(len(probs))
        level = probs + SMALL / probs.shape[1]
        scores, variances, largest = [], [], []
        for one in (np.log(level), 1 / (probs.shape[1] * level)):
            mean = (probs * one).sum(axis=1, keepdims=True)
            apart = one - mean
            scores.append(apart[rows, log.action[place]].sum())
            variances.append((probs * apart**2).sum())
            largest.append(np.abs(apart, where=probs > 0, out=np.zeros_like(apart)).max())
        return SharpnessSums(len(probs), np.array(scores), np.array(variances), np.array(largest))

    def test(self, sums: SharpnessSums, design_effect: float) -> Tested:
        allowed = TOLERANCE * np.sqrt(sums.rows * sums.variances)
        apart = np.maximum(np.abs(sums.scores) - allowed, 0.0)
        known = sums.variances > 1e-9 * sums.rows
        scores = np.where(known, tame(apart, sums.variances, np.maximum(sums.largest, 1e-9)), 0.0)
        sharper, random = 2 * special.ndtr(-scores / np.sqrt(design_effect))
        more, less = ("more", "less") if sums.scores[0] > 0 else ("less", "more")
        often = "more" if sums.scores[1] > 0 else "less"
        likely = f"the actions that the logged policy prefers were taken {more} often than it says, and others {less}"
        unlikely = f"the actions were {often} often chosen at random than the logged policy says"
        return Tested([Suspicion(float(sharper), likely), Suspicion(float(random), unlikely)])
