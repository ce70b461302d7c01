"""How much hangs on a single row."""

from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Largest, Measurement
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence


@dataclass(frozen=True)
class LargestWeight(Diagnostic):
    r"""Warn where one row has a `large_share` of all weight, as the estimate then hangs on its reward.

    $$\max_i w_i \Big/ \sum_i w_i$$
    """

    large_share: float = 0.1
    label = "largest weight"
    measures = {
        "largest_weight": "The largest weight of a row.",
        "largest_share": "The share of the largest weight in the sum of all weights.",
    }

    def observe(self, rows: Rows) -> Largest:
        return Largest(float(rows.masses.max()))

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement:
        largest, total = evidence.observed[self.name].value, evidence.total_weight
        share = largest / total if total else 1.0
        numbers = {"largest_weight": largest, "largest_share": share}
        text = f"a row counts up to {largest:.4g} times, and has {share:.2%} of all weight"
        if not total or share < self.large_share:
            return Measurement(numbers, text)
        remedy = "look at that row's propensity, and log more rows of what the target prefers"
        finding = self.make_finding("caution", f"one row has {share:.0%} of all weight", remedy)
        return Measurement(numbers, text, [finding])
