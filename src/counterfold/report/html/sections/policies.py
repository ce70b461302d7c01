"""The log and the targets on one scale, and the differences between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from counterfold.report.choice import find_choice, write_guard
from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Prose, Table, tabulate
from counterfold.report.html.cases import Answered, Case, Report
from counterfold.report.html.charts.policies import draw_differences, draw_values
from counterfold.report.html.charts.segments import draw_segments
from counterfold.report.html.sections.base import Section

POLICIES_COLUMNS = {
    "name": ("Policy", formats.text),
    "value": ("Reward per decision", formats.words),
    "gap": ("Difference", formats.words),
    "interval": ("Interval of the difference", formats.words),
    "confidence": ("Confidence that it is better", formats.words),
    "verdict": ("Verdict on the log", formats.words),
    "step": ("Next step", formats.words),
}

STANDINGS_COLUMNS = {
    "name": ("Policy", formats.text),
    "together": ("Difference, by intervals for all at once", formats.words),
    "best": ("Probability to be best", formats.words),
    "may": ("May be the best", formats.words),
}

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
    "Of several policies, some look better than they are by chance. The intervals for all at once hold together as "
    "often as each of the others does alone, and the next step goes by them. The probability to be best is that among "
    "the policies that the log can answer for."
)


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
            blocks += [draw_values(own), draw_differences(own), summarise(own), list_standings(own), list_guards(own)]
        is_told = any(one.answered is not None and one.answered.confidence is not None for one in report.cases)
        is_several = any(one.answered is not None and one.answered.compared.simultaneous for one in report.cases)
        told = [Prose(CONFIDENCE) if is_told else None, Prose(TOGETHER) if is_several else None]
        few = f"Only the first {len(report.chapters)} of {len(report.cases)} have a chapter below; the JSON has all."
        is_cut = len(report.chapters) < len(report.cases)
        segments = [figure for one in report.chapters for figure in draw_segments(one)]
        return [*blocks, *told, *segments, Prose(few) if is_cut else None]


def summarise(cases: Sequence[Case]) -> Table:
    """Return a line for each policy, with its verdict; what the log cannot answer for is withheld."""
    first = cases[0].answered
    logged = [] if first is None else [{"name": "today", "value": first.write(first.evaluation.logged.value)}]
    lines = [*logged, *(describe(one) for one in cases)]
    return tabulate("All policies", lines, POLICIES_COLUMNS)


def list_standings(cases: Sequence[Case]) -> Table | None:
    """Return how all policies stand together, the most probable first, if there are several."""
    first = cases[0].answered
    chosen = None if first is None else find_choice(first.compared)
    if chosen is None:
        return None
    answers = {case.target: case.answered for case in cases}
    lines = []
    for place, one in enumerate(chosen.decision.standings):
        ends = chosen.found.simultaneous.get(one.policy) if place else None
        own = answers.get(one.policy)
        together = None if ends is None or own is None else " to ".join(map(own.write_signed, ends))
        told = {
            "together": together,
            "best": formats.share(one.probability_best),
            "may": "yes" if one.may_be_best else "no",
        }
        lines.append((one.probability_best, {"name": one.policy if place else "today", **told}))
    ranked = sorted(lines, key=lambda pair: -pair[0])
    return tabulate("All policies at once", [line for _, line in ranked], STANDINGS_COLUMNS)


def list_guards(cases: Sequence[Case]) -> Table | None:
    """Return a line for each policy and guard, if there are guards."""
    first = cases[0].answered
    if first is None or first.compared.guards is None:
        return None
    lines: list[dict[str, Any]] = []
    for one in first.compared.guarded:
        told = {"name": one.target, "passes": "passes" if one.passes else "fails"}
        sure = None if one.probability is None else formats.share(one.probability)
        for line in one.guards:
            numbers = dict(zip(("value", "end", "limit", "holds"), write_guard(line), strict=True))
            lines.append({**told, "guard": line.guard, **numbers, "verdict": line.verdict, "all": sure})
    return tabulate("Guards on other rewards", lines, GUARDS_COLUMNS)


def describe(case: Case) -> dict[str, Any]:
    """Return the line of a policy."""
    answered = case.answered
    line: dict[str, Any] = {"name": case.target, "value": "withheld", "gap": "withheld", "verdict": case.badge}
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
    return line | {"gap": value, "interval": f"{low} to {high}", "confidence": sure}


def name_step(case: Case, answered: Answered) -> str | None:
    """Return the next step in a word or two: more rows of the same kind do not help where actions were never tried."""
    if answered.step is None:
        return None
    is_unseen = any(one.name == UNSEEN for one in case.diagnostics.findings[:1])
    return "explore first" if is_unseen and answered.step.action == "log more" else answered.step.action
