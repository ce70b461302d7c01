"""The log and the targets on one scale, and the differences between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from counterfold.evaluation.decision import Standing
from counterfold.report.choice import find_choice
from counterfold.report.figures.answer import Answer
from counterfold.report.figures.compare import Compare
from counterfold.report.figures.segments import Segments
from counterfold.report.guards import explain_guards, judge, write_guard
from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Folded, Prose, Table, tabulate
from counterfold.report.html.cases import Answered, Case, Report
from counterfold.report.html.sections.base import Section

FIRST_COLUMNS = {
    "name": ("Policy", formats.text),
    "value": ("Reward per decision", formats.words),
    "gap": ("Difference", formats.words),
    "low": ("From", formats.words),
    "high": ("To", formats.words),
}

LAST_COLUMNS = {
    "verdict": ("Verdict on the log", formats.words),
    "step": ("Next step", formats.words),
}

ALONE_COLUMNS = {
    "confidence": ("Confidence that it is better", formats.words),
}
"""What a table of policies says only if there is one difference."""

TOGETHER_COLUMNS = {
    "best": ("Probability to be best", formats.words),
    "may": ("May be the best", formats.words),
}
"""What a table of policies says only if there are several differences."""

GUARDS_COLUMNS = {
    "name": ("Policy", formats.text),
    "guard": ("Guard", formats.text),
    "value": ("Value", formats.words),
    "end": ("May be", formats.words),
    "limit": ("Limit", formats.words),
    "holds": ("Probability that it holds", formats.words),
    "all": ("That all hold", formats.words),
    "passes": ("All guards", formats.words),
    "verdict": ("Verdict on the log", formats.words),
}

UNSEEN = "missing-support"
"""The finding that the log never took some actions of a target."""

CHECKED = "The log was only checked: no policy was evaluated."
CONFIDENCE = (
    "The confidence that a policy is better goes by the interval of the difference: it is above 97.5 % if all of the "
    "95 % interval is above 0. It knows nothing of errors that the log cannot show, such as wrong propensities."
)
TOGETHER = (
    "Of several policies, some look better than they are by chance. So the intervals of their differences are for all "
    "at once: they hold together as often as the interval of one policy does alone, and the choice and the next step "
    "go by them. The probability to be best is that among the policies that the log can answer for."
)

MOST_LINES = 12
"""A table of more lines than these is closed, unless it is the first one."""


@dataclass(frozen=True)
class Policies(Section):
    """Today's policy and the new ones, judged by the same decisions."""

    order: ClassVar[int] = 5
    title: ClassVar[str] = "All policies on one scale"
    is_common: ClassVar[bool] = True

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        blocks: list[Block | None] = []
        for reward in dict.fromkeys(one.reward for one in report.cases):
            own = [one for one in report.cases if one.reward == reward]
            if any(one.answered is None for one in own):
                return [Prose(CHECKED)]
            blocks += [Prose(f"Judged by {formats.text(reward)}:") if reward else None]
            blocks += [Compare().draw(own), summarise(own), Answer().draw(own), *list_guards(own)]
        is_told = any(one.answered is not None and one.answered.confidence is not None for one in report.cases)
        is_several = any(one.answered is not None and one.answered.compared.simultaneous for one in report.cases)
        told = [Prose(CONFIDENCE) if is_told else None, Prose(TOGETHER) if is_several else None]
        few = f"Only the first {len(report.chapters)} of {len(report.cases)} have a chapter below; the JSON has all."
        is_cut = len(report.chapters) < len(report.cases)
        segments = [drawing for one in report.chapters for drawing in Segments().draw_columns(one)]
        return [*blocks, *told, *segments, Prose(few) if is_cut else None]


def summarise(cases: Sequence[Case]) -> Table:
    """Return a line for each policy, with its verdict; what the log cannot answer for is withheld."""
    first = cases[0].answered
    chosen = None if first is None else find_choice(first.compared)
    logged = [] if first is None else [{"name": first.logged, "value": first.write(first.evaluation.logged.value)}]
    logged = logged if chosen is None else [one | tell_standing(chosen.decision.standings[0]) for one in logged]
    middle = ALONE_COLUMNS if chosen is None else TOGETHER_COLUMNS
    lines = [*logged, *(describe(one) for one in cases)]
    told = "" if first is None else f", with the {first.interval_name} of each difference"
    return tabulate(f"All policies{told}", lines, FIRST_COLUMNS | middle | LAST_COLUMNS)


def tell_standing(standing: Standing) -> dict[str, str]:
    """Return how a policy stands among all."""
    return {"best": formats.share(standing.probability_best), "may": "yes" if standing.may_be_best else "no"}


def list_guards(cases: Sequence[Case]) -> list[Block]:
    """Return a line for each policy and guard, and how they are judged, if there are guards."""
    first = cases[0].answered
    if first is None or first.compared.guards is None:
        return []
    lines: list[dict[str, Any]] = []
    ranked = {one.target: one for one in first.compared.guarded}
    for one in (ranked[case.target] for case in cases if case.target in ranked):
        told = {"name": one.target, "passes": judge(one)}
        sure = None if one.probability is None else formats.share(one.probability)
        for line in one.guards:
            numbers = dict(zip(("value", "end", "limit", "holds"), write_guard(line), strict=True))
            lines.append({**told, "guard": line.guard, **numbers, "verdict": line.verdict, "all": sure})
    table = tabulate("Guards on other rewards", lines, GUARDS_COLUMNS)
    return [Folded(table) if len(lines) > MOST_LINES else table, Prose(explain_guards(first.compared))]


def describe(case: Case) -> dict[str, Any]:
    """Return the line of a policy."""
    answered, standing = case.answered, case.standing
    line: dict[str, Any] = {"name": case.target, "value": "withheld", "gap": "withheld", "verdict": case.badge}
    line |= {} if standing is None else tell_standing(standing)
    if answered is None:
        return line
    line["step"] = name_step(case, answered)
    result, gap = answered.evaluation, answered.gap
    if case.is_answerable:
        line["value"] = answered.write(result.value)
    if gap is None or answered.is_same:
        return line | {"gap": "baseline" if gap is None else "none"}
    if not answered.is_known:
        return line
    value, low, high = map(answered.write_signed, (gap.value, *gap.interval()))
    sure = None if answered.confidence is None else formats.probability(answered.confidence)
    return line | {"gap": value, "low": low, "high": high, "confidence": sure}


def name_step(case: Case, answered: Answered) -> str | None:
    """Return the next step in a word or two: more rows of the same kind do not help where actions were never tried."""
    if answered.step is None:
        return None
    is_unseen = any(one.name == UNSEEN for one in case.diagnostics.findings[:1])
    return "explore first" if is_unseen and answered.step.action == "log more" else answered.step.action
