"""Effective rows: how many equally weighted rows would be as informative as the log."""

from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence import FEW_ROWS, TOO_FEW_ROWS, Evidence


@dataclass(frozen=True)
class EffectiveRows(Diagnostic):
    r"""Warn where the log is worth only a `few` rows for the target, and refuse where it is worth `too_few`.

    $$n_{\text{eff}} = \frac{(\sum_i w_i)^2}{\sum_i w_i^2}$$

    Kish (1965), "Survey sampling".
    """

    few: float = FEW_ROWS
    too_few: float = TOO_FEW_ROWS
    label = "effective rows"
    measures = ("effective_rows",)
    is_always_shown = True

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement:
        effective = evidence.effective_rows
        share = effective / evidence.row_count
        text = (
            f"{effective:.1f} of {evidence.row_count} ({share:.1%}): as informative as so many decisions of the target"
        )
        if effective >= self.few:
            return Measurement({"effective_rows": effective}, text)
        problem = f"the log is worth only {effective:.3g} rows for this target"
        remedy = "log more rows, explore more of what the target prefers, or ask about a target nearer to the log"
        if effective == 0:
            bandwidth = evidence.rows.bandwidth
            problem = "the target never takes a logged action"
            if bandwidth is not None:
                problem = f"no logged dose is within {bandwidth:.3g} of the target's"
            remedy = "check that the target names actions as the log does, or log some of what it would do"
        finding = self.make_finding("not answerable" if effective < self.too_few else "caution", problem, remedy)
        return Measurement({"effective_rows": effective}, text, [finding])
