"""How many rewards carry the answer."""

from dataclasses import dataclass
from heapq import nlargest

import numpy as np

from counterfold.base.arrays import bound_largest
from counterfold.diagnostics.base import ROUNDING, Answer, Diagnostic, Finding, Measurement, Number, Severity
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence

FIVE = 5
"""How many of the rows that move the answer most are kept."""


@dataclass(frozen=True)
class Supplied:
    """How far rows move the answer away from the usual reward, which two summaries of different rows add up to.

    `apart` and `squares` are the sums of $w |r - u|$ and of its squares, where $u$ is the usual reward; `earned` is the
    sum of $w r$; `unusual` counts rows with another reward. `top` holds $w |r - u|$, $w$ and $r$ of the rows that move
    it most.
    """

    apart: float
    squares: float
    earned: float
    unusual: int
    usual: float
    top: tuple[tuple[float, float, float], ...]

    def __add__(self, other: "Supplied") -> "Supplied":
        sums = self.apart + other.apart, self.squares + other.squares, self.earned + other.earned
        return Supplied(*sums, self.unusual + other.unusual, self.usual, tuple(nlargest(FIVE, self.top + other.top)))


@dataclass(frozen=True)
class FewRewards(Diagnostic):
    r"""Warn where fewer than `too_few` rewards carry the answer, or one row supplies `too_much` of it.

    $$\frac{(\sum_i w_i |r_i - u|)^2}{\sum_i w_i^2 (r_i - u)^2}$$

    is how many rewards would carry the answer as well, if all supplied the same; $u$ is the usual reward (that of at
    least 80 % of the rows, such as 0 for no click), or 0 where rewards differ more. The log may be worth many rows for
    the target, and yet only a few of them tell what it earns. It is a note where they are a `few`, or one row supplies
    `much`: the interval allows for that.
    """

    few: float = 8.0
    too_few: float = 4.0
    much: float = 0.25
    too_much: float = 0.4
    label = "enough rewards"
    measures = {
        "effective_rewards": "The number of equally weighted rewards that the answer is equivalent to.",
        "top_row_share": "The share of the answer that the largest contribution supplies.",
        "top_five_share": "The share of the answer that the five largest contributions supply.",
        "value_without_top_row": "The value by SNIPS without the row with the largest contribution.",
    }

    def observe(self, rows: Rows) -> Supplied:
        usual, weights, rewards = rows.usual_reward, rows.masses, rows.rewards
        moves = weights * np.abs(rewards - usual)
        sums = float(moves.sum()), float(moves @ moves), float(weights @ rewards)
        large = np.flatnonzero(moves >= bound_largest(moves, FIVE))
        top = large[np.lexsort((rewards[large], weights[large], moves[large]))[: -FIVE - 1 : -1]]
        several = zip(moves[top].tolist(), weights[top].tolist(), rewards[top].tolist(), strict=True)
        return Supplied(*sums, int((rewards != usual).sum()), usual, tuple(several))

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement:
        moves: Supplied = evidence.observed[self.name]
        total = evidence.total_weight
        if not total:
            return Measurement({"effective_rewards": 0.0}, "none")
        if not moves.apart:
            return Measurement({"effective_rewards": 0.0}, "none", [self.describe_none(moves)])
        effective = moves.apart**2 / moves.squares
        one, five = moves.top[0][0] / moves.apart, sum(move for move, _, _ in moves.top) / moves.apart
        _, weight, reward = moves.top[0]
        rest = total - weight
        without = (moves.earned - weight * reward) / rest if rest > ROUNDING * total else None
        numbers: dict[str, Number] = {"effective_rewards": effective, "top_row_share": one, "top_five_share": five}
        numbers["value_without_top_row"] = without
        what = "the answer" if not moves.usual else f"what the answer differs from {moves.usual:g}"
        carry = f"as if {effective:.1f} equal ones carried the answer"
        text = f"{carry}; one row supplies {one:.2%} of {what}, five rows {five:.2%}"
        if effective >= self.few and one < self.much:
            return Measurement(numbers, text)
        severity: Severity = "caution" if effective < self.too_few or one >= self.too_much else "note"
        supplied = f"as if {effective:.1f} equal ones did: one row supplies {one:.0%} of {what}"
        return Measurement(numbers, text, [self.describe_few(severity, supplied, moves.earned / total, without)])

    def describe_none(self, moves: Supplied) -> Finding:
        """Return what is wrong where no reward tells anything of the target."""
        problem = f"none of the {moves.unusual} rewards other than {moves.usual:g} fell on what the target does"
        return self.make_finding("caution", problem, "log more rows of what the target does, or wait for its rewards")

    def describe_few(self, severity: Severity, supplied: str, value: float, without: float | None) -> Finding:
        """Return what is wrong where few rewards carry the answer."""
        problem = f"few rewards carry the answer, {supplied}"
        if without is not None and value:
            problem += f", and without that row it changes by {abs(without / value - 1):.0%} (SNIPS)"
        remedy = "look at that row, and log more rows of what the target does before you rely on the answer"
        return self.make_finding(severity, problem, remedy)
