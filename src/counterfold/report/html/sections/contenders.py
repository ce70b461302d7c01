"""Contenders: what competed to be the learnt policy, and how each would have done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Pairs, Prose
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.charts.learnt import draw_contenders
from counterfold.report.html.sections.base import Section

NONE = "This log cannot answer for any contender: numbers are withheld."


@dataclass(frozen=True)
class Contenders(Section):
    """Who competed, and who won."""

    order: ClassVar[int] = 2
    title: ClassVar[str] = "The contenders"
    is_common: ClassVar[bool] = True

    def applies(self, report: Report) -> bool:
        return report.learned is not None

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        found = report.learned
        if found is None:
            return []
        left_out = [(formats.text(name), reason) for name, reason in found.left_out.items()]
        return [draw_contenders(found) or Prose(NONE), Pairs("Did not take part", left_out) if left_out else None]
