"""How much of the target the log could never have tried."""

from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence import SOME_UNSUPPORTED, Evidence


@dataclass(frozen=True)
class MissingSupport(Diagnostic):
    r"""Warn where `some` of the target's probability is on actions that the log could never take, refuse at `too_much`.

    $$\frac1n \sum_i \sum_a \pi(a \mid x_i)\, 1[\pi_0(a \mid x_i) = 0]$$

    This is known where the full logging policy or an availability mask is given; with propensities alone, an action
    counts as unsupported if it was never logged at all. A dose counts as unsupported if it is outside the range of the
    logged ones by more than the bandwidth.
    """

    some: float = SOME_UNSUPPORTED
    too_much: float = 0.1
    label = "without support"
    measures = ("unsupported_rows", "unsupported_mass")

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement:
        known, mass = evidence.unsupported, evidence.unsupported_mass
        if known is None:
            return Measurement({}, "unknown: the target's probabilities are known for the logged actions alone")
        numbers = {"unsupported_rows": known.row_count, "unsupported_mass": mass}
        text = f"{known.row_count} rows, {mass:.2%} of the target's probability"
        lacking = "actions that the log could never take"
        if evidence.rows.bandwidth is not None:
            text = f"{text}; weights are smoothed over doses within {evidence.rows.bandwidth:.3g}"
            lacking = "doses farther outside the logged ones than the bandwidth"
        if mass < self.some:
            return Measurement(numbers, text)
        problem = f"{mass:.2%} of the target's probability is on {lacking}"
        remedy = "let the target keep to what the log could do, or let the log explore those first"
        finding = self.make_finding("not answerable" if mass >= self.too_much else "caution", problem, remedy)
        return Measurement(numbers, text, [finding])
