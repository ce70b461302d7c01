"""Whether the target is a policy that was learnt from rows of this very log."""

import math
from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement, Severity
from counterfold.evidence import Evidence
from counterfold.learnt_rows import CONTEXT, LARGEST, NEAR, SAME, LearntRows, add_hashes
from counterfold.rows import Rows

ENOUGH, SURPRISING = 10, 5.0
"""So many rows at least must be the same, and more than chance explains by so many standard deviations."""


@dataclass(frozen=True)
class Recognised:
    """How many rows there are, the sum of their hashes, and how many a policy looks at and remembers; two can be added.

    Of the `remembered` contexts the rows are the `same` so often; `expected` and `variance` are of how often they would
    be if others had been drawn in these contexts.
    """

    row_count: int
    total: int
    near: int
    remembered: int
    same: int
    expected: float
    variance: float

    @classmethod
    def of(cls, rows: Rows) -> "Recognised | None":
        """Return what a policy recognises in some rows, if the target is one that was learnt from a log."""
        if rows.recognised is None:
            return None
        hashes, kinds = rows.recognised.T
        chance = rows.propensity[kinds >= CONTEXT]
        near, remembered, same = (int((kinds >= kind).sum()) for kind in (NEAR, CONTEXT, SAME))
        by_chance = float(chance.sum()), float(chance @ (1 - chance))
        return cls(len(rows), add_hashes(hashes), near, remembered, same, *by_chance)

    def __add__(self, other: "Recognised") -> "Recognised":
        counts = self.near + other.near, self.remembered + other.remembered, self.same + other.same
        total, by_chance = (self.total + other.total) & LARGEST, self.expected + other.expected
        return Recognised(self.row_count + other.row_count, total, *counts, by_chance, self.variance + other.variance)

    def find_share(self, known: LearntRows) -> float:
        """Return the share of the rows that the policy was learnt from; 0 unless there are more than by chance."""
        if (self.row_count, self.total) == (known.row_count, known.total):
            return 1.0
        surplus = self.same - self.expected
        if self.same < ENOUGH or surplus <= SURPRISING * math.sqrt(self.variance):
            return 0.0
        share = surplus / (self.remembered - self.expected) * self.remembered / self.near
        return min(share / known.alone, 1.0)


@dataclass(frozen=True)
class KnownRows(Diagnostic):
    r"""Warn where the target was learnt from rows of this log, on which it looks better than it is.

    $$\frac{\sum_{i \in C} (s_i - p_i)}{\sum_{i \in C} (1 - p_i)} \cdot \frac{|C|}{m\, u}$$

    is the share of such rows. A policy of `learn` remembers the hashes of some rows whose context no other row had: of
    the share u of them all. $C$ are the rows here with such a context, among m whose hashes it looks at, and $s_i$ is 1
    if action and reward are the same as well, which they are with at most the propensity $p_i$ if a user came back.
    From `some` on it is a caution, from `many` on the log cannot answer. If all rows are the same, that is seen
    whatever the contexts are.
    """

    some: float = 0.05
    many: float = 0.5
    label = "known rows"
    measures = ("learnt_share",)

    def observe(self, rows: Rows) -> Recognised | None:
        return Recognised.of(rows)

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        known, found = evidence.rows.learnt_rows, evidence.observed.get(self.name)
        if known is None or found is None:
            return None
        share = found.find_share(known)
        text = f"the policy was learnt from {share:.0%} of these rows" if share else "the policy knows no row of these"
        numbers = {"learnt_share": share}
        if share < self.some:
            return Measurement(numbers, text)
        many = "these very rows" if share == 1 else f"about {share:.0%} of these rows"
        problem = f"the target was learnt from {many}, and looks better on them than it is"
        remedy = "take the evaluation that `learn` made of it, or rows that came later"
        severity: Severity = "not answerable" if share >= self.many else "caution"
        return Measurement(numbers, text, [self.make_finding(severity, problem, remedy)])
