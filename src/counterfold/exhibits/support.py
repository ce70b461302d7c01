"""Support: what the log and the target do of each action, and what that earned."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.exhibits.base import Answered, Exhibit, Line, Shown

MOST = 1000
"""With more actions than this, none is listed."""

DOSES = 12
"""How many ranges of doses are listed."""


@dataclass(frozen=True, eq=False)
class ActionSums:
    """What some rows tell of one action: how many they are, the range of its propensities, and sums over decisions.

    `sums` are those of decisions, of the target's share, of rewards, and of $w$, $w r$, $w^2$, $w^2 r$ and $w^2 r^2$.
    """

    rows: int
    low: float
    high: float
    sums: Floats

    def join(self, other: "ActionSums") -> "ActionSums":
        """Return what the rows of both tell."""
        ends = min(self.low, other.low), max(self.high, other.high)
        return ActionSums(self.rows + other.rows, *ends, self.sums + other.sums)

    def describe(self, label: str, count: float) -> Line:
        """Return the line of the action, of a log of so many decisions."""
        logged, wanted, reward, weight, earned, *squares = self.sums.tolist()
        mean = earned / weight if weight else None
        variance = None if mean is None else squares[2] - 2 * mean * squares[1] + mean**2 * squares[0]
        return {
            "action": label,
            "rows": self.rows,
            "logged_share": logged / count,
            "target_share": wanted / count,
            "mean_reward": reward / logged if logged else None,
            "target_reward": mean,
            "target_stderr": None if variance is None else math.sqrt(max(variance, 0.0)) / weight,
            "least_propensity": self.low if self.rows else None,
            "largest_propensity": self.high if self.rows else None,
        }


@dataclass(frozen=True, eq=False)
class ByAction:
    """What some rows tell of each action; nothing if there are very many. What others tell can be added."""

    known: Mapping[Any, ActionSums] | None

    def __add__(self, other: "ByAction") -> "ByAction":
        if self.known is None or other.known is None:
            return ByAction(None)
        both = self.known.keys() & other.known.keys()
        found = {**self.known, **other.known, **{label: self.known[label].join(other.known[label]) for label in both}}
        return ByAction(found if len(found) <= MOST else None)


@dataclass(frozen=True)
class Support(Exhibit):
    """A line for each action, or range of doses: its share in the log and in the target, and what is known of it.

    `logged_share` and `target_share` are those of decisions; `target_share` comes from weights where the target's
    probabilities are known for the logged actions alone (`is_weighted`). `rows` had the action, with propensities from
    `least_propensity` to `largest_propensity`, and earned `mean_reward`; where the target takes the action, it earns
    `target_reward`, the mean under the weights, with its standard error as if rows were independent.
    """

    needs_answer = False

    def observe(self, rows: Rows) -> ByAction:
        if rows.kind == "doses":
            return ByAction(None)
        counts = np.ones(len(rows)) if rows.counts is None else rows.counts
        if len(rows.labels) > MOST:
            return ByAction(None)
        size, codes = len(rows.labels), rows.actions
        sums = np.stack([np.bincount(codes, one, size) for one in list_terms(rows, counts)], axis=1)
        if rows.has("target_probs"):
            sums[:, 1] = counts @ rows.target_probs
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, codes, rows.propensity)
        np.maximum.at(high, codes, rows.propensity)
        several = zip(*(one.tolist() for one in (np.bincount(codes, minlength=size), low, high)), sums, strict=True)
        return ByAction(dict(zip(rows.labels, (ActionSums(*one) for one in several), strict=True)))

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        found: ByAction = evidence.observed[self.name]
        mass = None if evidence.unsupported is None else evidence.unsupported_mass
        facts = {"is_weighted": not evidence.rows.has("target_probs"), "unsupported_mass": mass}
        if evidence.rows.kind == "doses":
            return Shown(list_doses(evidence.rows), {**facts, "is_weighted": False})
        if found.known is None:
            return None
        count = evidence.decision_count
        lines = [sums.describe(str(label), count) for label, sums in found.known.items()]
        return Shown(sorted(lines, key=lambda line: (-line["target_share"], line["action"])), facts)


def list_terms(rows: Rows, counts: Floats) -> list[Floats]:
    """Return what is summed over the rows of each action, with their weights in place of the target's share."""
    weights, rewards = rows.masses, rows.rewards
    squares = [weights**2, weights**2 * rewards, np.square(weights * rewards)]
    return [counts, weights, counts * rewards, weights, weights * rewards, *squares]


def list_doses(rows: Rows) -> list[Line]:
    """Return a line for each of some ranges of doses, of the same width."""
    counts = np.ones(len(rows)) if rows.counts is None else rows.counts
    every = np.concatenate([rows.dose, rows.target_doses.ravel()])
    ends = np.linspace(every.min(), every.max(), DOSES + 1)
    logged, given = (np.searchsorted(ends[1:-1], one, "right") for one in (rows.dose, rows.target_doses))
    lines, terms = [], list_terms(rows, counts)
    for place in range(DOSES):
        mine = logged == place
        sums, own = np.array([one[mine].sum() for one in terms]), rows.propensity[mine]
        sums[1] = counts @ (given == place).mean(axis=1)
        known = ActionSums(int(mine.sum()), float(own.min(initial=np.inf)), float(own.max(initial=0.0)), sums)
        lines.append(known.describe(f"{ends[place]:.3g} to {ends[place + 1]:.3g}", float(counts.sum())))
    return lines
