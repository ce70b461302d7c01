"""The answer, in one sentence for each case, what to do now, and a paragraph to paste."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.report.html import formats, sentences
from counterfold.report.html.blocks import Block, Fact, Prose
from counterfold.report.html.cases import Answered, Case, Report
from counterfold.report.html.sections.base import Section
from counterfold.report.numbers import format_logged, format_number, format_value


@dataclass(frozen=True, eq=False)
class Statement(Block):
    """What a case comes to: a sentence, its interval, the verdict and why, the next step, and a few numbers."""

    case: Case
    headline: sentences.Headline
    interval: str
    verdict: str
    meaning: str
    why: str
    step: str
    facts: Sequence[Fact]
    link: str
    template = "statement.html"


@dataclass(frozen=True)
class Paragraph(Block):
    """A text to be pasted."""

    words: str
    template = "paragraph.html"


@dataclass(frozen=True)
class Answer(Section):
    """What to know if nothing else is read."""

    number: ClassVar[int] = 1
    title: ClassVar[str] = "The answer"
    is_common: ClassVar[bool] = True

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        several = [make_statement(one, report.truth, report.find_key(3, one)) for one in report.cases]
        best = sentences.tell_best(report.cases)
        return [Prose(best, "lead") if best else None, *several, Paragraph(sentences.write_paragraph(report.cases))]


def make_statement(case: Case, truth: float | None, link: str) -> Statement:
    """Return what a case comes to, with a link to what was found."""
    answered = case.answered
    step = "" if answered is None else answered.step.sentence
    interval = "" if answered is None or not case.is_answerable else sentences.tell_interval(answered)
    facts = list_facts(case, truth)
    meaning, why = sentences.VERDICTS[case.verdict], sentences.tell_why(case)
    return Statement(case, sentences.tell(case), interval, case.verdict, meaning, why, step, facts, link)


def list_facts(case: Case, truth: float | None) -> list[Fact]:
    """Return the few numbers that stand out."""
    answered, found = case.answered, []
    if answered is not None:
        found.append(Fact("today earns", format_logged(answered.evaluation), "per decision, by the log"))
    if answered is not None and case.is_answerable:
        found += list_values(case, answered, truth)
    rows, effective = case.diagnostics.measures.get("rows"), case.diagnostics.measures.get("effective_rows")
    if rows is not None:
        worth = "" if effective is None else f"worth {formats.count(effective)} of this policy's own"
        found.append(Fact("decisions in the log", formats.count(rows), worth))
    return found


def list_values(case: Case, answered: Answered, truth: float | None) -> list[Fact]:
    """Return the value, how likely it is to be better and, where it is known, the truth."""
    result = answered.evaluation
    value, interval = format_value(result)
    found = [Fact(f"{case.name} earns", value, f"{100 * result.level:g} % interval {interval}")]
    if answered.chance is not None and answered.is_known:
        chance = formats.probability(answered.chance)
        found.append(Fact(f"chance of being better than {answered.baseline}", chance, "normal approximation"))
    if truth is not None:
        inside = "inside" if result.interval.low <= truth <= result.interval.high else "outside"
        found.append(
            Fact("the truth, known in this demo", format_number(truth, result.stderr), f"{inside} the interval")
        )
    return found
