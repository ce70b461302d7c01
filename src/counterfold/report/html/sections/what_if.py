"""What if propensities are wrong, or there were more rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Fact, Facts, Prose
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.charts.what_if import draw_sample_size, draw_sensitivity
from counterfold.report.html.sections.base import WITHHELD, Section

SAME = "The new policy does what the log did: there is no difference that could change."


@dataclass(frozen=True)
class WhatIf(Section):
    """How far the conclusion can be pushed."""

    number: ClassVar[int] = 8
    title: ClassVar[str] = "What if?"

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        if case.shown_answer is None:
            return [Prose(WITHHELD if case.answered else "Nothing was evaluated.")]
        if case.shown_answer.is_same:
            return [Prose(SAME)]
        return [list_facts(case), draw_sensitivity(case), draw_sample_size(case)]


def list_facts(case: Case) -> Facts | None:
    """Return what it takes to change the conclusion."""
    found = []
    if (wrong := case.exhibits.get("sensitivity")) is not None and wrong.facts["is_told"]:
        factor = wrong.facts["factor"]
        least = f"{factor:.2f}" if factor else f"more than {wrong.lines[-1]['factor']:.0f}"
        found.append(Fact("a factor in all propensities of", least, "would change the conclusion"))
    if (rows := case.exhibits.get("sample-size")) is not None and rows.facts["rows_to_tell"] is not None:
        needed, count = rows.facts["rows_to_tell"], rows.facts["rows"]
        enough = "would be enough" if needed <= count else f"are needed, {needed / count:.1f} times this log"
        found.append(Fact("to tell the difference from 0", f"{formats.count(needed)} rows", enough))
    return Facts(found) if found else None
