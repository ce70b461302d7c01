"""Whether there are enough groups to know how much they differ."""

from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence.evidence import FEW_GROUPS, Evidence


@dataclass(frozen=True)
class FewGroups(Diagnostic):
    """Warn where rows belong to fewer than `few` groups, such as users: the interval is too narrow then.

    Where there are nearly as many groups as rows, `nearly_all` of them or more, a note says that they change nothing.
    """

    few: int = FEW_GROUPS
    nearly_all: float = 0.9
    label = "groups"
    measures = {
        "groups": "Groups of rows, such as users.",
    }

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        groups = evidence.contents.groups
        if groups is None:
            return None
        findings, column = [], evidence.contents.taken.get("group")
        where, way = ("", "") if column is None else (f" in column `{column}`", f", or put `{column}` into `ignore`")
        if groups < self.few:
            problem = f"there are only {groups} groups{where}"
            remedy = f"log more users or sessions, not more rows of each{way and f'{way} if it is something else'}"
            findings = [self.make_finding("caution", problem, remedy)]
        elif groups >= self.nearly_all * evidence.row_count:
            problem = "nearly every row is a group of its own, so groups change nothing"
            remedy = f"check that the column of groups names users or sessions, and not rows{way}"
            findings = [self.make_finding("note", problem, remedy)]
        return Measurement({"groups": groups}, str(groups), findings)
