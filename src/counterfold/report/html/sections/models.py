"""Models: whether what was fitted predicts what it was not fitted on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from counterfold.report.figures.action_calibration import ActionCalibration
from counterfold.report.figures.calibration import Calibration
from counterfold.report.figures.reliability import Reliability
from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Fact, Facts, Prose
from counterfold.report.html.cases import Answered, Case, Report
from counterfold.report.html.sections.base import WITHHELD, Section

NONE = "No reward model was used: the answer rests on weights alone."
UNKNOWN = "Nothing was evaluated, so no reward model was fitted."
LITTLE = 0.5
"""So many standard errors is as much as an answer moves that hardly depends on the reward model."""

GIVEN = "The log has its own propensities, so none were fitted."


@dataclass(frozen=True)
class Models(Section):
    """Predicted and observed, on rows that the models have not seen."""

    order: ClassVar[int] = 11
    title: ClassVar[str] = "Models: do predictions hold?"

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        shown = case.exhibits.get("calibration")
        fitted = Reliability().draw_on_page(case) or Prose(GIVEN)
        if not case.is_answerable:
            return [Prose(WITHHELD), fitted]
        none = Prose(NONE if case.answered else UNKNOWN)
        facts = none if shown is None else list_facts(shown.facts)
        told = "" if shown is None or case.answered is None else compare_with_weights(case, case.answered)
        return [
            facts,
            Prose(told) if told else None,
            Calibration().draw_on_page(case),
            ActionCalibration().draw_on_page(case),
            fitted,
        ]


def list_facts(facts: Any) -> Facts | None:
    """Return how well the reward model fits, and what its errors do to the answer."""
    found = []
    if facts["explained"] is not None:
        share, is_worse = formats.percent(facts["explained"]), facts["explained"] < 0
        remark = "no better than guessing the mean" if is_worse else "of the rewards; little is common"
        found.append(Fact("variance explained", "none" if is_worse else share, remark))
    if facts["correction"] is not None:
        error = facts["stderr"]
        by = formats.signed(facts["correction"], error)
        found.append(Fact("correction by weights", by, f"standard error {formats.value(error, error)}"))
    return Facts(found) if found else None


def compare_with_weights(case: Case, answered: Answered) -> str:
    """Return whether the answer depends on the reward model, by what SNIPS says without it."""
    shown, result = case.exhibits.get("influence"), answered.evaluation
    if shown is None or not result.stderr > 0:
        return ""
    alone = shown.facts["snips"]
    depends = "hardly depends" if abs(result.value - alone) < LITTLE * result.stderr else "depends"
    values = f"without it, by weights alone (SNIPS), it would be {answered.write(alone)} instead of"
    poor = case.exhibits["calibration"].facts["explained"]
    is_poor = poor is not None and poor < 0
    told = "The reward model predicts no better than the mean reward would. " if is_poor else ""
    what = "it" if is_poor else "the reward model"
    return f"{told}The answer {depends} on {what}: {values} {answered.write(result.value)}."
