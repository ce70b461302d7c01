"""Target: the probabilities of the policy to value, checked against one log."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold import checks
from counterfold.arrays import Floats
from counterfold.log import Log, arranged, dimensions, matrix


@dataclass(frozen=True, eq=False)
class Target:
    """`logged` holds the probability of each logged action, `probs` (n x A) those of all actions if they are known."""

    logged: Floats
    probs: Floats | None = None

    def unsupported(self, log: Log) -> Floats | None:
        """Return the probability, row by row, of actions that the log could never take; nothing if that is unknown."""
        return None if self.probs is None else np.where(log.supported, 0.0, self.probs).sum(axis=1)


def as_target(value: Any, log: Log) -> Target:
    """Return a checked target from a matrix (n x A), a vector (n) for logged actions, or a callable of the context."""
    if callable(value):
        value = value(log.context)
    if dimensions(value) == 1:
        logged = checks.floats("target", value, ndim=1)
        checks.length("target", logged, len(log))
        checks.probabilities("target", logged)
        return Target(logged)
    array, columns = matrix("target", value, len(log))
    probs = arranged("target", array, columns, log.actions)
    checks.probabilities("target", probs)
    return Target(probs[np.arange(len(log)), log.action], probs)
