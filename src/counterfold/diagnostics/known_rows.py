"""Whether the target is a policy that was learnt from rows of this very log."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement, Severity
from counterfold.evidence import Evidence
from counterfold.learnt_rows import CONTEXT, NEAR, SAME, LearntRows, add_hashes
from counterfold.rows import Rows

SURPRISING = 1e-6
"""How unlikely it must be that so many rows are the same by chance."""

ENOUGH, INTACT, PARTS = 10, 0.75, 16
"""So many contexts must be remembered to tell parts of a log; and a log is the same if this share of at least so many
sums is."""


@dataclass(frozen=True, eq=False)
class Recognised:
    """How many rows there are, sums of their hashes, and how many a policy looks at and remembers; two can be added.

    Of `near` rows that it looks at, so many have a `remembered` context, and so many are the `same` as those.
    """

    row_count: int
    row_sums: NDArray[np.uint64]
    decision_sums: NDArray[np.uint64]
    near: int
    remembered: int
    same: int

    @classmethod
    def of(cls, rows: Rows) -> "Recognised | None":
        """Return what a policy recognises in some rows, if the target is one that was learnt from a log."""
        if rows.recognised is None:
            return None
        hashes, decisions, kinds = rows.recognised.T
        near, remembered, same = (int((kinds >= kind).sum()) for kind in (NEAR, CONTEXT, SAME))
        return cls(len(rows), add_hashes(hashes), add_hashes(decisions), near, remembered, same)

    def __add__(self, other: "Recognised") -> "Recognised":
        sums = self.row_sums + other.row_sums, self.decision_sums + other.decision_sums
        counts = self.near + other.near, self.remembered + other.remembered, self.same + other.same
        return Recognised(self.row_count + other.row_count, *sums, *counts)

    def find_share(self, known: LearntRows) -> float | None:
        """Return the share of the rows that the policy was learnt from; nothing if too few contexts tell."""
        is_whole = self.row_count == known.row_count and bool((self.row_sums == known.row_sums).all())
        if is_whole or are_alike(self.row_sums, known.row_sums):
            return 1.0
        if len(known.contexts) < ENOUGH:
            return None
        chance = (1 + known.agreement) / 2
        if self.same == 0 or bdtrc(self.same - 1, self.remembered, chance) > SURPRISING:
            return 0.0
        share = (self.same / self.remembered - chance) / (1 - chance)
        return float(min(share * self.remembered / (self.near * known.alone), 1.0))


def are_alike(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> bool:
    """Say whether enough sums over parts of two logs are the same."""
    there = (one > 0) | (other > 0)
    return bool(there.sum() >= PARTS and (one == other)[there].mean() >= INTACT)


@dataclass(frozen=True)
class KnownRows(Diagnostic):
    r"""Warn where the target was learnt from rows of this log, on which it looks better than it is.

    $$\frac{\bar s - c}{1 - c} \cdot \frac{k}{m\, u}, \qquad c = \frac{1 + \sum_r \rho_r^2}{2}$$

    is the share of such rows. A policy of `learn` remembers the hashes of some rows whose context no other row had: of
    the share u of them all. Of m rows whose hashes it looks at, k have such a context, and a share $\bar s$ of these is
    the same, action and reward included. Users who come back, and are treated as before, have the same reward with less
    than the chance c, where $\rho_r$ is the share of rows with reward r. From `some` on it is a caution, from `many`
    on the log cannot answer. If nearly all rows are the same, that is seen by sums over them, whatever the contexts
    are; if only their rewards are others, it is a caution.
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
        if share is None:
            return Measurement({"learnt_share": None}, "its contexts are too few to tell whether rows are known")
        if share < self.many and are_alike(found.decision_sums, known.decision_sums):
            problem = "the target was learnt from these very decisions, if with other rewards, and may look too good"
            return self.describe("caution", share, problem)
        if share < self.some:
            return Measurement({"learnt_share": share}, "the policy was learnt from none of these rows, or from few")
        many = "these very rows" if share == 1 else f"about {share:.0%} of these rows"
        problem = f"the target was learnt from {many}, and looks better on them than it is"
        return self.describe("not answerable" if share >= self.many else "caution", share, problem)

    def describe(self, severity: Severity, share: float, problem: str) -> Measurement:
        """Return what is wrong."""
        remedy = "take the evaluation that `learn` made of it, or rows that came later"
        finding = self.make_finding(severity, problem, remedy)
        return Measurement({"learnt_share": share}, problem, [finding])
