"""Whether the logged propensities were clipped from below, so that many are equal to the least one."""

import math
from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.diagnostics._kept_rows import hash_actions
from counterfold.diagnostics.base import Answer, Diagnostic, Least, Measurement
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence

CELLS = 1 << 10
"""Actions are counted in so many cells, by their hashes."""

KEPT = 64
"""How many of the least different propensities are kept."""

NEAR, FAR = 8, 32
"""Two of the next propensities, whose distances from the least one show whether many nearly reach it."""

PILED_UP = 30.0
"""How many times as far as the nearer of the two the other one is at most where a bound cuts through propensities.

It is about FAR / NEAR there. Where exploration bounds propensities, they approach the bound without reaching it.
"""

NEAREST = 1e-9
"""Propensities pile up, too, if the nearer one is closer to the least one than this share of it."""

DIGITS = 2
"""A bound that somebody chose has so many digits at most, such as 0.01 and 0.025."""


@dataclass(frozen=True, eq=False)
class LeastPropensities:
    """The least propensities of a log, and by cells of actions (each CELLS) the ends; those of other rows can be added.

    `counts` says how many rows of a cell have its least propensity.
    """

    least: Least
    low: Floats
    high: Floats
    counts: Floats

    @classmethod
    def of(cls, propensity: Floats, cell: Ints) -> "LeastPropensities":
        """Return what is known of some rows."""
        low, high = np.full(CELLS, np.inf), np.zeros(CELLS)
        np.minimum.at(low, cell, propensity)
        np.maximum.at(high, cell, propensity)
        counts = np.bincount(cell, propensity == low[cell], CELLS).astype(np.float64)
        return cls(least=Least.of(propensity, KEPT), low=low, high=high, counts=counts)

    def __add__(self, other: "LeastPropensities") -> "LeastPropensities":
        low = np.minimum(self.low, other.low)
        return LeastPropensities(
            least=self.least + other.least,
            low=low,
            high=np.maximum(self.high, other.high),
            counts=np.where(self.low == low, self.counts, 0.0) + np.where(other.low == low, other.counts, 0.0),
        )

    @property
    def rows(self) -> int:
        """Return how many rows have the least propensity, of actions that are sometimes likelier."""
        is_cut = (self.low == self.least.numbers[0]) & (self.high > self.low)
        return int(self.counts[is_cut].sum())


@dataclass(frozen=True)
class ClippedPropensities(Diagnostic):
    """Warn where many rows have the least propensity, a round number, and the next ones are all rare.

    It is a caution where at least `fewest` rows have the least propensity, at least `times` as many as have any of
    the next 32 different ones, and it is a number of at most two digits. Nothing is said where propensities pile up
    above it, as they do where a policy explores at random with some probability; nor of actions that have the same
    propensity in all rows. Clipped rows were less likely than the log says,
    and count too little. Where the probabilities of all actions are logged, the tests of propensities tell more, and
    nothing is said here; nor where propensities are fitted, counted in draws or rounded.
    """

    fewest: int = 10
    times: float = 5.0
    sees_target = False
    label = "clipped propensities"
    measures = {
        "clipped_rows": (
            "Rows with the smallest propensity, if it is a round number and hardly any rows have a propensity "
            "next to it."
        ),
    }

    def observe(self, rows: Rows) -> LeastPropensities | None:
        if rows.has("logging_probs") or rows.precision is not None or rows.kind == "doses":
            return None
        return LeastPropensities.of(rows.propensity, hash_actions(rows, rows.actions) % CELLS)

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        found: LeastPropensities | None = evidence.observed.get(self.name)
        if found is None or evidence.contents.fitted is not None:
            return None
        least, rows = float(found.least.numbers[0]), found.rows
        text = f"{rows:,} rows have the least propensity, {least:.4g}"
        if not self.is_clipped(found):
            return Measurement({"clipped_rows": 0}, text)
        problem = f"{text}, and hardly any have the ones next to it: propensities seem to be clipped there"
        remedy = (
            "log the probabilities that the actions were drawn with, unclipped; caps on weights belong in the "
            "estimator. Ignore this if the logging policy itself has this floor"
        )
        return Measurement({"clipped_rows": rows}, text, [self.make_finding("caution", problem, remedy)])

    def is_clipped(self, found: LeastPropensities) -> bool:
        """Say whether the least propensity is round and far more common than the next ones."""
        numbers, counts = found.least.numbers, found.least.counts
        if len(numbers) <= FAR or not is_round(float(numbers[0])):
            return False
        next_most = int(counts[1 : FAR + 1].max())
        near, far = numbers[[NEAR, FAR]] - numbers[0]
        is_piled_up = near < NEAREST * numbers[0] or far > PILED_UP * near
        return found.rows >= max(self.fewest, self.times * next_most) and not is_piled_up


def is_round(number: float) -> bool:
    """Say whether a number has at most two digits.

    >>> is_round(0.01), is_round(0.025), is_round(0.0123)
    (True, True, False)
    """
    return math.isclose(float(f"{number:.{DIGITS - 1}e}"), number, rel_tol=1e-6)
