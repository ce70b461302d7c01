"""Whether rows are there several times, as after a join that multiplied them."""

import math
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from counterfold.arrays import Bools, Floats, Ints
from counterfold.diagnostics.base import Answer, Diagnostic, Finding, Least, Measurement, Severity
from counterfold.evidence import Evidence
from counterfold.hashing import hash_rows
from counterfold.rows import Rows

KEPT = 512
"""How many different rows, and how many different contexts, are kept: those with the least hashes."""

DAY = 86_400e6
"""How many microseconds a day has."""

ALIKE = 16
"""Contexts that more rows share say nothing of a row, and are not compared."""

ENOUGH, DIFFERENT = 30, 20
"""At least so many contexts are compared, and so many different rows must be there, to say anything."""

SURPRISING = 5.0
"""How many standard errors the share of equal rows must be above what propensities explain."""


class Excess(NamedTuple):
    """How much more often rows of one context are equal than propensities explain, and in which share of all rows."""

    share: float
    errors: float
    rows: float


@dataclass(frozen=True, eq=False)
class Copies:
    """How often some of the different rows, and some of the different contexts, are there; two can be added.

    `context`, `row` and `propensity` tell of each row whose context is among those that are kept, unless too many rows
    share it: the hash of its context, its own hash, and its propensity.
    """

    rows: Least
    contexts: Least
    context: Ints
    row: Ints
    propensity: Floats

    @classmethod
    def of(cls, rows: Rows) -> "Copies":
        """Return what must be known of some rows."""
        columns = [*rows.examples.context.T, *rows.logging_probs.T]
        if tells_hours(rows):
            columns.append(rows.times)
        context = hash_rows(columns) if columns else np.zeros(len(rows), dtype=np.intp)
        details = [rows.rewards, rows.propensity, rows.actions, *rows.examples.doses.T]
        row = hash_rows([context, *details])
        every = cls(Least.of(row, KEPT), Least.of(context, KEPT), context, row, rows.propensity)
        return every.keep(context <= every.contexts.numbers[-1])

    def __add__(self, other: "Copies") -> "Copies":
        context, row = np.concatenate([self.context, other.context]), np.concatenate([self.row, other.row])
        propensity = np.concatenate([self.propensity, other.propensity])
        both = Copies(self.rows + other.rows, self.contexts + other.contexts, context, row, propensity)
        return both.keep(context <= both.contexts.numbers[-1])

    def keep(self, known: Bools) -> "Copies":
        """Return the same, with only some of the rows, and none of contexts that too many rows share."""
        places = np.searchsorted(self.contexts.numbers, self.context[known])
        some = np.flatnonzero(known)[self.contexts.counts[places] <= ALIKE]
        return Copies(self.rows, self.contexts, self.context[some], self.row[some], self.propensity[some])

    @property
    def times(self) -> int:
        """Return how often every row is there: the largest number by which all counts can be divided."""
        return 1 if len(self.rows) < DIFFERENT else reduce(math.gcd, self.rows.counts.tolist())

    @property
    def repeated_share(self) -> float:
        """Return the share of rows that are the same as another one before them."""
        return 1 - len(self.rows) / int(self.rows.counts.sum())

    @property
    def excess(self) -> Excess:
        r"""Return how much more often rows of one context are equal than if their actions had been drawn.

        Two rows of one context have the same action with probability $\sum_a \pi_0(a)^2$, which is the mean of their
        propensities, and are equal at most as often.
        """
        _, where, sizes = np.unique(self.context, return_inverse=True, return_counts=True)
        _, first, counts = np.unique(self.row, return_index=True, return_counts=True)
        equal = np.bincount(where[first], counts * (counts - 1.0), len(sizes)) / 2
        chance = np.bincount(where, self.propensity, len(sizes)) / sizes
        several = sizes > 1
        if several.sum() < ENOUGH:
            return Excess(0.0, 0.0, 0.0)
        pairs = sizes[several] * (sizes[several] - 1) / 2
        apart, expected = float((equal[several] / pairs - chance[several]).mean()), float(chance[several].mean())
        error = math.sqrt(expected * (1 - min(expected, 1 - 1e-12)) / several.sum())
        share = max(apart, 0.0) / max(1 - expected, 1e-12)
        return Excess(share, apart / error, share * float(sizes[several].sum()) / int(self.contexts.counts.sum()))


@dataclass(frozen=True)
class RepeatedRows(Diagnostic):
    """Warn where rows are there several times, because error bars take copies for different decisions.

    Rows are equal if their contexts, actions, rewards and propensities are. Of a log with few contexts and
    rewards many rows are equal by chance. So copies are seen where every row is there the same number of times; or
    where rows of one context are equal more often than their propensities explain, in at least `some` of the rows (a
    note) or `many` of them. Where times are known to the hour, equal rows have the same time as well; without them
    nobody can tell copies within a group from decisions that are alike.
    """

    some: float = 0.01
    many: float = 0.2
    label = "repeated rows"
    measures = ("repeated_share", "row_copies", "repeated_excess")

    def observe(self, rows: Rows) -> Copies:
        return Copies.of(rows)

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement:
        copies: Copies = evidence.observed[self.name]
        times, excess = copies.times, copies.excess
        numbers = {"repeated_share": copies.repeated_share, "row_copies": times, "repeated_excess": excess.rows}
        text = f"{copies.repeated_share:.2%} of the rows are the same as another one"
        finding: Finding | None = None
        if times > 1:
            finding = self.describe("caution", f"every row is there {times} times")
        elif excess.errors > SURPRISING and excess.rows >= self.some:
            severity: Severity = "caution" if excess.rows >= self.many else "note"
            finding = self.describe(severity, f"about {excess.rows:.0%} of the rows are there more than once")
        is_known = evidence.contents.groups is None or tells_hours(evidence.rows)
        return Measurement(numbers, text, [finding] if finding and is_known else [])

    def describe(self, severity: Severity, how_often: str) -> Finding:
        """Return what is wrong."""
        problem = f"{how_often}, and each counts as a decision of its own, in the answer and in its error"
        remedy = "remove the copies, which a join may have made, or name the user's column as `group` if they are real"
        return self.make_finding(severity, problem, remedy)


def tells_hours(rows: Rows) -> bool:
    """Say whether rows have times that tell more than the day."""
    return rows.times is not None and rows.has_days and bool((rows.times % DAY != 0).any())
