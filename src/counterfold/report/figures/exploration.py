"""Exploration: which actions make the answer uncertain, and by how much trying them more would narrow it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, FigureTable, Shown
from counterfold.report.html import formats
from counterfold.report.html.blocks import Table, tabulate
from counterfold.report.html.cases import Case

MOST_ACTIONS = 1000
"""With more actions than this, none is listed."""

EXPLORED = 0.1
"""The share of all decisions that would be given to one action at random."""

MOST_LISTED = 12
"""How many actions the page lists."""

COLUMNS = {
    "action": ("Action", formats.text),
    "variance_share": ("Its share in the uncertainty today", formats.percent),
    "narrower": ("The interval would be", formats.words),
}


@dataclass(frozen=True, eq=False)
class Noise:
    """What some rows tell of each action: sums of its squared influence, as logged and if it were explored.

    It is nothing if there are very many actions. What other rows tell can be added.
    """

    known: Mapping[Any, Floats] | None

    def __add__(self, other: "Noise") -> "Noise":
        if self.known is None or other.known is None:
            return Noise(None)
        joined = {**self.known, **other.known}
        for label in self.known.keys() & other.known.keys():
            joined[label] = self.known[label] + other.known[label]
        return Noise(joined if len(joined) <= MOST_ACTIONS else None)


@dataclass(frozen=True)
class Exploration(FigureTable):
    r"""A line for each action: its share in the variance of SNIPS, and what exploring it would be worth.

    $$N_a = \sum_{i: a_i = a} w_i^2 (r_i - \hat V)^2, \qquad
      N_a(\epsilon) = \sum_{i: a_i = a} \frac{p_i}{(1 - \epsilon)\, p_i + \epsilon}\, w_i^2 (r_i - \hat V)^2$$

    `variance_share` is that of $N_a$ in the sum over all actions. If one in ten decisions ($\epsilon$) took the action
    at random, and the others were as now, on a log of the same size, that sum would be $N_a(\epsilon)$ and the
    $N_b / (1 - \epsilon)$ of all other actions; `width` is the root of its ratio to the sum today: the interval would
    be so many times as wide. Only actions that were logged are listed. On a large log, $\hat V$ is that of a sample.
    """

    needs_answer: ClassVar[bool] = False

    def observe(self, rows: Rows) -> Noise:
        if rows.kind == "doses" or len(rows.labels) > MOST_ACTIONS:
            return Noise(None)
        size = len(rows.labels)
        moves = np.square(rows.masses * (rows.rewards - rows.weighted_reward))
        weight_factor = rows.propensity / ((1 - EXPLORED) * rows.propensity + EXPLORED)
        columns = [
            np.bincount(rows.actions, minlength=size),
            np.bincount(rows.actions, moves, size),
            np.bincount(rows.actions, moves * weight_factor, size),
        ]
        by_label = zip(rows.labels, np.stack(columns, axis=1), strict=True)
        return Noise({label: sums for label, sums in by_label if sums[0]})

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        noise: Noise = evidence.observed[self.name]
        if not noise.known:
            return None
        total = float(sum(sums[1] for sums in noise.known.values()))
        if not total:
            return None
        lines = []
        for label, (_, today, explored) in noise.known.items():
            after = float(explored + (total - today) / (1 - EXPLORED))
            lines.append(
                {"action": str(label), "variance_share": float(today / total), "width": (after / total) ** 0.5}
            )
        ranked = sorted(lines, key=lambda line: (line["width"], line["action"]))
        return Shown(ranked, {"explored": EXPLORED})

    def list_lines(self, case: Case) -> Table | None:
        """Return what trying each action more would be worth, the most useful first."""
        shown = case.exhibits.get(self.name)
        if shown is None or len(shown.lines) < 2:
            return None
        share = formats.share(shown.facts["explored"])
        lines = [{**line, "narrower": tell_width(line["width"])} for line in shown.lines[:MOST_LISTED]]
        return tabulate(f"If {share} of all decisions took one action at random", lines, COLUMNS)


def tell_width(width: float) -> str:
    """Return by how much an interval would be narrower or wider."""
    return f"{formats.percent(abs(1 - width))} {'narrower' if width < 1 else 'wider'}"
