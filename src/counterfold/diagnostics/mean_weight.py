"""Whether weights are 1 on average, as right ones are."""

import math
from dataclasses import dataclass

from scipy.special import stdtr

from counterfold.base.arrays import Floats
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence

TOLERANCE = 1e-9
"""How far a mean weight may be from the expected one without a test, since weights have rounding errors."""


@dataclass(frozen=True)
class Weight(Estimator):
    """The mean of the weights, as if every reward were 1."""

    kinds = ("labels", "doses")

    def contributions(self, rows: Rows) -> Floats:
        return rows.weights


@dataclass(frozen=True)
class MeanWeight(Diagnostic):
    r"""Warn where the mean weight is not 1, less the probability of what lacks support, by a two-sided normal test.

    $$z = \frac{\bar w - (1 - m)}{\hat\sigma_{\bar w}}$$

    A p-value below `surprising` says that the propensities or the target's probabilities are not what was used; or,
    where the mean is below 1 and few rows are effective, that the rare rows with large weights happen to be missing.
    Where rows belong to groups, the test is Student's: the error that two groups show may be nearly 0 by chance. Where
    one decision was made for several rows at once, the error allows for it.
    """

    surprising: float = 0.001
    label = "mean weight"
    measures = {
        "mean_weight": "The mean weight, which should be 1.",
        "mean_weight_p": "The p-value of the difference between the mean weight and its expected value.",
    }

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement:
        mean, expected = evidence.total_weight / evidence.decision_count, 1 - evidence.unsupported_mass
        weight = evidence.mean_weight
        gap = abs(weight.value - expected)
        alike = 1.0 if evidence.balance is None else evidence.balance.design_effect
        error = math.hypot(weight.stderr * math.sqrt(alike), math.sqrt(evidence.find_propensity_variance(Weight())))
        far = gap / error if error else math.inf
        freedom = math.inf if evidence.contents.groups is None else evidence.contents.groups - 1
        p = 1.0 if gap <= TOLERANCE else 2 * float(stdtr(freedom, -far))
        numbers, text = (
            {"mean_weight": mean, "mean_weight_p": p},
            f"{mean:.4f}, and {expected:.4g} is expected (p = {p:.2g})",
        )
        is_fitted = (
            evidence.contents.fitted is not None
        )  # then weights are 1 on average only as far as the fit is right
        if not evidence.total_weight or p >= self.surprising or is_fitted:
            return Measurement(numbers, text)
        remedy = "check that the propensities are those that the actions were drawn with"
        if not evidence.rows.target_probs.shape[1]:  # known of the logged actions alone, from one column of numbers
            remedy += ", and that the target's numbers are its probabilities of the logged actions"
        if evidence.rows.bandwidth is not None:
            remedy = "check the densities, and that the target's doses lie well within the logged ones"
        problem = f"the mean weight is {mean:.3g} where {expected:.3g} is expected (p = {p:.1g})"
        return Measurement(numbers, text, [self.make_finding("caution", problem, remedy)])
