"""Weights: how many rows have which weight, and how much of all weight they have."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.exhibits.base import Answered, Exhibit, Line, Shown

LEAST, MOST, PER_DECADE = -6, 9, 10
"""Bins lie between these powers of ten, so many for each; what is outside falls into the bins at the ends."""

BINS = (MOST - LEAST) * PER_DECADE


@dataclass(frozen=True, eq=False)
class Binned:
    """How many rows fall into each bin, and their weight, which two summaries of different rows add up to."""

    rows: Ints
    weight: Floats
    zero_rows: int
    largest: float

    def __add__(self, other: "Binned") -> "Binned":
        rows, weight = self.rows + other.rows, self.weight + other.weight
        return Binned(rows, weight, self.zero_rows + other.zero_rows, max(self.largest, other.largest))


@dataclass(frozen=True)
class Weights(Exhibit):
    r"""Bins of the weights $w_i = \pi(a_i \mid x_i) / \pi_0(a_i \mid x_i)$ on a logarithmic scale.

    A line has the `low` and `high` end of a bin, the number of `rows` in it, their shares of all rows (`row_share`) and
    of all weight (`weight_share`), and both shares of these rows and all with larger weights (`rows_above`,
    `weight_above`).
    """

    needs_answer = False

    def observe(self, rows: Rows) -> Binned:
        there = rows.weights > 0
        weights, masses = rows.weights[there], rows.masses[there]
        place = np.floor((np.log10(weights) - LEAST) * PER_DECADE).clip(0, BINS - 1).astype(np.intp)
        counts, total = np.bincount(place, minlength=BINS), np.bincount(place, masses, BINS).astype(np.float64)
        return Binned(counts, total, int(len(rows) - there.sum()), float(rows.weights.max(initial=0.0)))

    def show(self, evidence: Evidence, answer: Answered) -> Shown:
        found: Binned = evidence.observed[self.name]
        count, total = evidence.row_count, float(found.weight.sum())
        above = found.rows[::-1].cumsum()[::-1], found.weight[::-1].cumsum()[::-1]
        used = np.flatnonzero(found.rows)
        lines = [
            {
                "low": 10.0 ** (LEAST + place / PER_DECADE),
                "high": 10.0 ** (LEAST + (place + 1) / PER_DECADE),
                "rows": int(found.rows[place]),
                "row_share": float(found.rows[place] / count),
                "weight_share": float(found.weight[place] / total),
                "rows_above": float(above[0][place] / count),
                "weight_above": float(above[1][place] / total),
            }
            for place in (range(used[0], used[-1] + 1) if len(used) else ())
        ]
        mean = total / evidence.decision_count
        facts = {"rows": count, "zero_rows": found.zero_rows, "largest_weight": found.largest, "mean_weight": mean}
        return Shown(lines, {**facts, "effective_rows": evidence.effective_rows, "rows_with_half": find_half(lines)})


def find_half(lines: Sequence[Line]) -> float | None:
    """Return how large a share of the rows, those with the largest weights, has half of all weight."""
    inside = [line for line in lines if line["weight_above"] >= 0.5]
    if not inside:
        return None
    last = inside[-1]
    part = (0.5 - (last["weight_above"] - last["weight_share"])) / last["weight_share"]
    return float(last["rows_above"] - last["row_share"] + part * last["row_share"])
