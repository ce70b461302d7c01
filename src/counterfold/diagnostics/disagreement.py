"""A second opinion, by an estimator that relies on the propensities alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from counterfold.diagnostics.base import ROUNDING, Answer, Diagnostic, Measurement
from counterfold.estimators.base import Estimator
from counterfold.estimators.kernel_dr import KernelDR
from counterfold.estimators.kernel_ips import KernelIPS
from counterfold.estimators.rows import Rows
from counterfold.estimators.snips import SNIPS
from counterfold.evidence.evidence import Evidence


@dataclass(frozen=True)
class Disagreement(Diagnostic):
    """Warn where the answer is more than `large` standard errors of the difference, and `some` of its own, from SNIPS.

    SNIPS relies on the propensities and on no reward model; it has hardly any bias where the propensities are right,
    and less variance than a validator. On a log of doses it is the kernel estimator with the rule of thumb's bandwidth.
    Where support is missing, SNIPS is biased, too, and nothing is compared.
    """

    large: float = 3.0
    some: float = 0.5
    label = "second opinion"
    measures = {
        "disagreement": (
            "The distance between the answer and a second estimator (SNIPS), in standard errors of the difference."
        ),
    }
    is_always_shown = True
    needs_answer = True

    def witnesses(self, rows: Rows) -> Sequence[Estimator]:
        if rows.bandwidth is None:
            return [SNIPS()]
        return [(KernelIPS if KernelDR.find_obstacle(rows) else KernelDR)(rows.bandwidth)]

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        if answer is None or not evidence.total_weight or evidence.lacks_support:
            return None
        [witness] = self.witnesses(evidence.rows)
        plain = evidence.estimate(witness.name, witness)
        gap = answer.estimate.as_value - plain
        far = gap.value / gap.stderr if gap.stderr > ROUNDING * abs(plain.value) else 0.0
        plainly = "SNIPS, which uses no reward model,"
        who = plainly if evidence.rows.bandwidth is None else "the kernel of these weights"
        less = f"{abs(gap.value):.2g} {'less' if gap.value > 0 else 'more'}"
        text = f"{who} says {less}, which is {abs(far):.2f} standard errors of the difference"
        if abs(gap.value) <= ROUNDING * abs(plain.value):
            text = f"none, as the answer is that of {plain.name} itself"
        if abs(far) <= self.large or abs(gap.value) < self.some * plain.stderr:  # nearly SNIPS itself
            return Measurement({"disagreement": far}, text)
        trusts = (
            "the propensities and no reward model" if evidence.rows.bandwidth is None else "doses near the target's"
        )
        opinion = f"{plain.name}, which relies on {trusts}, says {plain.value:.4g} ± {plain.stderr:.2g}"
        problem = f"{opinion}, {abs(far):.1f} standard errors of the difference away"
        remedy = (
            "check the propensities, and compare with other candidates or another model, as one of the two is biased"
        )
        return Measurement({"disagreement": far}, text, [self.make_finding("caution", problem, remedy)])
