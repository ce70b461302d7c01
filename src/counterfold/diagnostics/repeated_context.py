"""Whether one context is there far more often than any other, and always earns the same, as a robot's."""

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from counterfold.base.arrays import Floats
from counterfold.base.hashing import hash_rows
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence

BUCKETS = 1 << 12
"""Contexts are summed in so many buckets, by their hashes."""

MOST_HEAVY = 16
"""At most so many contexts are looked at, the most frequent ones."""


SAME_SPREAD = 0.2
"""Rewards are the same if their variance is below this share of that of all others."""


@dataclass(frozen=True, eq=False)
class Buckets:
    """Sums over buckets of contexts (4 x buckets): rows, those with another reward than the usual one, r and r²."""

    sums: Floats

    def __add__(self, other: "Buckets") -> "Buckets":
        return Buckets(self.sums + other.sums)


@dataclass(frozen=True)
class RepeatedContext(Diagnostic):
    """Warn where one context is in a large share of the rows, all others are rare, and it always has the same reward.

    Robots, health checks and tests of the system send the same request again and again, and never click, or always do.
    Contexts are counted in 4,096 buckets by their hashes. Nothing is said where more than 16 are
    frequent, or a few are most of the rows. It is a caution where a bucket has at least `fewest` rows, and
    a share of at least `least_share`, `times` as many as the largest bucket besides the 16 largest ones, all with the
    same reward but for a share of `exceptions`, or one row, if that has a probability below `alarm` by the share of
    such rewards in the other buckets (a binomial test, times the number of such buckets).
    """

    fewest: int = 30
    least_share: float = 0.005
    times: float = 5.0
    exceptions: float = 0.02
    alarm: float = 0.001
    sees_target = False
    label = "repeated context"
    measures = {
        "repeated_context_rows": "Rows of frequent contexts that always have the same reward.",
    }

    def observe(self, rows: Rows) -> Buckets | None:
        context = rows.examples.context
        if not context.shape[1]:
            return None
        bucket = hash_rows(list(context.T)) % BUCKETS
        is_unusual = (rows.rewards != rows.usual_reward).astype(np.float64)
        lines = (None, is_unusual, rows.rewards, rows.rewards**2)
        return Buckets(np.stack([np.bincount(bucket, line, BUCKETS) for line in lines]))

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        found: Buckets | None = evidence.observed.get(self.name)
        if found is None:
            return None
        if evidence.contents.groups is not None:  # a user may well come back with the same context
            return Measurement({"repeated_context_rows": 0}, "not looked for, as rows belong to groups")
        counts = found.sums[0]
        by_size = np.argpartition(-counts, MOST_HEAVY)
        largest_other = float(counts[by_size[MOST_HEAVY]])
        frequent = self.least_share * evidence.row_count
        if largest_other >= frequent:
            return Measurement({"repeated_context_rows": 0}, "many contexts are frequent")
        needed = max(self.fewest, frequent, self.times * largest_other)
        heavy = by_size[:MOST_HEAVY][counts[by_size[:MOST_HEAVY]] >= needed]
        others = found.sums.sum(axis=1) - found.sums[:, heavy].sum(axis=1)
        if others[0] < 0.5 * evidence.row_count:
            return Measurement({"repeated_context_rows": 0}, "a few contexts are most of the rows")
        robots = [place for place in heavy.tolist() if self.is_robot(found.sums[:, place], others, len(heavy))]
        rows = int(counts[robots].sum())
        if not robots:
            return Measurement({"repeated_context_rows": 0}, "no context that is frequent has the same reward always")
        count, odd = found.sums[:2, robots[0]].tolist()
        share = f"{count:,.0f} rows ({count / evidence.row_count:.1%})"
        kind = f"a reward other than {evidence.rows.usual_reward:g}"
        text = f"{share} have the same context, and {odd / count:.1%} of them {kind}"
        problem = f"{text}; of the others {others[1] / others[0]:.1%} have one: they may come from a robot"
        remedy = "look at these rows: leave out robots, tests and other rows that are no decisions about users"
        return Measurement({"repeated_context_rows": rows}, text, [self.make_finding("caution", problem, remedy)])

    def is_robot(self, sums: Floats, others: Floats, tests: int) -> bool:
        """Say whether nearly all rewards of a bucket are the same, though they would not be by chance."""
        count, unusual, total, squares = sums.tolist()
        share = min(1.0, float(others[1] / max(others[0], 1.0)))
        if unusual > count / 2:  # always the same one, such as a click
            spread = (squares - total**2 / count) / count
            usual_spread = float(others[3] - others[2] ** 2 / others[0]) / float(others[0])
            if spread > SAME_SPREAD * usual_spread:
                return False
            unusual = count - unusual
            share = 1 - share
        if unusual > max(1.0, self.exceptions * count):
            return False
        return tests * float(bdtr(unusual, int(count), share)) < self.alarm
