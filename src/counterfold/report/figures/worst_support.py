"""Worst support: what if actions that the log could never take earned the least, or the most."""

from dataclasses import dataclass

import numpy as np

from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, FigureTable, Shown

SHARES = tuple(float(one) for one in np.linspace(0.0, 1.0, 11))
"""The shares of what was never tried that are taken to earn the worst."""


@dataclass(frozen=True)
class WorstSupport(FigureTable):
    r"""The interval of the uplift if a share s of what the log could never do earned the least, or the largest, reward.

    $$\bigl[\, l - s\, m\, (\hat V - r_{\min}),\; u + s\, m\, (r_{\max} - \hat V) \,\bigr]$$

    where [l, u] is the interval of the uplift, $\hat V$ the value of the target, m the share of its decisions that the
    log could never have made (`mass`), and $r_{\min}$ and $r_{\max}$ the least and the largest reward of the log: what
    was never tried is else taken to earn as much as the rest. `share` is the least one with which the interval holds 0;
    nothing if it does so already, or with none. It is shown where something was never tried.

    Manski (1990), "Nonparametric bounds on treatment effects".
    """

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        mass = 0.0 if evidence.unsupported is None else evidence.unsupported_mass
        if not mass > 0:
            return None
        low, high = answer.uplift.interval()
        value = answer.estimate.value
        rewards = evidence.contents.rewards
        down = mass * max(value - rewards.low, 0.0)
        up = mass * max(rewards.high - value, 0.0)
        lines = [{"share": share, "low": low - share * down, "high": high + share * up} for share in SHARES]
        needed = np.inf
        if low > 0 and down:
            needed = low / down
        elif high < 0 and up:
            needed = -high / up
        is_told = bool(low > 0 or high < 0)
        share = float(needed) if is_told and needed <= 1 else None
        return Shown(lines, {"mass": mass, "is_told": is_told, "share": share})
