"""Days: the days that carry the answer, and what it would be without each."""

from dataclasses import dataclass

import numpy as np

from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.exhibits._leave_out import LeaveOut
from counterfold.exhibits.base import Answered, Exhibit, Shown

DAY = 86_400e6
"""The microseconds of a day."""


@dataclass(frozen=True)
class Days(Exhibit):
    """The ten days without which the difference of SNIPS to the log would change most, and both without each alone.

    It is shown where the log has the time of decisions, on more than one day.
    """

    needs_answer = False

    def observe(self, rows: Rows) -> LeaveOut | None:
        if rows.times is None or not rows.has_days:
            return None
        return LeaveOut.of(rows, np.floor(rows.times / DAY).astype(np.intp))

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        found: LeaveOut | None = evidence.observed.get(self.name)
        if found is None:
            return None
        return found.show([{"day": str(day)} for day in found.keys.astype("datetime64[D]")])
