"""Days: the days that carry the answer, and what it would be without each."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Floats
from counterfold.evidence import Evidence
from counterfold.exhibits.base import Answered, Exhibit, Shown
from counterfold.rows import Rows

DAY = 86_400e6
"""The microseconds of a day."""

TEN = 10
"""How many days are shown."""


@dataclass(frozen=True, eq=False)
class ByDay:
    """How many rows each day has, and sums of their weights and of weights times rewards; others can be added."""

    known: Mapping[int, Floats]

    def __add__(self, other: "ByDay") -> "ByDay":
        nothing = np.zeros(3)
        days = {**self.known, **other.known}
        return ByDay({day: self.known.get(day, nothing) + other.known.get(day, nothing) for day in days})


@dataclass(frozen=True)
class Days(Exhibit):
    """The ten days without which SNIPS would change most, with what it would be without each alone.

    It is shown where the log has the time of decisions, on more than one day.
    """

    needs_answer = False

    def observe(self, rows: Rows) -> ByDay:
        if rows.times is None or not rows.has_days:
            return ByDay({})
        days, places = np.unique(np.floor(rows.times / DAY).astype(np.intp), return_inverse=True)
        terms = np.ones(len(rows)), rows.masses, rows.masses * rows.rewards
        sums = np.stack([np.bincount(places, term, len(days)) for term in terms], axis=1)
        return ByDay(dict(zip(days.tolist(), sums, strict=True)))

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        found: ByDay = evidence.observed[self.name]
        total = np.sum(list(found.known.values()), axis=0) if found.known else np.zeros(3)
        if len(found.known) < 2 or not total[1]:
            return None
        snips, found_lines = float(total[2] / total[1]), []
        for day, own in sorted(found.known.items()):
            rest = total - own
            without = float(rest[2] / rest[1]) if rest[1] > 1e-9 * total[1] else None
            line = {"day": str(np.datetime64(day, "D")), "rows": int(own[0]), "weight_share": float(own[1] / total[1])}
            found_lines.append((np.inf if without is None else abs(without - snips), {**line, "without": without}))
        ranked = sorted(found_lines, key=lambda pair: -pair[0])
        return Shown([line for _, line in ranked[:TEN]], {"snips": snips, "days": len(ranked)})
