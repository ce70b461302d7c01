"""What if propensities are wrong, or there were more rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.evaluation.next_step import round_up
from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Fact, Facts, Prose
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.charts.what_if import draw_sample_size, draw_sensitivity
from counterfold.report.html.sections.base import WITHHELD, Section

SAME = "The policy does what is done today: there is no difference that could change."


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
        least = formats.factor(factor) if factor else f"more than {wrong.lines[-1]['factor']:.0f}"
        found.append(
            Fact("propensities wrong by a factor of", least, "each in its worst way, would change the conclusion")
        )
    times = None if case.answered is None else case.answered.step.times_rows
    if times is not None:
        much = "this log has enough" if times <= 1 else f"{max(2, round_up(times)):,} times this log"
        found.append(Fact("rows to show the difference", much, "at a level of 5 %, with a power of 80 %"))
    return Facts(found) if found else None
