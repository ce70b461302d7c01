"""Whether rows of the same user, session or cluster go together, though nobody named these as groups."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from counterfold.base.arrays import Floats, Ints
from counterfold.base.messages import quote
from counterfold.diagnostics.base import Answer, Diagnostic, Finding, Least, Measurement
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.history import Terms
from counterfold.io.schema.usual_names import CLUSTER, spell

BUCKETS = 1 << 10
"""Rows are summed by so many buckets of users; one more is for rows of nobody."""

KEPT = 256
"""So many users, those with the least hashes, tell how many rows one has."""


BINS = 32
"""Of whole numbers, so many buckets in a row are for a bin of neighbouring numbers, and there are as many bins."""


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
            return Effect(column=column, rows_of_one=rows_of_one, size=1.0, p=1.0)
        ratio = float((total[:-1] ** 2).sum()) / known
        freedom = 1 / float(((squares[:-1] / known) ** 2).sum())
        return Effect(
            column=column,
            rows_of_one=rows_of_one,
            size=1 + (ratio - 1) * known / every,
            p=float(chdtrc(freedom, freedom * ratio)),
        )


class Likeness(NamedTuple):
    """How likely chance is to make residuals as alike as they are, and how alike those of rows with the same value are.

    `covariance` is the mean product of the residuals of two such rows.
    """

    p: float
    covariance: float


@dataclass(frozen=True, eq=False)
class ResidualSums:
    """Sums of 1, e and e² of weighted residuals over the values of a column in buckets (3 x buckets); two can be added.

    Where values are numbers, the buckets of a bin of neighbouring numbers follow each other.
    """

    sums: Floats

    @classmethod
    def of(cls, residuals: Floats, values: Ints) -> "ResidualSums":
        """Return the sums of the residuals of some rows; those without a value are left out."""
        bucket = np.where(values < 0, BUCKETS, values % BUCKETS)
        lines = (np.ones(len(residuals)), residuals, residuals * residuals)
        return cls(np.stack([np.bincount(bucket, line, BUCKETS + 1)[:-1] for line in lines]))

    def __add__(self, other: "ResidualSums") -> "ResidualSums":
        return ResidualSums(self.sums + other.sums)

    def solve(self, *, in_bins: bool) -> Likeness:
        """Return how alike the residuals of rows with the same value are, within the bins or in all rows."""
        rows, totals, squares = self.sums.reshape(3, BINS if in_bins else 1, -1)
        size = np.maximum(rows.sum(axis=1, keepdims=True), 1.0)
        mean = totals.sum(axis=1, keepdims=True) / size
        apart = totals - mean * rows
        around = np.maximum(squares - 2 * mean * totals + mean**2 * rows, 0.0)
        expected = around * (1 - rows / size)
        every = float(expected.sum())
        if every <= 0:
            return Likeness(p=1.0, covariance=0.0)
        excess = float((apart**2).sum()) - every
        freedom = 1 / float(((expected / every) ** 2).sum())
        pairs = float((rows * (rows - 1) * (1 - rows / size)).sum())
        p = float(chdtrc(freedom, freedom * (1 + excess / every)))
        return Likeness(p=p, covariance=excess / pairs if pairs > 0 else 0.0)


@dataclass(frozen=True, eq=False)
class Users:
    """The sums of each column that may tell which rows belong together; two can be added.

    `residuals` are there where rewards are predicted.
    """

    columns: tuple[UserSums, ...]
    residuals: tuple[ResidualSums, ...] = ()

    def __add__(self, other: "Users") -> "Users":
        return Users(
            columns=tuple(one + two for one, two in zip(self.columns, other.columns, strict=True)),
            residuals=tuple(one + two for one, two in zip(self.residuals, other.residuals, strict=True)),
        )


@dataclass(frozen=True)
class UnnamedGroups(Diagnostic):
    """Warn where rows of one user, session or cluster go together, and nobody named the column as `group`.

    Errors count every row as an observation then, and are too small by the root of the design effect. Columns that are
    called like users or sessions are a caution from a design effect of `large` on, with a p-value below `surprising`;
    and a note where users come back, but this cannot be told, unless they hardly ever do: values are in less than
    `repeated` rows on average.

    Other columns of text or whole numbers whose values repeat may be context, whose effects on rewards are no reason to
    doubt errors. They are a caution only if decisions were made for all rows of a value, or if they are called like
    clusters, such as `village`; or if rows go together in what the reward model does not explain. Text must have too
    many values to be context, and residuals must not change slowly with a number: values in one bin of neighbouring
    numbers must be at least `unlike` times as different as all are.
    """

    large: float = 1.25
    surprising: float = 0.001
    repeated: float = 1.05
    unlike: float = 0.5
    label = "unnamed groups"
    measures = {
        "design_effect": (
            "The design effect of users or clusters that were not named as groups: how many times as large the "
            "variance is because of them."
        ),
        "design_effect_p": "The p-value of the design effect, if rows are independent.",
    }

    def observe(self, rows: Rows) -> Users | None:
        if rows.identifiers is None:
            return None
        terms = Terms.of(rows)
        residuals: tuple[ResidualSums, ...] = ()
        if rows.has("model") and rows.kind == "labels":
            weighted = rows.masses * rows.residuals
            residuals = tuple(ResidualSums.of(weighted, users) for users in rows.identifiers.T)
        return Users(
            columns=tuple(UserSums.of(terms, users, rows.counts) for users in rows.identifiers.T),
            residuals=residuals,
        )

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        found: Users | None = evidence.observed.get(self.name)
        if found is None or not evidence.total_weight:
            return None
        repeated = evidence.contents.repeated
        names = evidence.contents.identifiers
        effects = [one.solve(name) for name, one in zip(names, found.columns, strict=True)]
        clusters = []
        for place, effect in enumerate(effects):
            residuals = found.residuals[place] if found.residuals else None
            if effect.column in repeated and self.is_cluster(effect, residuals, evidence):
                clusters.append(effect)
        candidates = [effect for effect in effects if effect.column not in repeated] + clusters
        if not candidates:
            return None
        worst = max(candidates, key=lambda one: (self.is_large(one), one.rows_of_one >= self.repeated, one.size))
        times = f"{worst.size:.3g} times the variance"
        text = f"rows of one `{worst.column}` give {times} of as many others (p = {worst.p:.2g})"
        finding = self.describe(worst, evidence)
        numbers = {"design_effect": worst.size, "design_effect_p": worst.p}
        return Measurement(numbers, text, [] if finding is None else [finding])

    def is_cluster(self, effect: Effect, residuals: ResidualSums | None, evidence: Evidence) -> bool:
        """Say whether the rows of a value of this column belong together, though it may be context."""
        if effect.size < self.large:
            return False
        columns = len(evidence.contents.repeated)
        sharing = {} if evidence.balance is None else evidence.balance.sharing
        if effect.column in sharing and sharing[effect.column].is_whole:
            return True
        is_surprising = columns * effect.p < self.surprising
        is_called_so = CLUSTER.fullmatch(spell(effect.column)) is not None
        if is_called_so or residuals is None:
            return is_called_so and is_surprising
        if evidence.contents.repeated[effect.column]:
            return is_surprising and self.are_numbers_alike(residuals, columns)
        is_learned = effect.column in evidence.contents.context
        return is_surprising and not is_learned and columns * residuals.solve(in_bins=False).p < self.surprising

    def are_numbers_alike(self, residuals: ResidualSums, columns: int) -> bool:
        """Say whether residuals of rows with the same number are alike, and those of neighbouring numbers are not."""
        whole = residuals.solve(in_bins=False)
        inside = residuals.solve(in_bins=True)
        return columns * inside.p < self.surprising and inside.covariance >= self.unlike * whole.covariance

    def is_large(self, effect: Effect) -> bool:
        """Say whether rows go together so much that errors are too small."""
        return effect.size >= self.large and effect.p < self.surprising

    def describe(self, effect: Effect, evidence: Evidence) -> Finding | None:
        """Return what is wrong, or good to know."""
        name, rows = effect.column, evidence.row_count
        way = f"name it as `group` (--group {quote(effect.column)})"
        is_repeated = name in evidence.contents.repeated
        if is_repeated or self.is_large(effect):
            sharing = {} if evidence.balance is None else evidence.balance.sharing
            is_shared = name in sharing and sharing[name].is_whole
            together = "were decided together" if is_shared else "go together"
            worth = f"the {rows:,} rows tell only as much as {rows / effect.size:,.0f} independent ones"
            small = f"errors are {effect.size**0.5:.1f} times too small"
            problem = f"rows of the same `{name}` {together}, so that {worth}, and {small}"
            remedy = f"{way}, so that each counts as one observation"
            if is_repeated and evidence.contents.repeated[name] and not is_shared:
                remedy += "; if the number is the code of a category, write it as text"
            return self.make_finding("caution", problem, remedy)
        if effect.rows_of_one < self.repeated:
            return None
        problem = (
            f"values of `{name}` are in {effect.rows_of_one:.1f} rows on average, which do not go together visibly"
        )
        return self.make_finding("note", problem, f"{way} if these are users or sessions, to be sure")
