"""Assumptions, words, columns and settings: all that is needed to attack the answer, or to repeat it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from platform import python_version
from typing import ClassVar

from counterfold.log.contents import Contents
from counterfold.report.html import formats
from counterfold.report.html.blocks import Block, Code, Pairs
from counterfold.report.html.cases import Case, Report
from counterfold.report.html.glossary import ASSUMPTIONS, GLOSSARY
from counterfold.report.html.sections.base import Section

PACKAGES = ("counterfold", "numpy", "scipy", "scikit-learn", "pyarrow", "altair")

AGAIN = (
    "Choosing among contenders is allowed for. Choosing among several such reports is not: if columns, learners or "
    "seeds were changed until something beat the log, it beats the log less than stated."
)
"""What becomes of intervals if learning was repeated until it worked."""


@dataclass(frozen=True)
class Appendix(Section):
    """What is assumed, and how to repeat it."""

    order: ClassVar[int] = 13
    title: ClassVar[str] = "Assumptions, words and how to repeat this"
    is_common: ClassVar[bool] = True

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        contents = case.contents
        several = {one.reward: one.contents for one in report.cases if one.contents is not None and one.reward}
        return [
            Pairs("What is assumed", [*ASSUMPTIONS, describe_trials(report)]),
            Pairs("Words", GLOSSARY),
            Pairs("Columns that were named", [*report.roles.items()]) if report.roles else None,
            Pairs("What the log holds", [*describe_log(contents), *describe_rewards(several)])
            if contents is not None
            else None,
            Code("The exact call" if report.source else "The call, without the log and its columns", report.call),
            Pairs("Settings and versions", [*describe_settings(case), *describe_versions(report)]),
        ]


def describe_trials(report: Report) -> tuple[str, str]:
    """Return what becomes of intervals if the policy was made by these rewards."""
    if report.learned is not None:
        return "This was the first try", AGAIN
    count = len({case.target for case in report.cases})
    shown = "1 policy is" if count == 1 else f"{count} policies are"
    return "The policy was fixed first", (
        "It was made without looking at the rewards of this log; otherwise all intervals are too narrow. "
        f"{shown} in this report: if more were tried on this log, the best one looks better than it is."
    )


def describe_log(contents: Contents) -> list[tuple[str, str]]:
    """Return what the log holds, and which columns were taken for context."""
    rewards = contents.rewards
    lines = [
        ("rows", f"{formats.count(rewards.count)}, numbered from 0"),
        ("rewards", f"{rewards.low:g} to {rewards.high:g}, mean {rewards.mean:.4g}"),
        ("propensities", f"{contents.propensities.low:.3g} to {contents.propensities.high:.3g}"),
        ("actions", formats.count(len(contents.actions)) if contents.doses is None else "doses"),
        ("context columns taken", ", ".join(map(formats.text, contents.context)) or "none"),
    ]
    if contents.kept is not None:
        stand = f"which stand for {formats.count(round(rewards.weight))} decisions"
        lines.append(("kept", f"with probability {contents.kept.low:.3g} to {contents.kept.high:.3g}, {stand}"))
    if contents.groups is not None:
        lines.append(("groups", f"{formats.count(contents.groups)}, whose rows count as one observation each"))
    lines += [(f"not used: {formats.text(name)}", why) for name, why in contents.left_out.items()]
    return [*lines, *(("note", f"{note}; {remedy}") for note, remedy in contents.notes)]


def describe_rewards(several: Mapping[str, Contents]) -> list[tuple[str, str]]:
    """Return the range of each of several rewards."""
    ranges = {name: one.rewards for name, one in several.items()}
    return [
        (f"reward {formats.text(name)}", f"{one.low:g} to {one.high:g}, mean {one.mean:.4g}")
        for name, one in ranges.items()
    ]


def describe_settings(case: Case) -> list[tuple[str, str]]:
    """Return how the answer was made."""
    if case.answered is None:
        return []
    result = case.answered.evaluation
    return [
        ("selector", repr(result.selector)),
        ("interval", f"{result.method!r}, level {result.level:g}"),
        ("candidates", formats.count(len(result.table))),
        ("seed", str(result.seed)),
    ]


def describe_versions(report: Report) -> list[tuple[str, str]]:
    """Return the versions of what was used, and when."""
    return [*((name, version(name)) for name in PACKAGES), ("Python", python_version()), ("made", report.made)]
