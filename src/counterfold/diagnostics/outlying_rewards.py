"""Whether some rewards are no rewards: numbers that stand for missing ones, or mistyped ones."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from counterfold.diagnostics.base import ROUNDING, Answer, Diagnostic, Finding, Least, Measurement
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence

KEPT = 128
"""How many of the least and of the largest different rewards are kept; fewer different ones are known one by one."""

MOST = 4
"""At most so many different rewards are taken for outlying ones."""

ENOUGH = 10
"""There must be so many other different rewards to tell what is far away from them, unless numbers look like codes."""

POINTS = 4
"""Fewer points of a scale may be weights of events, such as 0, 1 and 2 beside 100 for a purchase."""

FILLED = 0.8
"""Which share of the points of a long scale, of at least ENOUGH, must be there; of a short one all must."""

EMPTY = 20
"""So many rows must be missing between a scale and a code, if rewards there were as common as at the rarer end."""

CODES = re.compile(r"-9+|9{4,}|-?2147483647|-2147483648|-?9223372036854775807")
"""Whole numbers that people write for what is missing; a price may be 99 or 999."""

CODES_ON_SCALES = re.compile(r"-1|[89]|7{2,}|8{2,}|9{2,}|9+[678]")
"""More of them, as in surveys, beside rewards that are points of a scale, such as 0 and 1, or 1 to 5 stars."""


class Counted(NamedTuple):
    """A reward, and how many rows have it."""

    reward: float
    rows: int

    def is_in(self, codes: re.Pattern[str]) -> bool:
        """Say whether the number is one of some codes."""
        return codes.fullmatch(f"{self.reward:.0f}") is not None and self.reward == int(self.reward)


@dataclass(frozen=True)
class Cut:
    """A few outlying rewards below and above the rest; `is_complete` says that no others of the rest are unknown."""

    below: tuple[Counted, ...]
    rest: tuple[Counted, ...]
    above: tuple[Counted, ...]
    is_complete: bool

    @property
    def outlying(self) -> tuple[Counted, ...]:
        """Return the outlying rewards."""
        return (*self.below, *self.above)

    @property
    def low(self) -> float:
        """Return the least of the rest."""
        return self.rest[0].reward

    @property
    def high(self) -> float:
        """Return the largest of the rest."""
        return self.rest[-1].reward

    @property
    def gaps(self) -> list[tuple[float, int]]:
        """Return how far the outlying rewards of each side are from the rest, and how many rows the rarer end has."""
        sides = [(self.low - one.reward, self.below, self.rest[0]) for one in self.below[-1:]]
        sides += [(one.reward - self.high, self.above, self.rest[-1]) for one in self.above[:1]]
        return [(gap, min(sum(one.rows for one in some), end.rows)) for gap, some, end in sides]

    @property
    def ranges(self) -> float:
        """Return how far the nearest outlying reward is from the rest, in ranges of the rest."""
        return min(gap for gap, _ in self.gaps) / (self.high - self.low)

    @property
    def step(self) -> float | None:
        """Return the step of the scale whose points the rest are, if they are: 1, or less if there are three points."""
        if not self.is_complete:
            return None
        steps = np.diff([one.reward for one in self.rest])
        step = float(steps.min())
        is_even = bool((np.abs(steps / step - np.round(steps / step)) < ROUNDING).all())
        filled = len(self.rest) / (1 + (self.high - self.low) / step)
        is_full = filled > (1 - ROUNDING if len(self.rest) < ENOUGH else FILLED)
        is_small = step < 1 + ROUNDING and (len(self.rest) > 2 or step > 1 - ROUNDING)
        return step if is_even and is_full and is_small else None


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
        every = tuple(self.rewards)
        for number in range(1, min(MOST + 1, len(every) - 1)):
            for low in range(number + 1):
                first, last = low, len(every) - (number - low)
                yield Cut(every[:first], every[first:last], every[last:], len(self.least) < self.least.most)


@dataclass(frozen=True)
class OutlyingRewards(Diagnostic):
    """Warn of a few different rewards that are far away from all others, in ranges of those others.

    Numbers that often stand for missing rewards, such as -999, are outlying if they are `far_code` ranges away; so is
    -1 where it is the only negative reward and 0 is one, too. Other rewards that at least three rows have are outlying
    if they are `far_repeated` ranges away, and single ones if they are `far_single` ranges away. These are so many that
    heavy tails hardly ever reach them.

    Where all others are points of a scale, such as 0 and 1, or 1 to 5, codes of surveys such as 9, 99 and -1 are
    outlying if points between them and the scale are empty that would not be if rewards were counts; from a scale of
    ten points or more they must be `far_code` ranges away. Any other number that at least three rows have is outlying
    if it is `far_repeated` ranges away from four points or more, or `far_scale` ranges from fewer.
    """

    far_code: float = 2.0
    far_repeated: float = 20.0
    far_single: float = 100.0
    far_scale: float = 1000.0
    sees_target = False
    examines_log = True
    label = "outlying rewards"
    measures = {
        "outlying_rewards": "Rows whose reward is far away from all others.",
    }

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
        if [one.reward for one in cut.outlying] == [-1.0] and cut.low == 0:
            return True
        if all(one.is_in(CODES) for one in cut.outlying) and cut.ranges >= self.far_code:
            return True
        are_repeated = all(one.rows > 2 for one in cut.outlying)
        far = self.far_repeated if are_repeated else self.far_single
        if len(cut.rest) >= ENOUGH and cut.ranges >= far:
            return True
        return cut.step is not None and self.is_off_scale(cut, cut.step, are_repeated=are_repeated)

    def is_off_scale(self, cut: Cut, step: float, *, are_repeated: bool) -> bool:
        """Say whether a few rewards are no points of the scale that the others are points of."""
        far = self.far_repeated if len(cut.rest) >= POINTS else self.far_scale
        if are_repeated and cut.ranges >= far:
            return True
        if any(one.reward == -1 for one in cut.outlying) and (cut.low <= 0 or len(cut.rest) <= 2):
            return False  # a dislike beside a like
        are_codes = all(one.is_in(CODES) or one.is_in(CODES_ON_SCALES) for one in cut.outlying)
        is_far = cut.ranges >= self.far_code or len(cut.rest) < ENOUGH  # long scales may be counts with a tail
        return are_codes and is_far and all((gap / step - 1) * rows >= EMPTY for gap, rows in cut.gaps)

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
