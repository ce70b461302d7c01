"""Whether the reward model says the same of rows that it was not fitted on."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from counterfold.diagnostics.base import ROUNDING, Answer, Diagnostic, Finding, Measurement
from counterfold.estimates import Estimate
from counterfold.estimators.base import Estimator
from counterfold.evidence import Evidence


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
    measures = ("model_shift",)
    needs_answer = True

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        if answer is None:
            return None
        findings, shift = [], None
        for what, inside, outside in self.compare(evidence, answer):
            moved = self.shift(inside, outside)
            shift = moved if what == "the answer" else shift
            if abs(moved) > self.large or outside.stderr > self.stretch * self.noise(inside, outside):
                findings.append(self.describe(what, inside, outside))
        if shift is None and not findings:
            return None
        text = None if shift is None else f"out of sample it moves the answer by {shift:+.2f} standard errors"
        return Measurement({"model_shift": shift}, text, findings)

    def compare(self, evidence: Evidence, answer: Answer) -> Iterator[tuple[str, Estimate, Estimate]]:
        """Yield the answer and its validator, in sample and out of sample, where they depend on a fitted model."""
        several: dict[Estimator, str] = {answer.estimator: "the answer"}
        if answer.validator is not None:
            several.setdefault(answer.validator, f"the validator {answer.validator.name}")
        for one, what in several.items():
            if not one.uses("model"):
                continue
            is_answer = one == answer.estimator
            inside = replace(answer.estimate, refit_stderr=0.0) if is_answer else evidence.estimate(one.name, one)
            outside = evidence.estimate_out_of_sample(inside, one)
            if outside is not None:
                yield what, inside, outside

    def shift(self, inside: Estimate, outside: Estimate) -> float:
        """Return how far an estimate moves out of sample, in standard errors."""
        noise = self.noise(inside, outside)
        return (outside.value - inside.value) / noise if noise else 0.0

    def noise(self, inside: Estimate, outside: Estimate) -> float:
        """Return the standard error in sample, or what rounding alone may do."""
        return max(inside.stderr, ROUNDING * max(abs(inside.value), abs(outside.value)))

    def describe(self, what: str, inside: Estimate, outside: Estimate) -> Finding:
        """Return what is wrong."""
        return self.make_finding(
            "caution",
            f"{what} moves from {inside.value:.4g} ± {inside.stderr:.2g} to {outside.value:.4g} ± {outside.stderr:.2g} "
            "when the reward model predicts only rows it was not fitted on: use a cross-fitted one",
            "use a cross-fitted reward model, such as the default",
        )
