"""Whether each action was taken as often as all probabilities say, and as often as they say where they are large."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import special

from counterfold.base.arrays import Floats, Ints
from counterfold.log.assignment.base import PropensityTest, Suspicion, Tested
from counterfold.log.assignment.features import FeatureRange
from counterfold.log.assignment.tails import TOLERANCE, tame
from counterfold.log.log import Log


@dataclass(frozen=True, eq=False)
class FrequencySums:
    r"""Sums over rows for every action (2 x A, 3 x A), in which $e_{ia} = 1[a_i = a] - p_{ia}$.

    `residuals` are $e p^{k/2}$ and `variances` are $p (1 - p) p^{k/2}$ for $k$ = 0, 1, 2; `taken` counts rows, and
    `ends` are those of $\sqrt p$.
    """

    taken: Floats
    residuals: Floats
    variances: Floats
    ends: FeatureRange

    def __add__(self, other: "FrequencySums") -> "FrequencySums":
        residuals, variances = self.residuals + other.residuals, self.variances + other.variances
        return FrequencySums(self.taken + other.taken, residuals, variances, self.ends + other.ends)


@dataclass(frozen=True, eq=False)
class FrequencyTest(PropensityTest[FrequencySums]):
    r"""Tests $\sum_i e_{ia}$ of every action, and $\sum_i e_{ia} (\sqrt{p_{ia}} - c_a)$, which is uncorrelated with it.

    The second sum is far from 0 where columns of probabilities were swapped or belong to other rows. The worst action
    decides (Bonferroni); counts of rare actions have the tail of Poisson's distribution.
    """

    labels: tuple[str, ...]
    are_exact: bool

    @classmethod
    def of(cls, first: Log) -> Self:
        """Return the test for a log with such first rows; where probabilities are noisy, only how often is tested."""
        return cls(tuple(map(str, first.actions)), first.precision is None)

    def sum_rows(self, log: Log, place: Ints | slice, features: Floats, probs: Floats) -> FrequencySums:
        action = log.action[place]
        root, number = np.sqrt(probs), probs.shape[1]
        taken = np.bincount(action, minlength=number).astype(np.float64)
        logged = np.bincount(action, root[np.arange(len(root)), action], number)
        variance = probs * (1 - probs)
        sums = [taken - probs.sum(axis=0), logged - (probs * root).sum(axis=0)]
        variances = [variance.sum(axis=0), (variance * root).sum(axis=0), (variance * probs).sum(axis=0)]
        return FrequencySums(taken, np.stack(sums), np.stack(variances), FeatureRange.of(root))

    def test(self, sums: FrequencySums, design_effect: float) -> Tested:
        (level, slope), (once, cross, twice) = sums.residuals, np.maximum(sums.variances, 1e-300)
        expected = sums.taken - level
        apart = np.sign(level) * np.maximum(np.abs(level) - TOLERANCE * expected, 0.0)
        ones = np.ones(len(level))
        scores = np.where(apart > 0, tame(apart, once, ones), np.abs(apart) / np.sqrt(once))
        centre = cross / once
        spread = twice - centre * cross
        steep = np.maximum(
            np.abs(slope - centre * level) - TOLERANCE * np.sqrt(np.maximum(expected * spread, 0.0)), 0.0
        )
        largest = np.maximum(sums.ends.high - centre, centre - sums.ends.low)
        slopes = np.where(spread > 1e-9 * twice, tame(steep, spread, largest), 0.0)  # where probabilities vary

        def suspect(found: Floats, what: str) -> Suspicion:
            worst = int(np.argmax(found))
            score = found[worst] / np.sqrt(design_effect)
            p = min(1.0, 2 * len(found) * float(special.ndtr(-score)))
            rows = f"in {sums.taken.sum():.0f} rows, where {expected[worst]:.4g} are expected"
            times = f"{sums.taken[worst]:.0f} times {rows}"
            return Suspicion(p, what.format(action=self.labels[worst], times=times))

        where = "action `{action}` was taken too often, or not often enough, where its probability is large"
        often = suspect(scores, "action `{action}` was taken {times}")
        return Tested([often, suspect(slopes, where)] if self.are_exact else [often])
