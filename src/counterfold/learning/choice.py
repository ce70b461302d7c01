"""Choice: the contender whose difference to the log is the largest even at its lower bound, by some rows or by all."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Bools, Floats, Ints
from counterfold.estimates import Estimate


@dataclass(frozen=True, eq=False)
class Gain:
    """What a contender would have earned more than the log, from each row, and how far below the mean it may be.

    `reach` is the distance from the mean over all rows to the lower end of its interval.
    """

    contributions: Floats
    sizes: Floats
    reach: float

    @classmethod
    def of(cls, difference: Estimate) -> "Gain":
        """Return the gain that an estimated difference tells."""
        sizes = np.ones(len(difference.contributions)) if difference.sizes is None else difference.sizes
        return cls(difference.contributions, sizes, difference.value - difference.interval().low)

    def find_lower_bound(self, kept: Bools) -> float:
        r"""Return the lower bound by some of the rows; the reach grows with the root of how much fewer they are.

        $$\bar\delta_S - \sqrt{n / n_S} \, (\bar\delta - \underline\delta)$$
        """
        total, some = self.sizes.sum(), self.sizes[kept].sum()
        mean = float(self.contributions[kept] @ self.sizes[kept] / some)
        return mean - float(np.sqrt(total / some)) * self.reach


def choose_contender(gains: Mapping[str, Gain], kept: Bools) -> str:
    """Return the name of the contender with the largest lower bound by some rows, the first of equal ones."""
    return max(gains, key=lambda name: gains[name].find_lower_bound(kept))


def stitch(probs: Mapping[str, Floats], chosen: Mapping[int, str], fold: Ints) -> Floats:
    """Return the decisions (n x A) of the contender that each row's fold takes."""
    found = np.zeros_like(next(iter(probs.values())))
    for number, name in chosen.items():
        found[fold == number] = probs[name][fold == number]
    return found
