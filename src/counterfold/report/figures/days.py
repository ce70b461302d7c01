"""Days: the days that carry the answer, and what it would be without each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, FigureTable, Shown
from counterfold.report.figures._leave_out import LeaveOut, list_parts
from counterfold.report.html import formats
from counterfold.report.html.blocks import Table, Writer
from counterfold.report.html.cases import Case

MICROSECONDS_PER_DAY = 86_400e6


@dataclass(frozen=True)
class Days(FigureTable):
    """The ten days without which the difference of SNIPS to the log would change most, and both without each alone.

    It is shown where the log has the time of decisions, on more than one day.
    """

    needs_answer: ClassVar[bool] = False

    def observe(self, rows: Rows) -> LeaveOut | None:
        if rows.times is None or not rows.has_days:
            return None
        return LeaveOut.of(rows, np.floor(rows.times / MICROSECONDS_PER_DAY).astype(np.intp))

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        sums: LeaveOut | None = evidence.observed.get(self.name)
        if sums is None:
            return None
        return sums.show([{"day": str(day)} for day in sums.keys.astype("datetime64[D]")])

    def list_lines(self, case: Case) -> Table | None:
        """Return the days that carry the answer, and what SNIPS says without each."""
        columns: Mapping[str, tuple[str, Writer]] = {"day": ("Day", formats.text)}
        return list_parts(case, self.name, "The days that carry the answer", columns)
