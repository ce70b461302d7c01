"""Why this number: how the answer was made of what many estimators say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold import messages
from counterfold.evaluation.result import Evaluation
from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Pairs, Prose
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.charts.candidates import draw_candidates
from counterfold.report.html.charts.ladder import draw_ladder, draw_steps
from counterfold.report.html.charts.losses import draw_losses
from counterfold.report.html.charts.tuning import draw_tuning
from counterfold.report.html.sections.base import WITHHELD, Section

SEVERAL = (
    "Several formulas (estimators) can tell from a log what another policy would earn. They differ in how much noise "
    "and how much bias they have."
)
LADDER = (
    "Ladder begins with small weights only, which are steady but favour what is done today, then allows larger ones "
    "step by step. The fewer rows carry a step, the less of it is taken."
)
MIXED = "A candidate's score is its estimated squared error; the mixture does not go by it."


@dataclass(frozen=True)
class Why(Section):
    """The way from the rows to the number."""

    number: ClassVar[int] = 4
    title: ClassVar[str] = "Why this number?"

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        answered = case.shown_answer
        if answered is None:
            return [Prose(WITHHELD if case.answered else "Nothing was evaluated.")]
        result = answered.evaluation
        left_out = [(formats.text(name), reason) for name, reason in result.left_out.items()]
        return [
            Prose(explain(case, result)),
            draw_ladder(case),
            draw_steps(case),
            draw_candidates(case),
            draw_tuning(case),
            draw_losses(case),
            Pairs("Estimators that did not apply", left_out) if left_out else None,
        ]


def explain(case: Case, result: Evaluation) -> str:
    """Return in words where the number comes from."""
    several = len(result.table)
    is_mixed = sum(line.share > 0 for line in result.table) > 1
    chosen = f"The answer comes from {messages.clean_sentence(result.selected)}"
    how = f"{'a mixture' if is_mixed else 'the best'} of {several} candidates, by {type(result.selector).__name__}"
    agreement = f"All {several} use the same rows, so agreement is weak evidence, and disagreement a warning."
    parts = {
        SEVERAL: True,
        f"{chosen}, {how if several > 1 else 'the only candidate'}.": True,
        LADDER: "ladder" in case.exhibits,
        MIXED: is_mixed and "ladder" in case.exhibits,
        agreement: several > 1,
    }
    return " ".join(part for part, is_said in parts.items() if is_said)
