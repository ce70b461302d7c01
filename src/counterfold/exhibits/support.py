"""Support: what the log and the target do of each action, and what that earned."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from counterfold.evidence import Evidence
from counterfold.exhibits.base import Answered, Exhibit, Line, Shown
from counterfold.rows import Rows

MOST = 1000
"""With more actions than this, none is listed."""

DOSES = 12
"""How many ranges of doses are listed."""


class ActionSums(NamedTuple):
    """What some rows tell of one action: sums over decisions, and the range of its propensities."""

    rows: int
    logged: float
    wanted: float
    reward: float
    low: float
    high: float

    def join(self, other: "ActionSums") -> "ActionSums":
        """Return what the rows of both tell."""
        number, logged, wanted = self.rows + other.rows, self.logged + other.logged, self.wanted + other.wanted
        ends = min(self.low, other.low), max(self.high, other.high)
        return ActionSums(number, logged, wanted, self.reward + other.reward, *ends)


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
    `least_propensity` to `largest_propensity`, and earned `mean_reward`.
    """

    needs_answer = False

    def observe(self, rows: Rows) -> ByAction:
        if rows.kind == "doses":
            return ByAction(None)
        counts = np.ones(len(rows)) if rows.counts is None else rows.counts
        if len(rows.labels) > MOST:
            return ByAction(None)
        size, codes = len(rows.labels), rows.actions
        number, logged = np.bincount(codes, minlength=size), np.bincount(codes, counts, size)
        reward = np.bincount(codes, counts * rows.rewards, size)
        wanted = counts @ rows.target_probs if rows.has("target_probs") else np.bincount(codes, rows.masses, size)
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, codes, rows.propensity)
        np.maximum.at(high, codes, rows.propensity)
        several = zip(*(one.tolist() for one in (number, logged, wanted, reward, low, high)), strict=True)
        return ByAction(dict(zip(rows.labels, (ActionSums(*one) for one in several), strict=True)))

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        found: ByAction = evidence.observed[self.name]
        facts = {"is_weighted": not evidence.rows.has("target_probs"), "unsupported_mass": evidence.unsupported_mass}
        if evidence.rows.kind == "doses":
            return Shown(list_doses(evidence.rows), {**facts, "is_weighted": False})
        if found.known is None:
            return None
        count = evidence.decision_count
        lines = [describe_action(str(label), sums, count) for label, sums in found.known.items()]
        return Shown(sorted(lines, key=lambda line: (-line["target_share"], line["action"])), facts)


def describe_action(label: str, sums: ActionSums, count: float) -> Line:
    """Return the line of one action of a log of so many decisions."""
    return {
        "action": label,
        "rows": sums.rows,
        "logged_share": sums.logged / count,
        "target_share": sums.wanted / count,
        "mean_reward": sums.reward / sums.logged if sums.logged else None,
        "least_propensity": sums.low if sums.rows else None,
        "largest_propensity": sums.high if sums.rows else None,
    }


def list_doses(rows: Rows) -> list[Line]:
    """Return a line for each of some ranges of doses, of the same width."""
    counts = np.ones(len(rows)) if rows.counts is None else rows.counts
    every = np.concatenate([rows.dose, rows.target_doses.ravel()])
    ends = np.linspace(every.min(), every.max(), DOSES + 1)
    logged, given = (np.searchsorted(ends[1:-1], one, "right") for one in (rows.dose, rows.target_doses))
    lines = []
    for place in range(DOSES):
        mine, wanted = logged == place, float(counts @ (given == place).mean(axis=1))
        sums = float(counts[mine].sum()), wanted, float(counts[mine] @ rows.rewards[mine])
        own = rows.propensity[mine]
        known = ActionSums(int(mine.sum()), *sums, float(own.min(initial=np.inf)), float(own.max(initial=0.0)))
        lines.append(describe_action(f"{ends[place]:.3g} to {ends[place + 1]:.3g}", known, float(counts.sum())))
    return lines
