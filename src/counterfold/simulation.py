"""Problem: a log, a target policy and its true value; and what all makers of problems need."""

from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Floats, Ints
from counterfold.log import Log


@dataclass(frozen=True, eq=False)
class Problem:
    """A log, a target and the value that the target truly has on it.

    `predictions` are those of a user's own model, if there are any, and `scale` is the unit in which errors count.
    """

    log: Log
    target: Floats
    truth: float
    predictions: Floats | None = None
    scale: float = 1.0


def softmax(scores: Floats) -> Floats:
    """Return probabilities that are proportional to the exponentials of the scores, row by row."""
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


def draw_actions(probabilities: Floats, luck: Floats) -> Ints:
    """Return the action of each row that a uniform random number in [0, 1) picks by the row's probabilities."""
    totals = probabilities.cumsum(axis=1)
    limits = luck[:, None] * totals[:, -1:]  # rounding may leave the last total a little below 1
    return np.asarray((totals > limits).argmax(axis=1))
