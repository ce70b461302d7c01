"""A weighted mean of estimators, for selectors that aggregate instead of choosing."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Floats
from counterfold.estimators.base import Estimator
from counterfold.rows import Need, Rows

SHOWN, LEAST = 3, 0.005
"""How many members a name lists at most, and the least share that it does."""


@dataclass(frozen=True)
class Mixture(Estimator):
    r"""A weighted mean of several estimators' contributions, $v_i = \sum_j \alpha_j v_{ij}$.

    >>> from counterfold.estimators.dm import DM
    >>> from counterfold.estimators.ips import IPS
    >>> Mixture((IPS(), DM()), (0.25, 0.75)).name
    '0.75 DM + 0.25 IPS'
    """

    members: tuple[Estimator, ...]
    shares: tuple[float, ...]

    def contributions(self, rows: Rows) -> Floats:
        return np.asarray(np.sum([share * one.contributions(rows) for one, share in self.used], axis=0))

    def totals(self, sums_of: Callable[[Estimator], Floats], sizes: Floats) -> Floats:
        return np.asarray(sum(share * one.totals(sums_of, sizes) for one, share in self.used))

    def uses(self, need: Need) -> bool:
        return any(one.uses(need) for one, _ in self.used)

    @property
    def used(self) -> list[tuple[Estimator, float]]:
        """Return the members that have a share, and their shares."""
        return [(one, share) for one, share in zip(self.members, self.shares, strict=True) if share]

    @property
    def name(self) -> str:
        ranked = sorted(zip(self.shares, self.members, strict=True), key=lambda pair: -pair[0])
        large = [f"{share:.2g} {one.name}" for share, one in ranked if share >= LEAST]
        return " + ".join(large[:SHOWN]) + (" + ..." if len(large) > SHOWN else "")
