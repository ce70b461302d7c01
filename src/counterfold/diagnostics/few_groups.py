"""Whether there are enough groups to know how much they differ."""

from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence import Evidence


@dataclass(frozen=True)
class FewGroups(Diagnostic):
    """Warn where rows belong to fewer than `few` groups, such as users: the interval is too narrow then."""

    few: int = 20
    label = "groups"
    measures = ("groups",)

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        groups = evidence.contents.groups
        if groups is None:
            return None
        problem, remedy = f"there are only {groups} groups", "log more users or sessions, not more rows of each"
        findings = [self.make_finding("caution", problem, remedy)] if groups < self.few else []
        return Measurement({"groups": groups}, str(groups), findings)
