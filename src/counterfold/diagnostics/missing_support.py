"""How much of the target the log could never have tried."""

from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import SOME_UNSUPPORTED, TOO_MUCH_UNSUPPORTED, Evidence
from counterfold.log.support import is_certain


@dataclass(frozen=True)
class MissingSupport(Diagnostic):
    r"""Warn where `some` of the target's probability is on actions that the log could never take, refuse at `too_much`.

    $$\frac1n \sum_i \sum_a \pi(a \mid x_i)\, 1[\pi_0(a \mid x_i) = 0]$$

    This is known where the full logging policy or an availability mask is given; with propensities alone, an action
    counts as unsupported if it was never logged at all. Where the logged action had probability 1, nothing else could
    be taken, whatever else is known. A dose counts as unsupported if it is outside the range of the logged ones by more
    than the bandwidth.
    """

    some: float = SOME_UNSUPPORTED
    too_much: float = TOO_MUCH_UNSUPPORTED
    sees_target = False
    label = "support"
    measures = {
        "unsupported_rows": "Rows in which the target may take actions that the log could never take.",
        "unsupported_mass": "The target's probability of such actions.",
        "unexplored_rows": "Rows whose logged action had probability 1.",
    }
    is_always_shown = True

    def observe(self, rows: Rows) -> int | None:
        return None if rows.kind == "doses" else int(is_certain(rows.propensity, rows.precision).sum())

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement:
        known, mass, unexplored = evidence.unsupported, evidence.unsupported_mass, evidence.observed.get(self.name)
        if known is None:
            text = "unknown: the target's probabilities are known for the logged actions alone"
            return Measurement({"unexplored_rows": unexplored}, text, is_known=False)
        numbers = {"unsupported_rows": known.row_count, "unsupported_mass": mass, "unexplored_rows": unexplored}
        text = f"{mass:.2%} of what the target does, in {known.row_count} rows, could never be logged"
        text = text if mass else "everything that the target does could be logged"
        lacking = "actions that the log could never take"
        if evidence.rows.bandwidth is not None:
            text = f"{text}; weights are smoothed over doses within {evidence.rows.bandwidth:.3g}"
            lacking = "doses farther outside the logged ones than the bandwidth"
        if mass < self.some:
            return Measurement(numbers, text)
        problem = f"{mass:.2%} of the target's probability is on {lacking}"
        remedy = "let the target keep to what the log could do, or let the log explore those first"
        if unexplored:
            often = "every row" if unexplored == evidence.row_count else f"{unexplored} of {evidence.row_count} rows"
            problem += f"; in {often} the logged action had probability 1, so nothing else was ever tried there"
            remedy += "; if actions were drawn at random, log the probabilities with which they were"
        finding = self.make_finding("not answerable" if mass >= self.too_much else "caution", problem, remedy)
        return Measurement(numbers, text, [finding])
