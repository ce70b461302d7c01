"""Groups: the users or sessions that carry the answer, and what it would be without each."""

from dataclasses import dataclass

from counterfold.base.hashing import hash_numbers
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.exhibits._leave_out import LeaveOut
from counterfold.exhibits.base import Answered, Exhibit, Shown

MOST = 1 << 15
"""So many groups are told apart on a log whose rows are not all at hand."""


@dataclass(frozen=True)
class Groups(Exhibit):
    r"""The ten groups without which the difference of SNIPS to the log would change most, and both without each alone.

    `row` is the row of a group with the largest $w |r - \hat V|$, by which to find it. It is shown where rows belong to
    groups. On a large log of more than 32,768 groups, those that share one of so many hashes are left out together:
    without all but one of them, the answer moves by about 1/180 of its standard error.
    """

    needs_answer = False

    def observe(self, rows: Rows) -> LeaveOut | None:
        if rows.groups is None:
            return None
        return LeaveOut.of(rows, hash_numbers(rows.examples.units), None if rows.whole is None else MOST)

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        found: LeaveOut | None = evidence.observed.get(self.name)
        return None if found is None else found.show([{"row": place} for place in found.places.tolist()])
