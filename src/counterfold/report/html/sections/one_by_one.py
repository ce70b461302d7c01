"""The best policies, one by one: the first one is in the answer, and all of them are in the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.report.html.blocks import Block, Prose
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.sections.answer import state
from counterfold.report.html.sections.base import Section


@dataclass(frozen=True)
class OneByOne(Section):
    """What the next policies come to, by their rank."""

    order: ClassVar[int] = 6
    title: ClassVar[str] = "The next policies, one by one"
    is_common: ClassVar[bool] = True

    def applies(self, report: Report) -> bool:
        return len(report.cases) > len(report.leading)

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        rest = len(report.cases) - len(report.told)
        few = f"The table above has {rest} more, which have no chapter below either; the JSON has all of each."
        several = [state(report, one) for one in report.told if one not in report.leading]
        return [*several, Prose(few) if rest else None]
