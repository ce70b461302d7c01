"""How much hangs on propensities that are too small for the draws or digits that they are known by."""

from dataclasses import dataclass

import numpy as np

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence


@dataclass(frozen=True)
class Doubt:
    """Sums over rows: how wrong each may be times what it counts, and the target's probability of what none drew."""

    errors: float
    unseen: float

    def __add__(self, other: "Doubt") -> "Doubt":
        return Doubt(self.errors + other.errors, self.unseen + other.unseen)


@dataclass(frozen=True)
class RoughPropensities(Diagnostic):
    r"""Warn where probabilities are counted in draws, or rounded, and too small for that.

    $$\sum_i w_i e_i \Big/ \sum_i w_i$$

    is by how much of itself the answer may be off: $e_i = (1 - p_i)^{m + 1}$ with m draws, which is what a propensity
    is overrated by on average, and $\delta / 2 p_i$ where all are rounded to multiples of $\delta$. Above `large` it is
    a caution. So is more than `unknown` of the target's probability on actions that had none in the log: these may have
    been rare, or impossible.
    """

    large: float = 0.02
    unknown: float = 0.01
    label = "precision"
    measures = {
        "rough_share": "How far the answer may be off, as a share of it, because propensities are counted or rounded.",
        "undrawn_mass": "The target's probability of actions that have probability 0 in the log for that reason.",
    }

    def observe(self, rows: Rows) -> Doubt | None:
        if rows.precision is None:
            return None
        errors = float(rows.masses @ rows.precision.find_errors(rows.propensity))
        if not (rows.has("target_probs") and rows.has("logging_probs")):
            return Doubt(errors, 0.0)
        undrawn = np.where(rows.logging_probs == 0, rows.target_probs, 0.0).sum(axis=1)
        return Doubt(errors, rows.add_up(undrawn))

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        precision = evidence.rows.precision
        if precision is None:
            return None
        doubt: Doubt = evidence.observed[self.name]
        share = doubt.errors / evidence.total_weight if evidence.total_weight else 1.0
        undrawn = doubt.unseen / evidence.decision_count
        numbers = {"rough_share": share, "undrawn_mass": undrawn}
        text = f"propensities are {precision.text}, which may move the answer by {share:.2%}"
        findings = []
        if share >= self.large:
            problem = f"the propensities are {precision.text}, which may move the answer by {share:.0%}"
            remedy = "log them with more draws or digits, or compare with a target that prefers likelier actions"
            findings.append(self.make_finding("caution", problem, remedy))
        if undrawn >= self.unknown:
            what = "actions whose probability in the log is 0, so that they are rare or impossible"
            problem = f"{undrawn:.1%} of the target's probability is on {what}"
            remedy = "name the actions that could be taken in each row (`available`), or log more draws or digits"
            findings.append(self.make_finding("caution", problem, remedy))
        return Measurement(numbers, text, findings)
