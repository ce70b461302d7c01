"""Whether some rewards are no rewards: numbers that stand for missing ones, or mistyped ones."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from counterfold.diagnostics.base import Answer, Diagnostic, Finding, Least, Measurement
from counterfold.evidence import Evidence
from counterfold.rows import Rows

KEPT = 16
"""How many of the least and of the largest different rewards are kept."""

MOST = 4
"""At most so many different rewards are taken for outlying ones."""

ENOUGH = 10
"""There must be so many other different rewards to tell what is far away from them, unless numbers look like codes."""

CODES = re.compile(r"-9+|9{4,}|-?2147483647|-2147483648|-?9223372036854775807")
"""Whole numbers that people write for what is missing; a price may be 99 or 999."""


class Counted(NamedTuple):
    """A reward, and how many rows have it."""

    reward: float
    rows: int

    @property
    def is_code(self) -> bool:
        """Say whether the number is one that people write for what is missing."""
        return CODES.fullmatch(f"{self.reward:.0f}") is not None and self.reward == int(self.reward)


@dataclass(frozen=True)
class Cut:
    """A few outlying rewards, how far the nearest is from the rest, and the ends and number of the rest's rewards."""

    outlying: tuple[Counted, ...]
    gap: float
    low: float
    high: float
    others: int


@dataclass(frozen=True, eq=False)
class Ends:
    """The least and, with their signs changed, the largest different rewards; two can be added."""

    least: Least
    largest: Least

    def __add__(self, other: "Ends") -> "Ends":
        return Ends(self.least + other.least, self.largest + other.largest)

    @property
    def rewards(self) -> list[Counted]:
        """Return the least and the largest rewards in ascending order; there may be others between them."""
        counts = dict(zip((-self.largest.numbers).tolist(), self.largest.counts.tolist(), strict=True))
        counts |= zip(self.least.numbers.tolist(), self.least.counts.tolist(), strict=True)
        return [Counted(*one) for one in sorted(counts.items())]

    def cut(self) -> Iterator[Cut]:
        """Yield every way to take a few of the least and largest rewards for outlying, the fewest first."""
        every = self.rewards
        for number in range(1, min(MOST + 1, len(every) - 1)):
            for low in range(number + 1):
                first, last = low, len(every) - (number - low)
                below, rest, above = every[:first], every[first:last], every[last:]
                gaps = [rest[0].reward - one.reward for one in below[-1:]]
                gaps += [one.reward - rest[-1].reward for one in above[:1]]
                yield Cut((*below, *above), min(gaps), rest[0].reward, rest[-1].reward, len(rest))


@dataclass(frozen=True)
class OutlyingRewards(Diagnostic):
    """Warn of a few different rewards that are far away from all others, in ranges of those others.

    Numbers that often stand for missing rewards, such as -999, are outlying if they are `far_code` ranges away; so is
    -1 where it is the only negative reward and 0 is one, too. Other rewards that at least three rows have are outlying
    if they are `far_repeated` ranges away, and single ones if they are `far_single` ranges away. These are so many that
    heavy tails hardly ever reach them.
    """

    far_code: float = 2.0
    far_repeated: float = 20.0
    far_single: float = 100.0
    label = "outlying rewards"
    measures = ("outlying_rewards",)

    def observe(self, rows: Rows) -> Ends:
        return Ends(Least.of(rows.rewards, KEPT), Least.of(-rows.rewards, KEPT))

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement:
        ends: Ends = evidence.observed[self.name]
        *_, found = None, *filter(self.is_outlying, ends.cut())  # the most that are far away
        rows = 0 if found is None else sum(one.rows for one in found.outlying)
        findings = [] if found is None else [self.describe(found, rows)]
        text = f"{rows} rows are far from all others" if rows else "no reward is far from all others"
        return Measurement({"outlying_rewards": rows}, text, findings)

    def is_outlying(self, cut: Cut) -> bool:
        """Say whether a few rewards are far away from the others."""
        spread, several = cut.high - cut.low, cut.outlying
        if [one.reward for one in several] == [-1.0] and cut.low == 0:
            return True
        if all(one.is_code for one in several):
            return cut.gap >= self.far_code * spread
        far = self.far_repeated if all(one.rows > 2 for one in several) else self.far_single
        return cut.others >= ENOUGH and cut.gap >= far * spread

    def describe(self, cut: Cut, rows: int) -> Finding:
        """Return what is wrong."""
        numbers = " or ".join(f"{one.reward:g}" for one in cut.outlying)
        who = "1 row has" if rows == 1 else f"{rows} rows have"
        problem = f"{who} the reward {numbers}, and all others have rewards from {cut.low:g} to {cut.high:g}"
        remedy = "find out what it stands for: leave such rows out if their rewards are missing or mistyped"
        if cut.outlying[0].reward == -1:
            problem += "; -1 often stands for a missing reward"
            remedy += ", or add 1 to all rewards if -1 is a real one, such as a dislike"
        return self.make_finding("caution", problem, remedy)
