"""Ladder: the steps from capped weights to full ones, and how far each was taken."""

import math
from dataclasses import asdict, dataclass

from counterfold.evidence.evidence import Evidence
from counterfold.exhibits.base import Answered, Exhibit, Shown, find_ends


@dataclass(frozen=True)
class Ladder(Exhibit):
    """A line for each rung of each ladder: the cap, what the estimator says there, and the rung's part in the answer.

    The highest rung has no cap. `taken` is the share of the step to this rung that was taken, from 1 (all) to 0 (none),
    and missing at the lowest rung; `low` and `high` are the ends of a normal interval.
    """

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        level = answer.estimate.level
        lines = [
            {
                **asdict(one),
                "cap": one.cap if math.isfinite(one.cap) else None,
                **find_ends(one.value, one.stderr, level),
            }
            for one in answer.selection.steps
        ]
        return Shown(lines, {"value": answer.estimate.value}) if lines else None
