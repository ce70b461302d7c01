"""The answer, in one sentence for each case, what to do now, and a paragraph to paste."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from counterfold.evaluation.result import Evaluation
from counterfold.report.html import formats, learnt, message, sentences
from counterfold.report.html.blocks import Block, Fact, Prose
from counterfold.report.html.cases import Answered, Case, Report
from counterfold.report.html.sections.base import Section
from counterfold.report.numbers import note_less_shrunk

FINDINGS = "section-can-answer"
"""The section with all findings."""


@dataclass(frozen=True, eq=False)
class Statement(Block):
    """What a case comes to: a badge, a sentence, its interval, what changes, the next step, what to doubt, and numbers.

    `style` is that of the page for such a badge.
    """

    badge: str
    style: str
    meaning: str
    headline: sentences.Headline
    interval: str
    changes: str
    step: str
    doubt: str
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

    order: ClassVar[int] = 1
    title: ClassVar[str] = "The answer"
    is_common: ClassVar[bool] = True

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        several = [state(report, one) for one in report.leading]
        if report.learned is not None:
            lead = learnt.tell_lead(report.learned, case, several[0].facts)
            told = learnt.write_message(lead, message.describe_origin(report))
            return [replace(several[0], **lead._asdict()), Paragraph(told)]
        best = sentences.tell_best(report.cases)
        return [Prose(best, "lead") if best else None, *several, Paragraph(message.write_message(report))]


def state(report: Report, case: Case) -> Statement:
    """Return what a case of a report comes to."""
    return make_statement(case, report.truth, report.find_key(FINDINGS, case))


def make_statement(case: Case, truth: float | None, link: str) -> Statement:
    """Return what a case comes to, with a link to what was found."""
    answered = case.answered
    step = "" if answered is None or answered.step is None else answered.step.sentence
    interval = "" if answered is None or not case.is_answerable else sentences.tell_interval(answered)
    is_open = answered is not None and answered.holds_zero and case.badge == "good"
    style = "caution" if is_open or case.badge == "undecided" else case.badge
    meaning, headline, doubt = sentences.tell_meaning(case), sentences.tell(case), sentences.tell_doubt(case)
    changes, facts = sentences.tell_changes(case), list_facts(case, truth)
    return Statement(case.badge, style, meaning, headline, interval, changes, step, doubt, facts, link)


def list_facts(case: Case, truth: float | None) -> list[Fact]:
    """Return the few numbers that stand out."""
    answered, found = case.answered, []
    if answered is not None:
        found.append(
            Fact(answered.earned, answered.write(answered.evaluation.logged.value), "per decision, by the log")
        )
    if answered is not None and answered.origin is not None:
        found.append(Fact(f"{answered.baseline} earns", *write_value(answered, answered.origin)))
    if answered is not None and case.is_answerable:
        found += list_values(case, answered, truth)
    rows, effective = case.diagnostics.measures.get("rows"), case.diagnostics.measures.get("effective_rows")
    if rows is not None:
        own = f"as informative as {formats.count(effective or 0)} decisions of {case.called} itself"
        worth = own if effective is not None and case.is_answerable else ""
        found.append(Fact("decisions in the log", formats.count(rows), worth))
    return found


def list_values(case: Case, answered: Answered, truth: float | None) -> list[Fact]:
    """Return the value, the difference, how sure it is to be better and, where it is known, the truth."""
    result = answered.evaluation
    found = [Fact(f"{case.name} earns", *write_value(answered, result))]
    if answered.gap is not None and answered.is_known and not answered.is_same:
        gap, low, high = map(answered.write_signed, (answered.gap.value, *answered.gap.interval()))
        apart = f"{answered.interval_name} {low} to {high}"
        if answered.is_to_log:
            apart += note_less_shrunk(result)
        found.append(Fact(f"difference to {answered.baseline}", gap, apart))
    if case.standing is not None:
        best = formats.share(case.standing.probability_best)
        found.append(Fact("probability to be the best", best, "among all policies, if only chance may be wrong"))
    if answered.confidence is not None and truth is None:
        sure = formats.probability(answered.confidence)
        found.append(Fact("confidence that it is better", sure, "if only chance may be wrong"))
    if truth is not None:
        inside = "inside" if result.interval.low <= truth <= result.interval.high else "outside"
        found.append(Fact("the truth, known in this demo", answered.write(truth), f"{inside} the interval"))
    return found


def write_value(answered: Answered, result: Evaluation) -> tuple[str, str]:
    """Return a value and its interval, to the digits of the difference."""
    low, high = map(answered.write, result.interval)
    return answered.write(result.value), f"{100 * result.level:g}{formats.PERCENT} interval {low} to {high}"
