"""Whether actions earn something else in one part of the log than in the other, as where labels were reused."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.cached import cached_property
from counterfold.diagnostics._kept_rows import STRETCH_SHIFT, Fit, KeptRows, find_f_test_p, fit_squares
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.diagnostics.shifted_rewards import ShiftedRewards
from counterfold.evidence.evidence import Evidence

PARTS = 4
"""The log is cut at the inner ends of its quarters."""

WORTH_A_LOOK = 0.05
"""The other places are only tried if the p-value at half of the log is smaller."""

FEWEST_ROWS = 500
"""With fewer rows nothing is tested."""


class Break(NamedTuple):
    """What a change of the effects of actions at some place explains, and what effects that stay the same explain.

    `share` is the share of the rows before the place; `changed` and `steady` are shares of the variance of rewards, of
    which the latter is only computed where it matters.
    """

    p: float
    share: float
    changed: float
    steady: float


@dataclass(frozen=True)
class ChangedActions(Diagnostic):
    r"""Warn where the actions differ in other ways in one part of the log than in the other.

    Within stretches of 32 neighbouring rows, so that nothing which changes for all actions alike counts, the ranks of
    the rewards are regressed on the context, the action and their products. It is a caution where the effects of
    actions differ before and after one of the inner ends of the log's quarters, with a p-value below `alarm` (an
    F-test, times the number of places), and this explains at least `much` times what effects that stay the same do.
    """

    alarm: float = 0.001
    much: float = 0.25
    examines_log = True
    label = "actions along the log"
    measures = {
        "changed_actions_p": (
            "The p-value of how the effects of actions change along the log, if they do not, corrected for "
            "multiple tests."
        ),
        "changed_actions_share": "The share of the rewards that such a change explains.",
    }

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        kept: KeptRows | None = evidence.observed.get(ShiftedRewards().name)
        if kept is None:
            return None
        found = find_break(kept)
        if found is None:
            return Measurement({"changed_actions_p": 1.0, "changed_actions_share": 0.0}, None)
        numbers = {"changed_actions_p": found.p, "changed_actions_share": found.changed}
        text = f"a change of the effects of actions explains {found.changed:.1%} of the rewards (p = {found.p:.2g})"
        if found.p >= self.alarm or found.changed < self.much * found.steady:
            return Measurement(numbers, text)
        problem = (
            f"the same actions earn something else after the first {found.share:.0%} of the log than before "
            f"(p = {found.p:.1g}): their labels may have been given to others, or their effects have changed"
        )
        remedy = "check that a label means the same action throughout, or evaluate the later rows alone"
        return Measurement(numbers, text, [self.make_finding("caution", problem, remedy)])


def find_break(kept: KeptRows) -> Break | None:
    """Return the place where the effects of actions change most surely, its p-value times the number of places."""
    count = len(kept)
    if count < FEWEST_ROWS or kept.cells.max() == 0 or not kept.design.shape[1]:
        return None
    order = np.argsort(kept.places, kind="stable")
    columns = np.hstack([kept.columns, kept.design])[order]
    columns, rewards = demean(columns, kept.ranks[order])
    if not rewards.any():
        return None
    stretches = -(-count >> STRETCH_SHIFT)
    test = ChangeTest(
        columns=columns,
        rewards=rewards,
        width=kept.columns.shape[1],
        freedom=count - stretches,
        informative=kept.informative / 2,
    )
    middle = test.compare(count // 2)
    others = [test.compare(count * part // PARTS) for part in (1, 3)] if middle.p < WORTH_A_LOOK else []
    surest = min([middle, *others], key=lambda one: one.p)
    return surest._replace(p=min(1.0, surest.p * (PARTS - 1)))


@dataclass(frozen=True, eq=False)
class Moments:
    """The sums of the products of columns, the context first and then the design, with each other and with rewards."""

    products: Floats
    cross: Floats

    def fit(self, first: int, last: int | None = None) -> Fit:
        """Return what some columns explain."""
        some = slice(first, last)
        return fit_squares(self.products[some, some], self.cross[some])


@dataclass(frozen=True, eq=False)
class ChangeTest:
    """Tests of changes along a log whose rows are in order: `columns` are the context, `width` of them, and the design.

    Columns and rewards have the mean 0 in each stretch; `freedom` is the number of rows less that of stretches,
    and `informative` the number of rows of a half with another reward than the most common one.
    """

    columns: Floats
    rewards: Floats
    width: int
    freedom: int
    informative: float

    @cached_property
    def first_half(self) -> Moments:
        """Return the sums over the first half of the rows."""
        return self.sum_rows(slice(len(self.rewards) // 2))

    @cached_property
    def every(self) -> Moments:
        """Return the sums over all rows."""
        first, second = self.first_half, self.sum_rows(slice(len(self.rewards) // 2, None))
        return Moments(products=first.products + second.products, cross=first.cross + second.cross)

    def sum_rows(self, part: slice) -> Moments:
        """Return the sums over a part of the rows."""
        columns = self.columns[part]
        return Moments(products=columns.T @ columns, cross=columns.T @ self.rewards[part])

    def compare(self, place: int) -> Break:
        """Return what a change of the effects of actions at a place explains, besides one of the effects of context."""
        before = self.first_half if place == len(self.rewards) // 2 else self.sum_rows(slice(place))
        every, width = self.every, self.width
        after = Moments(products=every.products - before.products, cross=every.cross - before.cross)
        one = before.fit(width)
        two = after.fit(width)
        total = float(self.rewards @ self.rewards)
        left = max(total - one.explained - two.explained, 0.0)
        left_freedom = self.freedom - one.rank - two.rank
        steady = let_context_change(before, every, width).fit(0)
        changes = one.rank + two.rank - steady.rank
        share = place / len(self.rewards)
        if changes <= 0 or left_freedom <= 0:
            return Break(p=1.0, share=share, changed=0.0, steady=0.0)
        gain = max(one.explained + two.explained - steady.explained, 0.0)
        noise = left / left_freedom
        p = find_f_test_p(
            explained=gain,
            freedom=changes,
            left=left,
            left_freedom=left_freedom,
            informative=self.informative,
        )
        changed = max(gain - changes * noise, 0.0) / total
        if p >= WORTH_A_LOOK:
            return Break(p=p, share=share, changed=changed, steady=0.0)
        context = every.fit(0, width)
        lasting = max(steady.explained - context.explained - (steady.rank - context.rank) * noise, 0.0) / total
        return Break(p=p, share=share, changed=changed, steady=lasting)


def demean(design: Floats, rewards: Floats) -> tuple[Floats, Floats]:
    """Return a design and rewards less their means in each stretch of neighbouring rows."""
    stretch = np.arange(len(rewards)) >> STRETCH_SHIFT
    first = np.flatnonzero(np.diff(stretch, prepend=-1))
    sizes = np.diff(np.append(first, len(rewards)))
    design_means = np.add.reduceat(design, first, axis=0) / sizes[:, None]
    reward_means = np.add.reduceat(rewards, first) / sizes
    return design - design_means[stretch], rewards - reward_means[stretch]


def let_context_change(before: Moments, every: Moments, width: int) -> Moments:
    """Return the sums of the design and of the context up to a place, so that the latter's effects may change there."""
    early = before.products[:width]
    products = np.block([[early[:, :width], early[:, width:]], [early[:, width:].T, every.products[width:, width:]]])
    return Moments(products=products, cross=np.concatenate([before.cross[:width], every.cross[width:]]))
