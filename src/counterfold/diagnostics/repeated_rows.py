"""Whether rows are there several times, as after a join that multiplied them."""

import math
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.hashing import hash_rows
from counterfold.diagnostics.base import Answer, Diagnostic, Finding, Least, Measurement, Severity
from counterfold.estimators.rows import USUAL_SHARE, Rows
from counterfold.estimators.sums import add_known
from counterfold.evidence.evidence import Evidence
from counterfold.log.contents import Contents

KEPT = 1 << 13
"""How many different rows, and how many different contexts, are kept: those with the least hashes."""

DAY = 86_400e6
"""How many microseconds a day has."""

ALIKE = 16
"""Contexts that more rows share say nothing of a row, and are not compared."""

ENOUGH, DIFFERENT = 30, 20
"""At least so many contexts are compared, and so many different rows must be there, to say anything."""

COUNTS = "and each counts as a decision of its own, in the answer and in its error"
COUNTS_IN_VALUE = "and each counts as a decision of its own in the answer, though not in its error"
MOVES = "so that copies move the answer"

SAME_DECISION = (
    "have the context, action and propensity of another row and another reward, "
    "far more often than if their actions had been drawn"
)

JOIN = (
    "check the join that added the rewards: each decision must be in the log once, with its own reward; if these are "
    "several decisions about one user, name the user's column as `group`"
)

NOTE: Severity = "note"
CAUTION: Severity = "caution"

SURPRISING = 5.0
"""How many standard errors the share of equal rows must be above what propensities explain."""


class Excess(NamedTuple):
    """How much more often rows of one context are equal than propensities explain, in shares of all rows.

    `rows` are there more than once, and `extra` of them are copies of another one. `natural` is the share of equal rows
    that propensities explain.
    """

    errors: float = 0.0
    rows: float = 0.0
    extra: float = 0.0
    natural: float = 1.0

    def describe(self, how: str, whose: str = "the rows") -> str:
        """Say how many of some rows are copies."""
        extra = f"{self.extra:.1%} are copies of another one"
        return f"about {self.rows:.1%} of {whose} are there more than once{how} ({extra})"


class Different(NamedTuple):
    """The different rows of some contexts: the reward of each, and whether it is there more than once."""

    rewards: Floats
    are_copied: Bools

    @property
    def share(self) -> float:
        """Return the share of them that are there more than once."""
        return float(self.are_copied.mean()) if len(self.are_copied) else 0.0

    @property
    def means(self) -> tuple[float, float]:
        """Return the mean reward of those that are there more than once, and of the others."""
        return float(self.rewards[self.are_copied].mean()), float(self.rewards[~self.are_copied].mean())

    def compare(self, natural: float) -> float:
        """Return how many standard errors the rewards of repeated rows are from those of all, by their ranks.

        A share of the repeated rows may be equal by chance, which common rewards are more often than rare ones.
        """
        copied, every = int(self.are_copied.sum()), len(self.rewards)
        if not 0 < copied < every:
            return 0.0
        _, places, counts = np.unique(self.rewards, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - counts / 2) / every - 0.5  # 0 on average
        by_chance = natural * abs(float(counts**2.0 @ ranks / (counts**2.0).sum()))
        spread = float(ranks[places].std())
        apart = abs(float(ranks[places][self.are_copied].mean())) - by_chance
        return apart / (spread * math.sqrt(1 / copied - 1 / every)) if spread else 0.0


@dataclass(frozen=True, eq=False)
class Copies:
    """How often some of the different rows, and some of the different contexts, are there; two can be added.

    `context`, `row`, `propensity` and `reward` tell of each row whose context is among those that are kept, unless too
    many rows share it: the hash of its context, its own hash, its propensity and its reward.
    """

    rows: Least
    contexts: Least
    context: Ints
    row: Ints
    propensity: Floats
    reward: Floats

    @classmethod
    def of(cls, context: Ints, row: Ints, propensity: Floats, reward: Floats) -> "Copies":
        """Return what must be known of some rows."""
        return cls(Least.of(row, KEPT), Least.of(context, KEPT), context, row, propensity, reward).shorten()

    def __add__(self, other: "Copies") -> "Copies":
        context, row = np.concatenate([self.context, other.context]), np.concatenate([self.row, other.row])
        propensity = np.concatenate([self.propensity, other.propensity])
        reward = np.concatenate([self.reward, other.reward])
        return Copies(
            self.rows + other.rows, self.contexts + other.contexts, context, row, propensity, reward
        ).shorten()

    def shorten(self) -> "Copies":
        """Return the same, with only the rows of contexts that are kept, and none that too many rows share."""
        if not len(self.contexts):
            return self
        known = np.flatnonzero(self.context <= self.contexts.numbers[-1])
        places = np.searchsorted(self.contexts.numbers, self.context[known])
        some = known[self.contexts.counts[places] <= ALIKE]
        kept = self.context[some], self.row[some], self.propensity[some], self.reward[some]
        return Copies(self.rows, self.contexts, *kept)

    @property
    def times(self) -> int:
        """Return how often every row is there: the largest number by which all counts can be divided."""
        return 1 if len(self.rows) < DIFFERENT else reduce(math.gcd, self.rows.counts.tolist())

    @property
    def repeated_share(self) -> float:
        """Return the share of rows that are the same as another one before them."""
        return 1 - len(self.rows) / int(self.rows.counts.sum())

    @property
    def different(self) -> Different:
        """Return the different rows of the contexts that are kept."""
        _, first, counts = np.unique(self.row, return_index=True, return_counts=True)
        return Different(self.reward[first], counts > 1)

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
            return Excess()
        pairs = sizes[several] * (sizes[several] - 1) / 2
        apart, expected = float((equal[several] / pairs - chance[several]).mean()), float(chance[several].mean())
        error = math.sqrt(expected * (1 - min(expected, 1 - 1e-12)) / several.sum())
        share = max(apart, 0.0) / max(1 - expected, 1e-12)
        rows, every = share * float(sizes[several].sum()), int(self.contexts.counts.sum())
        natural = (1 - share) * expected / max(share + (1 - share) * expected, 1e-12)
        return Excess(apart / error, rows / every, (rows - share * float(several.sum())) / every, natural)


@dataclass(frozen=True, eq=False)
class Repeats:
    """Copies among all rows, and among those with another than the usual reward if these are rare; two can be added."""

    every: Copies
    rewarded: Copies
    decisions: Copies
    """The same where rows are equal but for their rewards."""

    @classmethod
    def of(cls, rows: Rows, *, with_times: bool) -> "Repeats":
        """Return what must be known of some rows, which are equal only if their times are if these count."""
        columns = [*rows.examples.context.T, *rows.logging_probs.T]
        if with_times and rows.times is not None:
            columns.append(rows.times)
        context = hash_rows(columns) if columns else np.zeros(len(rows), dtype=np.intp)
        logged = [rows.dose] if rows.kind == "doses" else [rows.actions]  # other doses are those of the target
        row = hash_rows([context, rows.rewards, rows.propensity, *logged])
        decision = hash_rows([context, rows.propensity, *logged])
        is_rare = np.mean((rows.whole or rows).rewards != rows.usual_reward) <= 1 - USUAL_SHARE
        some = np.flatnonzero(rows.rewards != rows.usual_reward) if is_rare else np.empty(0, dtype=np.intp)
        rewarded = Copies.of(context[some], row[some], rows.propensity[some], rows.rewards[some])
        every = Copies.of(context, row, rows.propensity, rows.rewards)
        decisions = Copies.of(context, decision, rows.propensity, rows.rewards)
        return cls(every, rewarded, decisions)

    def __add__(self, other: "Repeats") -> "Repeats":
        return Repeats(
            every=self.every + other.every,
            rewarded=self.rewarded + other.rewarded,
            decisions=self.decisions + other.decisions,
        )

    def compare_shares(self) -> float:
        """Return how many standard errors more rewarded rows are there more than once than of all rows."""
        rewarded, every = self.rewarded.different, self.every.different
        numbers = len(rewarded.rewards), len(every.rewards)
        common = (rewarded.are_copied.sum() + every.are_copied.sum()) / max(sum(numbers), 1)
        if not 0 < common < 1 or not min(numbers):
            return 0.0
        apart = rewarded.share * (1 - self.rewarded.excess.natural) - every.share
        return float(apart / math.sqrt(common * (1 - common) * (1 / numbers[0] + 1 / numbers[1])))


@dataclass(frozen=True, eq=False)
class Seen:
    """What is known of equal rows and, where times tell hours, of rows that are equal but for their times."""

    exact: Repeats
    timeless: Repeats | None

    def __add__(self, other: "Seen") -> "Seen":
        return Seen(self.exact + other.exact, add_known(self.timeless, other.timeless))


@dataclass(frozen=True)
class RepeatedRows(Diagnostic):
    """Warn where rows are there several times, because error bars take copies for different decisions.

    Rows are equal if their contexts, actions, rewards and propensities are. Of a log with few contexts and
    rewards many rows are equal by chance. So copies are seen where every row is there the same number of times; or
    where rows of one context are equal more often than their propensities explain, in at least `some` of the rows (a
    note) or `many` of them. Copies whose rewards differ from those of other rows with a p-value below `surprising` move
    the answer, however few they are. Where times are known to the hour, equal rows are looked for that have the same
    time as well, and then others. Rows that are equal except for their rewards are counted in the same way, because a
    join may have given each decision the rewards of others; they are a caution from `many` on. Without times nobody can
    tell copies within a group from decisions that are alike.
    """

    some: float = 0.01
    many: float = 0.2
    surprising: float = 0.001
    sees_target = False
    examines_log = True
    label = "repeated rows"
    measures = {
        "repeated_share": "The share of rows that equal an earlier row, by chance or not.",
        "row_copies": "How many copies of every row the log holds.",
        "repeated_excess": "The share of rows that are repeated beyond what propensities explain.",
    }

    def observe(self, rows: Rows) -> Seen:
        has_hours = tells_hours(rows)
        timeless = Repeats.of(rows, with_times=False) if has_hours else None
        return Seen(Repeats.of(rows, with_times=has_hours), timeless)

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement:
        seen: Seen = evidence.observed[self.name]
        copies = seen.exact.every
        numbers = {"repeated_share": copies.repeated_share, "row_copies": copies.times}
        numbers["repeated_excess"] = copies.excess.rows
        text = f"{copies.repeated_share:.2%} of the rows are the same as one before them"
        findings = (self.find(repeats, how, evidence) for repeats, how in list_comparable(seen, evidence.contents))
        return Measurement(numbers, text, [finding for finding in findings if finding is not None][:1])

    def find(self, repeats: Repeats, how: str, evidence: Evidence) -> Finding | None:
        """Return what is wrong, if anything is; copies that form a group do no harm to errors."""
        times = repeats.every.times
        excess = repeats.every.excess
        decisions = repeats.decisions.excess
        counts, worst = (COUNTS_IN_VALUE, NOTE) if evidence.contents.by_context else (COUNTS, CAUTION)
        if times > 1:
            return self.describe(worst, f"every row is there {times} times{how}, {counts}")
        moves = self.explain_moves(repeats, how, evidence.rows.usual_reward)
        if moves is not None:
            return self.describe(CAUTION, f"{moves}, {MOVES}")
        if excess.errors > SURPRISING and excess.rows >= self.many:
            return self.describe(worst, f"{excess.describe(how)}, {counts}")
        # Where rewards are few different numbers, some rows of a wrong join are equal as well: this comes first.
        if decisions.errors > SURPRISING and decisions.rows >= self.many:
            return self.make_finding(worst, f"{decisions.rows:.0%} of the rows {SAME_DECISION}{how}", JOIN)
        if excess.errors > SURPRISING and excess.rows >= self.some:
            return self.describe(NOTE, f"{excess.describe(how)}, {counts}")
        return None

    def explain_moves(self, repeats: Repeats, how: str, usual: float) -> str | None:
        """Say how the rewards of copies differ from those of other rows, if they do."""
        different, excess = repeats.every.different, repeats.every.excess
        if excess.errors > SURPRISING and self.is_surprising(different.compare(excess.natural)):
            mine, others = different.means
            return f"{excess.describe(how)}; their mean reward is {mine:.3g}, and that of the others {others:.3g}"
        rewarded = repeats.rewarded.excess
        if rewarded.errors > SURPRISING and self.is_surprising(repeats.compare_shares()):
            whose = f"the rows with another reward than {usual:g}"
            return f"{rewarded.describe(how, whose)}, and far fewer of all rows"
        return None

    def is_surprising(self, errors: float) -> bool:
        """Say whether something is so many standard errors away by more than chance."""
        return math.erfc(errors / math.sqrt(2)) < self.surprising

    def describe(self, severity: Severity, problem: str) -> Finding:
        """Return what is wrong."""
        remedy = "remove the copies, which a join may have made, or name the user's column as `group` if they are real"
        return self.make_finding(severity, problem, remedy)


def list_comparable(seen: Seen, contents: Contents) -> list[tuple[Repeats, str]]:
    """Return in which rows copies can be told from decisions that are alike, and how these differ besides."""
    if contents.groups is None or contents.by_context:
        return [(seen.exact, "")] + ([] if seen.timeless is None else [(seen.timeless, ", but for their times")])
    return [] if seen.timeless is None else [(seen.exact, "")]  # within a group times alone can tell


def tells_hours(rows: Rows) -> bool:
    """Say whether rows have times that tell more than the day; a sample of all rows knows."""
    times = (rows.whole or rows).times
    return times is not None and rows.has_days and bool((times % DAY != 0).any())
