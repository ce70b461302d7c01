"""What if propensities are wrong, or there were more rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.evaluation.next_step import round_up
from counterfold.evaluation.result import Evaluation
from counterfold.evaluation.robustness import PARTS
from counterfold.report.figures.exploration import Exploration
from counterfold.report.figures.sample_size import SampleSize
from counterfold.report.figures.sensitivity import Sensitivity
from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Fact, Facts, Prose
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.sections.base import WITHHELD, Section

ALONE = (
    "What follows is about the difference of this policy to the log by its own interval, as if it were the only "
    "policy. Intervals that hold for all policies at once are wider, so that less changes what they say."
)

SAME = "The policy does what is done today: there is no difference that could change."


@dataclass(frozen=True)
class WhatIf(Section):
    """How far the conclusion can be pushed."""

    order: ClassVar[int] = 12
    title: ClassVar[str] = "What if?"

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        if case.shown_answer is None:
            return [Prose(WITHHELD if case.answered else "Nothing was evaluated.")]
        if case.shown_answer.is_same:
            return [Prose(SAME)]
        alone = Prose(ALONE) if case.shown_answer.compared.simultaneous else None
        return [
            alone,
            list_facts(case),
            Sensitivity().draw_on_page(case),
            SampleSize().draw_on_page(case),
            Exploration().list_lines(case),
        ]


def list_facts(case: Case) -> Facts | None:
    """Return what it takes to change the conclusion."""
    found = []
    if (wrong := case.exhibits.get("sensitivity")) is not None and wrong.facts["is_told"]:
        factor = wrong.facts["factor"]
        least = formats.factor(factor) if factor else f"more than {wrong.lines[-1]['factor']:.0f}"
        found.append(
            Fact(
                f"{wrong.facts['of']} of what was logged wrong by a factor of",
                least,
                "each in its worst way, would change the conclusion",
            )
        )
    unseen = case.exhibits.get("worst-support")
    if unseen is not None and unseen.facts["is_told"]:
        share = unseen.facts["share"]
        least = "not even all of it" if share is None else formats.percent(share)
        found.append(Fact("of what was never tried", least, "at the worst reward, would change the conclusion"))
    found += [] if case.answered is None else list_carriers(case.answered.evaluation)
    step = None if case.answered is None else case.answered.step
    times = None if step is None else step.times_rows
    if times is not None:
        much = "this log has enough" if times <= 1 else f"{max(2, round_up(times)):,} times this log"
        found.append(Fact("rows to show the difference", much, "at a level of 5 %, with a power of 80 %"))
    return Facts(found) if found else None


def list_carriers(result: Evaluation) -> list[Fact]:
    """Return whether leaving out one group, or one day, would change the conclusion."""
    known = result.robustness
    if not known.is_told:
        return []
    hangs = {one.part: one.name for one in known.hangs_on}
    parts = [part for part, name in PARTS.items() if name in result.exhibits]
    return [
        Fact(f"one {part} left out", "would change it", f"the conclusion hangs on {hangs[part]}")
        if part in hangs
        else Fact(f"one {part} left out", "would not change it", f"the conclusion stays, whichever {part} it is")
        for part in parts
    ]
