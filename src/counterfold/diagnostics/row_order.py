"""Whether rewards change along the rows of a log that has no times, as where the last ones are not in yet."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.diagnostics.base import Answer, Diagnostic, Finding, Measurement, Number
from counterfold.estimators.base import Estimator, LoggedValue
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence, count_alike
from counterfold.evidence.history import FEWEST, Means, Squares, Weights, compare_periods, find_end
from counterfold.log.partition import ByNumber

SHORTEST, MOST = 5, 64
"""Stretches have 2 to this power of rows at least, and more where there would be more than MOST of them."""

ACTIONS = 32
"""Actions are counted in so many cells."""

SORTED = 0.05
"""Rows are in the order of their rewards if less than this share of the variance of these is within stretches."""


MIN_REWARDED = 10
"""Stretches with fewer rewards are not compared for their unit: the mean of so few says too little."""

MIN_STRETCHES = 8
"""Fewer stretches are not enough to see two units."""

MIN_SHARE_OF_STRETCHES = 0.1
"""Each of two units must be that of at least this share of the stretches."""


@dataclass(frozen=True, eq=False)
class Stretches:
    r"""Sums over stretches of $2^k$ neighbouring rows, by the numbers of these; those of other rows can be added.

    `sums` are those of 1, $c$, $c^2$, $c r$, $c^2 r$, $c^2 r^2$, where $c$ are the decisions that a row stands for;
    then those of each of ACTIONS cells of actions, and of these the ones with another reward than the usual one.
    """

    shift: int
    numbers: Ints
    sums: Floats

    @classmethod
    def of(cls, rows: Rows) -> "Stretches":
        """Return the sums of some rows."""
        ones, rewards = np.ones(len(rows)), rows.rewards
        counts = ones if rows.counts is None else rows.counts
        squares = counts * counts
        lines = [ones, counts, squares, counts * rewards, squares * rewards, squares * rewards**2]
        shift, numbers = find_stretches(rows.row_numbers)
        place = np.searchsorted(numbers, rows.row_numbers >> shift)
        lines += [counts, counts * (rewards != rows.usual_reward)]
        cells = ByNumber(place * ACTIONS + rows.actions % ACTIONS, len(numbers) * ACTIONS)  # faster than few units
        *sums, taken, rewarded = cells.sums(np.stack(lines)).reshape(len(lines), len(numbers), ACTIONS)
        return cls(shift, numbers, np.concatenate([np.stack(sums).sum(axis=2), taken.T, rewarded.T]))

    def __add__(self, other: "Stretches") -> "Stretches":
        shift = max(self.shift, other.shift)
        one, two = self.lengthen(shift), other.lengthen(shift)
        numbers, sums = np.concatenate([one.numbers, two.numbers]), np.concatenate([one.sums, two.sums], axis=1)
        return replace(one, numbers=numbers, sums=sums).lengthen(shift).shorten()

    def lengthen(self, shift: int) -> "Stretches":
        """Return the sums over stretches of at least that length, one for each."""
        numbers, place = np.unique(self.numbers >> (shift - self.shift), return_inverse=True)
        return replace(self, shift=shift, numbers=numbers, sums=ByNumber(place, len(numbers)).sums(self.sums))

    def shorten(self) -> "Stretches":
        """Return as few stretches as there may be; they are the same however rows are cut into parts."""
        found = self
        while len(found.numbers) > MOST:
            found = found.lengthen(found.shift + 1)
        return found

    @property
    def weights(self) -> Weights:
        """Return how much each stretch counts."""
        return Weights(*self.sums[:3])

    @property
    def squares(self) -> Squares:
        """Return what the variance of rewards follows from."""
        return Squares(self.sums[2], *self.sums[4:6])

    @property
    def rewards(self) -> Means:
        """Return what the log earned in each stretch."""
        return Means.of(self.weights, self.sums[3], self.squares)

    @property
    def rewarded(self) -> Floats:
        """Return how many decisions of each stretch have another reward than the usual one."""
        return np.asarray(self.sums[6 + ACTIONS :].sum(axis=0))

    @property
    def expected(self) -> Floats:
        """Return how many would, if only the actions of stretches were different."""
        taken, rewarded = self.sums[6 : 6 + ACTIONS], self.sums[6 + ACTIONS :].sum(axis=1)
        return np.asarray(rewarded / np.maximum(taken.sum(axis=1), 1e-300) @ taken)

    @property
    def are_sorted(self) -> bool:
        """Say whether rows are in the order of their rewards, which tells nothing of the order of decisions."""
        total, rewards = self.sums[[1, 3]]
        inside = self.squares.around(rewards / total).sum()
        return bool(inside < SORTED * self.squares.around(rewards.sum() / total.sum()).sum())

    @property
    def reversed(self) -> "Stretches":
        """Return the same from the end to the beginning."""
        return replace(self, sums=self.sums[:, ::-1])


def find_stretches(row_numbers: Ints) -> tuple[int, Ints]:
    """Return the least shift by which rows fall into few stretches, and the numbers of these."""
    every = row_numbers >> SHORTEST
    shift, numbers = SHORTEST, np.unique(every[np.flatnonzero(np.diff(every, prepend=-1))])
    while len(numbers) > MOST:
        shift, numbers = shift + 1, np.unique(numbers >> 1)
    return shift, numbers


class Silent(NamedTuple):
    """An end of a log, or its beginning, where hardly any row has another reward than the usual one."""

    is_first: bool
    rows: int
    here: float
    elsewhere: float


class Units(NamedTuple):
    """Mean rewards in two parts of a log that seem to have rewards in different units."""

    smaller: float
    larger: float


@dataclass(frozen=True)
class RowOrder(Diagnostic):
    """Warn where the last rows of a log without times have hardly any reward, or the first ones.

    Logs are mostly written as decisions are made, and the last rewards may not be in yet. Rows are cut into at most 64
    stretches of the same length. It is a caution where the share of rows with another than the usual reward is below
    `silent` of that in the others, even if their actions are allowed for, with a p-value below `alarm`. Where the mean
    rewards of stretches differ with such a p-value, by a standard deviation that is more than `large` of the mean or of
    the standard deviation of rewards, it is a note: rows may be in another order than that of time. It is a caution
    where the mean rewards of stretches fall into two sets that are at least `jump` times apart, because rewards may be
    in two units, such as euros and cents.
    """

    alarm: float = 0.001
    silent: float = 0.1
    large: float = 0.25
    jump: float = 10.0
    sees_target = False
    examines_log = True
    label = "row order"
    measures = {
        "row_order_p": (
            "On a log without times: the p-value of the differences between the mean rewards of stretches of "
            "neighbouring rows, if the order of rows means nothing."
        ),
        "row_order": "The standard deviation of these mean rewards beyond chance.",
        "silent_rows": "On a log without times: rows at its end or its beginning, hardly any of which has a reward.",
    }

    def observe(self, rows: Rows) -> Stretches | None:
        return None if rows.has_days else Stretches.of(rows)

    def witnesses(self, rows: Rows) -> Sequence[Estimator]:
        return [] if rows.groups is None or rows.has_days else [LoggedValue()]

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        found: Stretches | None = evidence.observed.get(self.name)
        if found is None:
            return None
        alike, means = count_alike(evidence), found.rewards
        change = compare_periods(means._replace(variances=alike * means.variances), found.numbers)
        if change is None or found.are_sorted:
            return None
        silent = self.find_silent(found, alike)
        numbers: dict[str, Number] = {"row_order_p": change.p, "row_order": change.spread}
        numbers["silent_rows"] = 0 if silent is None else silent.rows
        tested = means.values[means.rows >= FEWEST]
        text = f"the mean rewards of {len(tested)} stretches of {1 << found.shift:,} rows are from "
        text += f"{tested.min():.3g} to {tested.max():.3g} (p = {change.p:.2g})"
        rewards = evidence.contents.rewards
        least = min(abs(rewards.mean), math.sqrt(rewards.squares / rewards.weight))
        is_large = change.p < self.alarm and change.spread >= self.large * least
        findings = self.describe(silent, evidence.rows.usual_reward)
        findings = findings or self.describe_units(self.find_units(found))
        if is_large and not findings:
            findings = self.note(text)
        return Measurement(numbers, text, findings)

    def find_silent(self, found: Stretches, alike: float) -> Silent | None:
        """Return the end of a log where hardly any row has a reward, or else its beginning, if there is one."""
        for is_first, one in enumerate((found, found.reversed)):
            end = find_end(one.weights, one.rewarded, one.expected, alike, self.silent)
            if end is not None and end.p < self.alarm:
                rows = int(one.weights.rows[-end.place - 1 :].sum())
                return Silent(bool(is_first), rows, end.last, end.before)
        return None

    def describe(self, silent: Silent | None, usual: float) -> list[Finding]:
        """Return what is wrong where hardly any row has a reward."""
        if silent is None:
            return []
        other = f" other than {usual:g}" if usual else ""
        which, why = ("first", "may not be recorded") if silent.is_first else ("last", "may not be in yet")
        shares = f"{silent.here:.2%} have a reward{other}, and {silent.elsewhere:.2%} of the others"
        problem = f"rewards {why}: of the {which} {silent.rows:,} rows {shares}"
        way = "name the column of when decisions were made as `time` (--time), or leave these rows out"
        return [
            self.make_finding("caution", problem, f"{way}, unless rows are in another order than that of decisions")
        ]

    def find_units(self, found: Stretches) -> Units | None:
        """Return the mean rewards in two parts of the log if these seem to have rewards in different units."""
        # Where rewards are rare, longer stretches are compared, so that most of them have enough rewards.
        while len(found.numbers) >= 2 * MIN_STRETCHES and np.median(found.rewarded) < MIN_REWARDED:
            found = found.lengthen(found.shift + 1)
        rewards = found.rewards
        is_compared = (rewards.rows >= FEWEST) & (found.rewarded >= MIN_REWARDED)
        means = np.sort(rewards.values[is_compared])
        if len(means) < MIN_STRETCHES or means[0] <= 0:
            return None
        # One stretch may hold rewards of both units, so that its mean lies between the two sets.
        ratios = means[2:] / means[:-2]
        widest = int(ratios.argmax())
        n_smaller = widest + 1
        n_larger = len(means) - widest - 2
        if ratios[widest] < self.jump or min(n_smaller, n_larger) < MIN_SHARE_OF_STRETCHES * len(means):
            return None
        return Units(smaller=float(means[:n_smaller].mean()), larger=float(means[-n_larger:].mean()))

    def describe_units(self, units: Units | None) -> list[Finding]:
        """Return what is wrong where rewards seem to be in two units."""
        if units is None:
            return []
        levels = f"about {units.smaller:.3g} in one part of its rows and about {units.larger:.3g} in the other"
        problem = f"the mean reward is {levels}, with hardly any in between, as if the unit of rewards had changed"
        remedy = (
            "make sure that all rewards are in one unit, or name the column of when decisions were made as `time` "
            "(--time) if rewards really changed so much"
        )
        return [self.make_finding("caution", problem, remedy)]

    def note(self, text: str) -> list[Finding]:
        """Return what is good to know where rewards change along the rows."""
        remedy = "name the column of when decisions were made as `time` (--time), to see whether the value changes"
        return [self.make_finding("note", f"what the log earned changes along its rows: {text}", remedy)]
