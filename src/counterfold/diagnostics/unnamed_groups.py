"""Whether rows of the same user or session go together, though nobody named these as groups."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from counterfold.arrays import Floats, Ints
from counterfold.diagnostics.base import Answer, Diagnostic, Finding, Least, Measurement
from counterfold.evidence import Evidence
from counterfold.history import Terms
from counterfold.messages import quote
from counterfold.rows import Rows

BUCKETS = 1 << 10
"""Rows are summed by so many buckets of users; one more is for rows of nobody."""

KEPT = 256
"""So many users, those with the least hashes, tell how many rows one has."""


class Effect(NamedTuple):
    """By how much the variance of a value is larger than if rows had nothing to do with each other, and a p-value."""

    column: str
    rows_of_one: float
    size: float
    p: float


@dataclass(frozen=True, eq=False)
class UserSums:
    """Sums of a, b, a², ab and b² of `Terms` over users in buckets (5 x buckets); two can be added.

    `users` are some of the users, and how many rows each has.
    """

    sums: Floats
    users: Least

    @classmethod
    def of(cls, terms: Terms, users: Ints, counts: Floats | None) -> "UserSums":
        """Return the sums of some rows, each of which stands for so many decisions."""
        a, b = (one if counts is None else counts * one for one in (terms.a, terms.b))
        bucket = np.where(users < 0, BUCKETS, users % BUCKETS)
        sums = [np.bincount(bucket, one, BUCKETS + 1) for one in (a, b, a * a, a * b, b * b)]
        return cls(np.stack(sums), Least.of(users[users >= 0], KEPT))

    def __add__(self, other: "UserSums") -> "UserSums":
        return UserSums(self.sums + other.sums, self.users + other.users)

    def solve(self, column: str) -> Effect:
        r"""Return how far rows of one user go together, by $e_i = a_i - \hat V b_i$, whose sum is 0.

        $$1 + \sum_u \Big(\big(\sum_{i \in u} e_i\big)^2 - \sum_{i \in u} e_i^2\Big) \Big/ \sum_i e_i^2$$

        Buckets of several users add nothing to it on average. If rows had nothing to do with each other, the square of
        a bucket's sum would be its $\sum e_i^2$ times a chi-square of one degree of freedom; the p-value is that of the
        chi-square which varies as their sum does (Satterthwaite).
        """
        a, b, aa, ab, bb = self.sums
        value = a.sum() / b.sum()
        total, squares = a - value * b, np.maximum(aa - 2 * value * ab + value**2 * bb, 0.0)
        known, every = float(squares[:-1].sum()), float(squares.sum())
        rows_of_one = float(self.users.counts.mean()) if len(self.users) > 1 else 1.0
        if not known:
            return Effect(column, rows_of_one, 1.0, 1.0)
        ratio = float((total[:-1] ** 2).sum()) / known
        freedom = 1 / float(((squares[:-1] / known) ** 2).sum())
        return Effect(column, rows_of_one, 1 + (ratio - 1) * known / every, float(chdtrc(freedom, freedom * ratio)))


@dataclass(frozen=True, eq=False)
class Users:
    """The sums of each column that is called like users or sessions; two can be added."""

    columns: tuple[UserSums, ...]

    def __add__(self, other: "Users") -> "Users":
        return Users(tuple(one + two for one, two in zip(self.columns, other.columns, strict=True)))


@dataclass(frozen=True)
class UnnamedGroups(Diagnostic):
    """Warn where a column is called like users or sessions, is not named as `group`, and its rows go together.

    Errors count every row as an observation then, and are too small by the root of the design effect. It is a caution
    from a design effect of `large` on, with a p-value below `surprising`; and a note where users come back, but this
    cannot be told, unless they hardly ever do: values are in less than `repeated` rows on average.
    """

    large: float = 1.25
    surprising: float = 0.001
    repeated: float = 1.05
    label = "unnamed groups"
    measures = ("design_effect", "design_effect_p")

    def observe(self, rows: Rows) -> Users | None:
        if rows.identifiers is None:
            return None
        terms = Terms.of(rows)
        return Users(tuple(UserSums.of(terms, users, rows.counts) for users in rows.identifiers.T))

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        found: Users | None = evidence.observed.get(self.name)
        if found is None or not evidence.total_weight:
            return None
        effects = [one.solve(name) for name, one in zip(evidence.contents.identifiers, found.columns, strict=True)]
        worst = max(effects, key=lambda one: (self.is_large(one), one.rows_of_one >= self.repeated, one.size))
        times = f"{worst.size:.3g} times the variance"
        text = f"rows of one `{worst.column}` give {times} of as many others (p = {worst.p:.2g})"
        finding = self.describe(worst, evidence.row_count)
        numbers = {"design_effect": worst.size, "design_effect_p": worst.p}
        return Measurement(numbers, text, [] if finding is None else [finding])

    def is_large(self, effect: Effect) -> bool:
        """Say whether rows go together so much that errors are too small."""
        return effect.size >= self.large and effect.p < self.surprising

    def describe(self, effect: Effect, rows: int) -> Finding | None:
        """Return what is wrong, or good to know."""
        name, way = effect.column, f"name it as `group` (--group {quote(effect.column)})"
        if self.is_large(effect):
            worth = f"the {rows:,} rows tell only as much as {rows / effect.size:,.0f} independent ones"
            small = f"errors are {effect.size**0.5:.1f} times too small"
            problem = f"rows of the same `{name}` go together, so that {worth}, and {small}"
            return self.make_finding("caution", problem, f"{way}, so that each counts as one observation")
        if effect.rows_of_one < self.repeated:
            return None
        problem = (
            f"values of `{name}` are in {effect.rows_of_one:.1f} rows on average, which do not go together visibly"
        )
        return self.make_finding("note", problem, f"{way} if these are users or sessions, to be sure")
