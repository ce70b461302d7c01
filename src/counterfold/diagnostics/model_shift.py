"""Whether the reward model says the same of rows that it was not fitted on."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from counterfold.diagnostics.base import ROUNDING, Answer, Diagnostic, Finding, Measurement
from counterfold.estimators.estimates import STILL, Estimate
from counterfold.evidence.evidence import Evidence


@dataclass(frozen=True)
class ModelShift(Diagnostic):
    """Warn if the answer, or the validator that chose it, changes when the reward model predicts only new rows.

    New rows are those that the model was not fitted on. An estimate changes if it moves by more than `large` standard
    errors, or if its error grows by more than the factor `stretch`. The model then flatters itself; a cross-fitted one,
    such as the default, cannot.
    """

    large: float = 1.0
    stretch: float = 1.5
    label = "reward model"
    measures = {
        "model_shift": "How many standard errors the answer moves when the reward model predicts only held-out rows.",
    }
    needs_answer = True

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        if answer is None:
            return None
        findings, shift = [], None
        for what, inside, outside in self.compare(evidence, answer):
            noise = max(inside.stderr, ROUNDING * max(abs(inside.value), abs(outside.value)))
            moved = (outside.value - inside.value) / noise if noise else 0.0
            shift = moved if what == "the answer" else shift
            if abs(moved) > self.large or outside.stderr > self.stretch * noise:
                findings.append(self.describe(what, inside, outside))
        if shift is None and not findings:
            return None
        text = None if shift is None else f"out of sample it moves the answer by {shift:+.2f} standard errors"
        return Measurement({"model_shift": shift}, text, findings)

    def compare(self, evidence: Evidence, answer: Answer) -> Iterator[tuple[str, Estimate, Estimate]]:
        """Yield the answer and its validator, in sample and out of sample, where they depend on a fitted model."""
        shown = replace(answer.estimate, moves=STILL, bias_variance=0.0, added_variance=0.0)
        several = {answer.estimator: ("the answer", shown)}
        one = answer.validator
        if one is not None and one not in several:
            several[one] = f"the validator {one.name}", evidence.estimate(one.name, one)
        for estimator, (what, inside) in several.items():
            outside = evidence.estimate_out_of_sample(inside, estimator) if estimator.uses("model") else None
            if outside is not None:
                yield what, inside, outside

    def describe(self, what: str, inside: Estimate, outside: Estimate) -> Finding:
        """Return what is wrong."""
        before, after = (f"{one.value:.4g} ± {one.stderr:.2g}" for one in (inside, outside))
        when = "when the reward model predicts only rows it was not fitted on"
        remedy = "use a cross-fitted reward model, such as the default"
        return self.make_finding("caution", f"{what} moves from {before} to {after} {when}", remedy)
