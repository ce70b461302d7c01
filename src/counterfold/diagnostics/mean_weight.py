"""Whether weights are 1 on average, as right ones are."""

import math
from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.estimates import Estimate
from counterfold.evidence import Evidence

TOLERANCE = 1e-9
"""How far a mean weight may be from the expected one without a test, since weights have rounding errors."""


@dataclass(frozen=True)
class MeanWeight(Diagnostic):
    r"""Warn where the mean weight is not 1, less the probability of what lacks support, by a two-sided normal test.

    $$z = \frac{\bar w - (1 - m)}{\hat\sigma_{\bar w}}$$

    A p-value below `surprising` says that the propensities or the target's probabilities are not what was used; or,
    where the mean is below 1 and few rows are effective, that the rare rows with large weights happen to be missing.
    """

    surprising: float = 0.001
    label = "mean weight"
    measures = ("mean_weight", "mean_weight_p")

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement:
        mean, expected = evidence.total_weight / evidence.row_count, 1 - evidence.unsupported_mass
        p = self.test(evidence.mean_weight, expected)
        numbers, text = {"mean_weight": mean, "mean_weight_p": p}, f"{mean:.4f}, expected {expected:.4g} (p = {p:.2g})"
        if not evidence.total_weight or p >= self.surprising:
            return Measurement(numbers, text)
        suspects = "the propensities"
        if evidence.rows.bandwidth is not None:
            suspects = "the densities, and that the target's doses lie well within the logged ones"
        odd = f"the mean weight is {mean:.3g} where {expected:.3g} is expected (p = {p:.1g})"
        remedy = f"check {suspects}: they must be those that the actions were drawn with"
        return Measurement(numbers, text, [self.make_finding("caution", f"{odd}: check {suspects}", remedy)])

    @staticmethod
    def test(mean: Estimate, expected: float) -> float:
        """Return the two-sided p-value of the hypothesis that the weights' mean is as expected."""
        gap = abs(mean.value - expected)
        if gap <= TOLERANCE:
            return 1.0
        return math.erfc(gap / mean.stderr / math.sqrt(2)) if mean.stderr else 0.0
