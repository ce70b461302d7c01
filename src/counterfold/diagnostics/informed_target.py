"""Whether the target knows which action was logged, as if it had looked at what came of the decision."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from counterfold.base.arrays import Floats, row_sums
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.log.assignment.tails import TOLERANCE, tame


@dataclass(frozen=True, eq=False)
class Agreement:
    """Sums over decisions (2) of the target's probability of the logged action, and of the square of that.

    `apart` are these less their means under the logging policy, `expected` those means, and `variances` the variances.
    """

    apart: Floats
    expected: Floats
    variances: Floats

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(
            apart=self.apart + other.apart,
            expected=self.expected + other.expected,
            variances=self.variances + other.variances,
        )


@dataclass(frozen=True)
class InformedTarget(Diagnostic):
    r"""Warn where the target's probabilities depend on the logged action, though only chance chose that one.

    $$\sum_i \Big(\pi(a_i \mid x_i)^k - \sum_a \pi_0(a \mid x_i) \pi(a \mid x_i)^k\Big), \quad k = 1, 2$$

    is near 0 whatever the target is, if it knows no more than the logging policy did; its variance follows from the
    probabilities, and Bennett's inequality allows for rare terms that are large. The smaller of the two p-values
    counts, twice; below `alarm` it is a caution, unless tests of the logged propensities have a p-value below
    `doubtful`, which is the better explanation then, or rows belong to groups. It needs all probabilities of both
    policies.
    """

    alarm: float = 0.001
    doubtful: float = 0.01
    label = "what the target knows"
    measures = {
        "informed_target_p": (
            "The p-value of the dependence of the target's probabilities on the logged action, if there is none."
        ),
    }

    def observe(self, rows: Rows) -> Agreement | None:
        if rows.kind == "doses" or not (rows.has("target_probs") and rows.has("logging_probs")):
            return None
        counts = np.ones(len(rows)) if rows.counts is None else rows.counts
        logged = rows.weights * rows.propensity
        squares = rows.target_probs**2
        means = [row_sums(rows.logging_probs, power) for power in (rows.target_probs, squares, squares**2)]
        apart, expected, variances = [], [], []
        for drawn, mean, square in ((logged, means[0], means[1]), (logged**2, means[1], means[2])):
            apart.append(counts @ (drawn - mean))
            expected.append(counts @ mean)
            variances.append(counts**2 @ np.maximum(square - mean**2, 0.0))
        return Agreement(apart=np.array(apart), expected=np.array(expected), variances=np.array(variances))

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        found: Agreement | None = evidence.observed.get(self.name)
        if found is None or evidence.contents.fitted is not None or evidence.rows.precision is not None:
            return None
        apart = np.maximum(np.abs(found.apart) - TOLERANCE * found.expected, 0.0)
        scores = np.where(apart > 0, tame(apart, found.variances, np.ones(2)), 0.0)
        p = min(1.0, 2 * 2 * float(ndtr(-scores.max())))
        mean = float(found.expected[0] + found.apart[0]) / evidence.decision_count
        expected = float(found.expected[0]) / evidence.decision_count
        text = f"its mean probability of the logged action is {mean:.4g}, and {expected:.4g} is expected (p = {p:.2g})"
        general = None if evidence.balance is None else evidence.balance.general
        is_doubtful = general is not None and general.p < self.doubtful
        is_grouped = evidence.contents.groups is not None
        # Where several policies logged, probabilities are those of their mixture, which drew no row by itself.
        is_mixed = evidence.balance is not None and evidence.balance.loggers is not None
        if (
            p >= self.alarm or is_doubtful or is_grouped or is_mixed or not evidence.total_weight
        ):  # without weight nothing is said
            return Measurement({"informed_target_p": p}, text)
        problem = f"the target knows which actions were logged: {text}"
        remedy = (
            "make the target of what was known before each decision alone, and not of rewards or of policies that were "
            "trained on these rows"
        )
        return Measurement({"informed_target_p": p}, text, [self.make_finding("caution", problem, remedy)])
