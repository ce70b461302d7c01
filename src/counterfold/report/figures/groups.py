"""Groups: the users or sessions that carry the answer, and what it would be without each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from counterfold.base.hashing import hash_numbers
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, FigureTable, Shown
from counterfold.report.figures._leave_out import LeaveOut, list_parts
from counterfold.report.html import formats
from counterfold.report.html.blocks import Table, Writer
from counterfold.report.html.cases import Case

MOST_GROUPS = 1 << 15
"""So many groups are told apart on a log whose rows are not all at hand."""


@dataclass(frozen=True)
class Groups(FigureTable):
    r"""The ten groups without which the difference of SNIPS to the log would change most, and both without each alone.

    `row` is the row of a group with the largest $w |r - \hat V|$, by which to find it. It is shown where rows belong to
    groups. On a large log of more than 32,768 groups, those that share one of so many hashes are left out together:
    without all but one of them, the answer moves by about 1/180 of its standard error.
    """

    needs_answer: ClassVar[bool] = False

    def observe(self, rows: Rows) -> LeaveOut | None:
        if rows.groups is None:
            return None
        most = None if rows.whole is None else MOST_GROUPS
        return LeaveOut.of(rows, hash_numbers(rows.examples.units), most)

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        sums: LeaveOut | None = evidence.observed.get(self.name)
        if sums is None:
            return None
        return sums.show([{"row": place} for place in sums.places.tolist()])

    def list_lines(self, case: Case) -> Table | None:
        """Return the groups that carry the answer, each known by one of its rows, and what SNIPS says without each."""
        columns: Mapping[str, tuple[str, Writer]] = {"row": ("Group of row (from 0)", formats.count)}
        return list_parts(case, self.name, "The groups that carry the answer", columns)
