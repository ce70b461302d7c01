"""Whether one column of the context nearly determines the rewards of all actions, as if it were known only later."""

from dataclasses import dataclass

import numpy as np

from counterfold.base import messages
from counterfold.base.arrays import Floats
from counterfold.base.hashing import hash_numbers
from counterfold.diagnostics._kept_rows import ALONE, KeptRows
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.diagnostics.shifted_rewards import ShiftedRewards
from counterfold.evidence.evidence import Evidence

MOST_ROWS = 1 << 10
"""So many of the kept rows are looked at."""

CELL_WIDTH = 3.0
"""How far apart the columns of different actions are put, so that one sort is enough for all actions."""

FEWEST_PAIRS = 100
"""With fewer pairs of rows of one action nothing is tested."""


@dataclass(frozen=True)
class FutureColumns(Diagnostic):
    r"""Warn where the rewards of every action are nearly a function of one column.

    $$1 - \frac{\sum (r_{(k + 1)} - r_{(k)})^2 / 2}{\sum (r_k - \bar r)^2}$$

    is the share of the variance of rewards that a column explains within actions, whatever the shape: the rows of each
    action are sorted by the column, and neighbours compared. From `large` on it is a caution. What is known before a
    decision hardly ever tells so much.
    """

    large: float = 0.9
    examines_log = True
    label = "columns of the future"
    measures = {
        "explained_share": "The largest share of an action's rewards that one context column explains.",
    }

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        kept: KeptRows | None = evidence.observed.get(ShiftedRewards().name)
        if kept is None:
            return None
        shares = explain_by_columns(kept)
        if not len(shares):
            return Measurement({"explained_share": 0.0}, None)
        place = int(shares.argmax())
        share = float(shares[place])
        _, column = evidence.contents.columns[place]
        shown = messages.show(column)
        text = f"column `{shown}` explains {share:.0%} of the rewards of an action"
        if share < self.large:
            return Measurement({"explained_share": share}, text)
        problem = f"column `{shown}` alone explains {share:.0%} of the variance of the rewards of each action"
        remedy = f"put `{shown}` into `ignore`, unless it was known before the decision"
        return Measurement({"explained_share": share}, text, [self.make_finding("caution", problem, remedy)])


def explain_by_columns(kept: KeptRows) -> Floats:
    """Return which share of the variance of rewards within actions each column explains; none with too few rows.

    Rows of one user have the same column and perhaps the same reward. So neighbours with different numbers alone must
    be as alike, where there are enough of them.
    """
    # Rows are shuffled by their hashes, so that those with equal numbers are in no order.
    shuffled = np.argsort(hash_numbers(kept.numbers), kind="stable")[:MOST_ROWS]
    cells = kept.cells[shuffled]
    shuffled = shuffled[cells < ALONE]
    cells = cells[cells < ALONE]
    rewards = kept.rewards[shuffled]
    sizes = np.bincount(cells)
    pairs = len(cells) - int((sizes > 0).sum())
    means = np.bincount(cells, rewards) / np.maximum(sizes, 1)
    total = float(((rewards - means[cells]) ** 2).sum())
    if pairs < FEWEST_PAIRS or not total:
        return np.zeros(0)
    keys = (CELL_WIDTH * cells[:, None] + kept.columns[shuffled]).T  # columns are from -1 to 1
    order = np.argsort(keys, axis=1, kind="stable")
    steps = np.diff(np.take_along_axis(keys, order, axis=1), axis=1)
    halves = np.diff(rewards[order], axis=1) ** 2 / 2
    is_same_cell = np.diff(cells[order], axis=1) == 0
    is_between = is_same_cell & (steps > 0)
    pairs_between = is_between.sum(axis=1)
    noise = (halves * is_same_cell).sum(axis=1) / pairs
    noise_between = (halves * is_between).sum(axis=1) / np.maximum(pairs_between, 1)
    noise_between = np.where(pairs_between < FEWEST_PAIRS, 0.0, noise_between)
    return np.asarray(np.maximum(1 - np.maximum(noise, noise_between) * pairs / total, 0.0))
