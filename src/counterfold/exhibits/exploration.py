"""Exploration: which actions make the answer uncertain, and by how much trying them more would narrow it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.exhibits.base import Answered, Exhibit, Shown

MOST = 1000
"""With more actions than this, none is listed."""

EXPLORED = 0.1
"""The share of all decisions that would be given to one action at random."""


@dataclass(frozen=True, eq=False)
class Noise:
    """What some rows tell of each action: sums of its squared influence, as logged and if it were explored.

    It is nothing if there are very many actions. What other rows tell can be added.
    """

    known: Mapping[Any, Floats] | None

    def __add__(self, other: "Noise") -> "Noise":
        if self.known is None or other.known is None:
            return Noise(None)
        both = {label: self.known[label] + other.known[label] for label in self.known.keys() & other.known.keys()}
        found = {**self.known, **other.known, **both}
        return Noise(found if len(found) <= MOST else None)


@dataclass(frozen=True)
class Exploration(Exhibit):
    r"""A line for each action: its share in the variance of SNIPS, and what exploring it would be worth.

    $$N_a = \sum_{i: a_i = a} w_i^2 (r_i - \hat V)^2, \qquad
      N_a(\epsilon) = \sum_{i: a_i = a} \frac{p_i}{(1 - \epsilon)\, p_i + \epsilon}\, w_i^2 (r_i - \hat V)^2$$

    `variance_share` is that of $N_a$ in the sum over all actions. If one in ten decisions ($\epsilon$) took the action
    at random, and the others were as now, on a log of the same size, that sum would be $N_a(\epsilon)$ and the
    $N_b / (1 - \epsilon)$ of all other actions; `width` is the root of its ratio to the sum today: the interval would
    be so many times as wide. Only actions that were logged are listed. On a large log, $\hat V$ is that of a sample.
    """

    needs_answer = False

    def observe(self, rows: Rows) -> Noise:
        if rows.kind == "doses" or len(rows.labels) > MOST:
            return Noise(None)
        moves = np.square(rows.masses * (rows.rewards - rows.weighted_reward))
        less = rows.propensity / ((1 - EXPLORED) * rows.propensity + EXPLORED)
        counts = np.bincount(rows.actions, minlength=len(rows.labels))
        sums = [counts, *(np.bincount(rows.actions, one, len(rows.labels)) for one in (moves, moves * less))]
        lines = zip(rows.labels, np.stack(sums, axis=1), strict=True)
        return Noise({label: line for label, line in lines if line[0]})

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        found: Noise = evidence.observed[self.name]
        if not found.known or not sum(line[1] for line in found.known.values()):
            return None
        total = float(sum(line[1] for line in found.known.values()))
        lines = []
        for label, (_, noise, explored) in found.known.items():
            after = float(explored + (total - noise) / (1 - EXPLORED))
            line = {"action": str(label), "variance_share": float(noise / total), "width": (after / total) ** 0.5}
            lines.append(line)
        ranked = sorted(lines, key=lambda line: (line["width"], line["action"]))
        return Shown(ranked, {"explored": EXPLORED})
