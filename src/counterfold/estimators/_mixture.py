"""A weighted mean of estimators, for selectors that aggregate instead of choosing."""

from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Floats
from counterfold.estimators.base import Estimator
from counterfold.rows import Part, Rows

SHOWN, LEAST = 3, 0.005
"""How many parts a name lists at most, and the least share that it does."""


@dataclass(frozen=True)
class Mixture(Estimator):
    r"""A weighted mean of several estimators' contributions, $v_i = \sum_j \alpha_j v_{ij}$.

    >>> from counterfold.estimators.dm import DM
    >>> from counterfold.estimators.ips import IPS
    >>> Mixture((IPS(), DM()), (0.25, 0.75)).name
    '0.75 DM + 0.25 IPS'
    """

    parts: tuple[Estimator, ...]
    shares: tuple[float, ...]

    def contributions(self, rows: Rows) -> Floats:
        """Return the weighted mean."""
        used = [(part, share) for part, share in zip(self.parts, self.shares, strict=True) if share]
        return np.asarray(np.sum([share * part.contributions(rows) for part, share in used], axis=0))

    def uses(self, part: Part) -> bool:
        """Say whether any of the parts does."""
        return any(one.uses(part) for one, share in zip(self.parts, self.shares, strict=True) if share)

    @property
    def name(self) -> str:
        """Return the largest shares."""
        ranked = sorted(zip(self.shares, self.parts, strict=True), key=lambda pair: -pair[0])
        large = [f"{share:.2g} {part.name}" for share, part in ranked if share >= LEAST]
        return " + ".join(large[:SHOWN]) + (" + ..." if len(large) > SHOWN else "")
