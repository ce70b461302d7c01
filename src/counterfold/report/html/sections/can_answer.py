"""Whether the log can answer: what was found, the worst first, and what was checked and passed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.diagnostics import build_all
from counterfold.report.figures.over_time import OverTime
from counterfold.report.html.blocks import Block, Findings, Pairs, Prose
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.sections.base import Section

DOCS = ""
"""Where the docs site is, with a slash at the end; pages of findings are named, but not linked, if it is empty."""

BY_CHANCE = {"mean-weight", "outcome-context", "propensities"}
"""Checks that need actions drawn at random: where none was, they can find nothing, so they did not pass."""

OF_ANSWERS = {"disagreement", "effective-rows", "few-rewards", "model-shift"}
"""Checks that say how good an answer is, which there is none of where the log cannot answer."""


@dataclass(frozen=True)
class CanAnswer(Section):
    """What speaks against the answer, and what does not."""

    order: ClassVar[int] = 7
    title: ClassVar[str] = "Can this log answer?"

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        found = case.diagnostics
        hidden = {finding.name for finding in found.findings}
        if found.measures.get("unexplored_rows") == found.measures.get("rows"):
            hidden |= BY_CHANCE
        if not case.is_answerable:
            hidden |= OF_ANSWERS
        known = [one.label for one in build_all() if one.label in found.texts and one.name not in hidden]
        measured = [(label, found.texts[label]) for label in known if label not in found.unknown]
        unknown = [(label, found.texts[label]) for label in known if label in found.unknown]
        title = "Checked and passed" if case.is_answerable else "Also measured, but no reason to trust an answer"
        nothing = Prose("Nothing was found that speaks against the answer.")
        return [
            Findings(found.findings, DOCS) if found.findings else nothing,
            Pairs(title, measured) if measured else None,
            Pairs("Could not be checked", unknown) if unknown else None,
            OverTime().draw_on_page(case),
            OverTime().draw_difference(case),
        ]
