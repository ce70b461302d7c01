"""Honesty: why the numbers of a learnt policy are not too good, though it was learnt from the same log."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.learning.result import Learned
from counterfold.report.html import learnt
from counterfold.report.html.blocks import Block, Pairs
from counterfold.report.html.cases import Case
from counterfold.report.html.sections.base import LearnedSection

APART = "Rows fall into folds. In each, policies decide that were learnt from the other folds, so none knows the row."
BOUND = (
    "The winner is the contender with the largest lower bound of its difference to the log, not the largest estimate."
)
KEPT = (
    "Where the interval of the difference reaches 0, the log's own policy stays: an estimate above 0 may be luck, and "
    "of several contenders the best one often is lucky."
)
ANEW = (
    "The winner was learnt anew from all rows. It knows more of them than the policies that were valued, and is "
    "usually a little better. By how much is not known, so the stated error is larger than theirs, and the upper end "
    "of the interval is higher by what another part of the rows seems to be worth to learners."
)
OTHERS = "and competed there with the others; what it is worth is told by all other rows alone, which it does not know."
PAST = "Do not evaluate it on these rows again: it has seen them. On the rows of next month, or in an A/B test, do."


@dataclass(frozen=True)
class Honesty(LearnedSection):
    """How rows that learn, rows that choose and rows that value are kept apart."""

    order: ClassVar[int] = 4
    title: ClassVar[str] = "How it was kept honest"

    def show(self, found: Learned, case: Case) -> Sequence[Block | None]:
        return [Pairs("What was done", list_steps(found))]


def list_steps(found: Learned) -> list[tuple[str, str]]:
    """Return what keeps the numbers from being too good."""
    if found.sample is not None:
        told = f"It was learnt from {found.sample:,} rows, {OTHERS}"
        bound = [("By the lower bound", BOUND)] if len(found.table) > 1 else []
        return [
            ("Learnt and valued apart", told),
            *bound,
            *([] if found.beats_log else [("Nothing is an answer", KEPT)]),
        ]
    steps = [("Learnt and valued apart", APART)]
    if len(found.table) > 1:
        folds = f" So chosen were {learnt.tell_folds(found)} folds."
        steps.append(("Chosen and valued apart", f"The rows of a fold take no part in choosing what values it.{folds}"))
        steps.append(("By the lower bound", BOUND))
    last = ("What is shipped", ANEW) if found.beats_log else ("Nothing is an answer", KEPT)
    return [*steps, last, *([("Afterwards", PAST)] if found.beats_log else [])]
