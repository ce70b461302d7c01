"""The learnt policy: how it decides, what it looks at, and how often it takes each action."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.learning.result import Learned
from counterfold.report.figures.importance import Importance
from counterfold.report.figures.support import Support
from counterfold.report.figures.tree import Tree
from counterfold.report.html import formats
from counterfold.report.html.blocks import LONGEST, Block, Code, Pairs, Prose
from counterfold.report.html.cases import Case
from counterfold.report.html.sections.base import LearnedSection
from counterfold.report.policy_parts import list_lines, write_taken

NOTHING = (
    "Nothing beats today safely, so there is nothing to ship: keep what you have. "
    "What the best attempt would have changed is below."
)
MIXED = "Of all decisions it takes only a share itself, and leaves the others as the log took them."


@dataclass(frozen=True)
class LearntPolicy(LearnedSection):
    """What would be done, and where."""

    order: ClassVar[int] = 3
    title: ClassVar[str] = "The policy"

    def show(self, found: Learned, case: Case) -> Sequence[Block | None]:
        if not found.beats_log:
            taken = Support().draw_taken(case)
            return [Prose(NOTHING), tell_exploring(found), *list_limits(found), taken, *list_left_out(case)]
        return [
            Prose(MIXED) if found.policy.share < 1 else None,
            tell_exploring(found),
            *list_limits(found),
            Tree().draw(found),
            Support().draw_taken(case),
            Importance().draw(found),
            Code("The policy as text", "\n".join(list_lines(found.policy, LONGEST))),
            *list_left_out(case),
        ]


def tell_exploring(found: Learned) -> Block | None:
    """Return how many decisions are made at random, if any are."""
    if not found.policy.explore:
        return None
    share = formats.percent(found.policy.explore)
    return Prose(f"{share} of its decisions are made at random, so that its own log can judge the next policy.")


def list_limits(found: Learned) -> list[Block]:
    """Return the limits, if there are any, and what the policy takes; and what it never takes."""
    lines = [(formats.text(one.limit), write_taken(one)) for one in found.limits]
    forbidden = [label for label, good in zip(found.policy.shown_labels, found.policy.allowed, strict=True) if not good]
    lines += [(formats.text(label), "never") for label in forbidden]
    return [Pairs("Limits of what it takes, per decision", lines)] if lines else []


def list_left_out(case: Case) -> list[Block]:
    """Return the columns that no policy may look at, and why, if there are any."""
    found = {} if case.contents is None else case.contents.left_out
    return (
        [Pairs("Columns that it may not look at", [(formats.text(name), why) for name, why in found.items()])]
        if found
        else []
    )
