"""Whether the target is a policy that was learnt from rows of this very log."""

from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement, Severity
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.policies.training_rows import OverlapKind, RecognisedByEach


@dataclass(frozen=True)
class KnownRows(Diagnostic):
    r"""Warn where the target was learnt from rows of this log, on which it looks better than it is.

    $$\frac{k - f_c m}{(1 - f_c)\, u\, m}$$

    is the share of such rows. A policy of `learn` has marks of some rows whose context no other row had: of the share u
    of them all. Of m rows whose hashes it watches, k have a context whose mark is set, as it is by chance in a share
    $f_c$ of others. Rows with such a context are the same if practically all have the same action and reward, and more
    of them than if users had come back and been treated as before. Such users are taken to have the same reward again
    in a share of the rows that is the mean of 1 and of the chance that two rows of that log have the same reward. If
    that cannot be told, as with rare rewards, or only some are the same, it is a caution at
    most. From `some` on it is a caution, from `many` on the log cannot answer. If nearly all rows are the same, that is
    seen by sums over them, whatever the contexts are; if nearly all decisions are, with other rewards, it is a caution.
    """

    some: float = 0.05
    many: float = 0.5
    label = "known rows"
    measures = {
        "learnt_share": "The share of the rows that the target was trained on, if it is a policy of `learn`.",
    }

    def observe(self, rows: Rows) -> RecognisedByEach | None:
        return None if rows.recognised is None else RecognisedByEach.of(rows.recognised, rows.learnt_rows)

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        learnt, found = evidence.rows.learnt_rows, evidence.observed.get(self.name)
        if not learnt or found is None:
            return None
        share, kind = found.find_worst(learnt, self.many)
        if share is None:
            return Measurement({"learnt_share": None}, "too few contexts are remembered to tell whether rows are known")
        if share < self.some:
            return Measurement({"learnt_share": share}, "the policy was learnt from none of these rows, or from few")
        severity: Severity = "not answerable" if kind == "same rows" and share >= self.many else "caution"
        problem, remedy = describe_overlap(share, kind)
        finding = self.make_finding(severity, problem, remedy)
        return Measurement({"learnt_share": share}, problem, [finding])


def describe_overlap(share: float, kind: OverlapKind) -> tuple[str, str]:
    """Return what is wrong, and what to do."""
    remedy = "take the evaluation that `learn` made of it, or rows that came later"
    if kind == "same rows":
        some = "these very rows" if share == 1 else f"about {share:.0%} of these rows"
        return f"the target was learnt from {some}, and looks better on them than it is", remedy
    some = "these decisions, if not their rewards," if kind == "same decisions" else f"about {share:.0%} of these rows"
    problem = f"{some} are like those that the target was learnt from, and it may look better than it is"
    return problem, "take the evaluation that `learn` made of it, unless these rows came later and were decided alike"
