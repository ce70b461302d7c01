"""Why this number: how the answer was made of what many estimators say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.base import messages
from counterfold.evaluation.result import Evaluation
from counterfold.report.details import group_left_out
from counterfold.report.figures.candidates import Candidates
from counterfold.report.figures.ladder import Ladder
from counterfold.report.figures.losses import Losses
from counterfold.report.figures.tuning import Tuning
from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Pairs, Prose
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.sections.base import WITHHELD, Section

SEVERAL = (
    "Several formulas (estimators) can tell from a log what another policy would earn. They differ in how much noise "
    "and how much bias they have."
)
LADDER = (
    "Ladder begins with small weights only, or with none and a prediction, which is steady but blurs what the policy "
    "does, then allows larger ones step by step. The noisier a step is, the less of it is taken."
)
NEARLY_ALL = 0.995
"""A candidate with a larger share is the answer, whatever else is mixed in."""


@dataclass(frozen=True)
class Why(Section):
    """The way from the rows to the number."""

    order: ClassVar[int] = 8
    title: ClassVar[str] = "Why this number?"

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        answered = case.shown_answer
        if answered is None:
            return [Prose(WITHHELD if case.answered else "Nothing was evaluated.")]
        result = answered.evaluation
        reasons = group_left_out(result.left_out)
        left_out = [(", ".join(map(formats.text, names)), reason) for reason, names in reasons.items()]
        return [
            Prose(explain(case, result)),
            Ladder().draw_on_page(case),
            Ladder().draw_steps(case),
            Candidates().draw_on_page(case),
            Tuning().draw_on_page(case),
            Losses().draw_on_page(case),
            Pairs("Estimators that did not apply", left_out) if left_out else None,
        ]


def explain(case: Case, result: Evaluation) -> str:
    """Return in words where the number comes from."""
    several = len(result.table)
    first = max(result.table, key=lambda line: line.share)
    is_mixed = first.share < NEARLY_ALL
    chosen = f"The answer comes from {messages.clean_sentence(result.selected if is_mixed else first.name)}"
    how = f"{'a mixture' if is_mixed else 'one'} of {several} candidates, by {type(result.selector).__name__}"
    agreement = f"All {several} use the same rows, so agreement is weak evidence, and disagreement a warning."
    parts = {
        SEVERAL: True,
        f"{chosen}, {how if several > 1 else 'the only candidate'}.": True,
        LADDER: "ladder" in case.exhibits,
        agreement: several > 1,
    }
    return " ".join(part for part, is_said in parts.items() if is_said)
