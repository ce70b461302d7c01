"""Weights: how many rows really speak about the target, and which ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.report.figures import weights
from counterfold.report.figures.concentration import Concentration
from counterfold.report.figures.days import Days
from counterfold.report.figures.groups import Groups
from counterfold.report.figures.influence import Influence
from counterfold.report.html import formats, sentences
from counterfold.report.html.blocks import Block, Fact, Facts, Prose
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.sections.base import Section

LEFT_OUT = "The rows that carry the answer are left out of this report, as was asked for."
CALM = "Enough rows share the weight: the checks of weights found nothing to doubt."
OF_WEIGHTS = ("effective-rows", "largest-weight", "mean-weight")
"""The checks that look at weights."""

NONE = "No row has a weight: the policy never does what was done in the log."


@dataclass(frozen=True)
class Weights(Section):
    """How much single rows count."""

    order: ClassVar[int] = 9
    title: ClassVar[str] = "Weights: which rows decide?"

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        shown = case.exhibits.get("weights")
        if shown is None or not shown.lines:
            return [Prose(NONE)]
        facts = shown.facts
        expected = formats.setting(1 - (case.diagnostics.measures.get("unsupported_mass") or 0.0))
        rows = Influence().list_rows(case) if report.shows_rows else Prose(LEFT_OUT)
        return [
            Facts(
                [
                    Fact(
                        "effective rows", formats.count(facts["effective_rows"]), f"of {formats.count(facts['rows'])}"
                    ),
                    Fact("largest weight", formats.setting(facts["largest_weight"]), "times that a row counts"),
                    Fact("mean weight", formats.setting(facts["mean_weight"]), f"{expected} is expected"),
                    Fact("hold half of the weight", formats.percent(facts["rows_with_half"]), "of the rows"),
                ]
            ),
            Prose(judge(case)) if case.is_answerable else None,
            weights.Weights().draw_on_page(case),
            Concentration().draw_on_page(case),
            rows if case.is_answerable else None,
            Influence().draw_on_page(case),
            Groups().list_lines(case) if report.shows_rows else None,
            Days().list_lines(case),
        ]


def judge(case: Case) -> str:
    """Return whether weights are a reason to doubt the answer."""
    wrong = [one.problem for one in case.diagnostics.findings if one.name in OF_WEIGHTS and one.severity != "note"]
    return f"{sentences.capitalise(wrong[0])}." if wrong else CALM
