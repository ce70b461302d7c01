"""Whether each reward belongs to the row before, as after a join that is off by one row."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.diagnostics._kept_rows import KeptRows, find_f_test_p, fit_squares
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence

FEWEST_ROWS = 200
"""With fewer pairs of neighbouring rows nothing is tested."""


@dataclass(frozen=True)
class ShiftedRewards(Diagnostic):
    r"""Warn where the rewards follow from the context and the action of the row before, and not from their own.

    The ranks of the rewards of neighbouring rows $i$ and $i + 1$ are regressed on the context and the action of row
    $i$. It is a caution if these explain the next row's reward with a p-value below `alarm` (an F-test), and their own
    reward less than `own` times as well. Where neighbours resemble each other, as rows of one user do, the own reward
    is explained at least as well as the next one.
    """

    alarm: float = 0.001
    own: float = 0.25
    sees_target = False
    examines_log = True
    label = "rewards of their rows"
    measures = {
        "next_reward_p": (
            "The p-value of the dependence of the next row's reward on context and action, if there is none."
        ),
        "next_reward_share": "The share of the variance of the next row's reward that context and action explain.",
        "own_reward_share": "The share of the variance of a row's own reward that context and action explain.",
    }

    def observe(self, rows: Rows) -> KeptRows | None:
        return KeptRows.of(rows)

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        kept: KeptRows | None = evidence.observed.get(self.name)
        if kept is None:
            return None
        has_next = np.flatnonzero(np.diff(kept.numbers) == 1)
        if len(has_next) < FEWEST_ROWS or not kept.design.shape[1]:
            return Measurement({"next_reward_p": 1.0, "next_reward_share": 0.0, "own_reward_share": 0.0}, None)
        design = kept.design[has_next]
        own_rewards = kept.ranks[has_next]
        next_rewards = kept.ranks[has_next + 1]
        products = design.T @ design
        next_p, next_share = explain(design, products, next_rewards, kept.informative)
        _, own_share = explain(design, products, own_rewards, kept.informative)
        numbers = {"next_reward_p": next_p, "next_reward_share": next_share, "own_reward_share": own_share}
        text = (
            f"context and action explain {own_share:.1%} of their own reward and {next_share:.1%} of that of the next "
            f"row (p = {next_p:.2g})"
        )
        if next_p >= self.alarm or own_share >= self.own * next_share:
            return Measurement(numbers, text)
        problem = (
            f"rewards seem to be recorded one row too late: context and action explain {next_share:.1%} of the next "
            f"row's reward (p = {next_p:.1g}) and {own_share:.1%} of their own"
        )
        remedy = "check how rewards were joined to decisions: by a key of the decision, and not by their order"
        return Measurement(numbers, text, [self.make_finding("caution", problem, remedy)])


def explain(design: Floats, products: Floats, rewards: Floats, informative: int) -> tuple[float, float]:
    """Return the p-value of what a design explains of rewards, and its share of their variance, adjusted for noise."""
    centred = rewards - rewards.mean()
    total = float(centred @ centred)
    fit = fit_squares(products, design.T @ centred)
    left_freedom = len(rewards) - fit.rank
    left = max(total - fit.explained, 0.0)
    if not total or left_freedom <= 0:
        return 1.0, 0.0
    p = find_f_test_p(
        explained=fit.explained,
        freedom=fit.rank - 1,
        left=left,
        left_freedom=left_freedom,
        informative=informative,
    )
    noise = left / left_freedom
    return p, max(0.0, 1 - noise * (len(rewards) - 1) / total)
