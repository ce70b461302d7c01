"""Models: whether what was fitted predicts what it was not fitted on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Fact, Facts, Prose
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.charts.calibration import draw_by_action, draw_calibration, draw_reliability
from counterfold.report.html.sections.base import WITHHELD, Section

NONE = "No reward model was used: the answer rests on weights alone."
UNKNOWN = "Nothing was evaluated, so no reward model was fitted."
GIVEN = "The log has its own propensities, so none were fitted."


@dataclass(frozen=True)
class Models(Section):
    """Predicted and observed, on rows that the models have not seen."""

    number: ClassVar[int] = 7
    title: ClassVar[str] = "Models: do predictions hold?"

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        shown = case.exhibits.get("calibration")
        fitted = draw_reliability(case) or Prose(GIVEN)
        if not case.is_answerable:
            return [Prose(WITHHELD), fitted]
        none = Prose(NONE if case.answered else UNKNOWN)
        facts = none if shown is None else list_facts(shown.facts)
        return [facts, draw_calibration(case), draw_by_action(case), fitted]


def list_facts(facts: Any) -> Facts | None:
    """Return how well the reward model fits, and what its errors do to the answer."""
    found = []
    if facts["explained"] is not None:
        share = formats.percent(facts["explained"])
        found.append(Fact("variance explained", share, "of the rewards; little is common"))
    if facts["correction"] is not None:
        error = facts["stderr"]
        by = formats.signed(facts["correction"], error)
        found.append(Fact("correction by weights", by, f"standard error {formats.value(error, error)}"))
    return Facts(found) if found else None
