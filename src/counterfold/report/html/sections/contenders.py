"""Contenders: what competed to be the learnt policy, and how each would have done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.learning.result import Learned
from counterfold.report.figures import contenders
from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Pairs, Prose
from counterfold.report.html.cases import Case
from counterfold.report.html.sections.base import LearnedSection

NONE = "This log cannot answer for any contender: numbers are withheld."


@dataclass(frozen=True)
class Contenders(LearnedSection):
    """Who competed, and who won."""

    order: ClassVar[int] = 2
    title: ClassVar[str] = "The contenders"

    def show(self, found: Learned, case: Case) -> Sequence[Block | None]:
        left_out = [(formats.text(name), reason) for name, reason in found.left_out.items()]
        return [
            contenders.Contenders().draw(found) or Prose(NONE),
            Pairs("Did not take part", left_out) if left_out else None,
        ]
