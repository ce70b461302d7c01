"""Support: whether the log did what the target does, action by action."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.report.figures import support
from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Fact, Facts, Prose
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.sections.base import Section

UNKNOWN = (
    "Whether the log could do everything that the policy does is unknown, because the policy's probabilities are known "
    "for the logged actions alone."
)
MANY = "There are too many actions to show each of them."
WEIGHTED = (
    "How often the policy takes each action is estimated from weights, because its probabilities are known for the "
    "logged actions alone."
)


@dataclass(frozen=True)
class Support(Section):
    """What a log has never seen, it cannot tell."""

    order: ClassVar[int] = 10
    title: ClassVar[str] = "Support: was everything tried before?"

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        shown = case.exhibits.get("support")
        if shown is None:
            return [Prose(MANY)]
        mass = shown.facts["unsupported_mass"]
        tried = None if mass is None else formats.percent(1 - mass)
        remark = f"of what {case.called} does could be in the log"
        return [
            Facts([Fact("tried before", tried, remark)]) if tried is not None else Prose(UNKNOWN),
            Prose(WEIGHTED) if shown.facts["is_weighted"] else None,
            support.Support().draw_on_page(case),
            support.Support().draw_rewards(case),
        ]
