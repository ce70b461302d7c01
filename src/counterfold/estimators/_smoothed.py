"""Estimators for doses: logged doses near the target's stand for it."""

from dataclasses import dataclass

from counterfold import checks, kernels
from counterfold.arrays import Floats
from counterfold.estimators._reweighted import Reweighted
from counterfold.estimators.base import space_geometrically
from counterfold.rows import Rows


@dataclass(frozen=True)
class Smoothed(Reweighted):
    """Weights a row by how near its dose is to the target's; tries bandwidths around the rule of thumb."""

    bandwidth: float = 1.0
    kinds = ("doses",)

    def __post_init__(self) -> None:
        checks.positive(bandwidth=self.bandwidth)

    def reweigh(self, rows: Rows) -> Floats:
        return kernels.smooth_density(rows.dose, rows.target_doses, self.bandwidth) / rows.propensity

    @classmethod
    def grid(cls, rows: Rows) -> list[float]:
        usual = kernels.choose_bandwidth(rows.dose)
        return space_geometrically(usual / 4, usual * 2, 13)
