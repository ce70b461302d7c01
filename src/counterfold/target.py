"""Target: the probabilities of the policy to value, checked against one log."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold import kernels
from counterfold.arrays import Floats
from counterfold.checks import WHOLE, Checker
from counterfold.errors import DataError
from counterfold.log import CERTAIN, Log
from counterfold.log_checks import check_matrix, check_policy, count_dimensions

FARTHEST = 1e6
"""No target's dose is farther away, in ranges of the logged ones: a reward model's prediction there could overflow."""


@dataclass(frozen=True, eq=False)
class Target:
    """`logged` holds the probability of each logged action, `probs` (n x A) those of all actions if they are known.

    On a log of doses, `doses` (n x m) holds what the target would give, one or several draws per row, and `logged` the
    density of that at the logged dose, smoothed with a rule-of-thumb bandwidth.
    """

    logged: Floats
    probs: Floats | None = None
    doses: Floats | None = None

    @property
    def draws(self) -> int:
        """Return how many doses the target would give in a row."""
        return 1 if self.doses is None else self.doses.shape[1]

    def find_unsupported(self, log: Log) -> Floats | None:
        """Return the probability, row by row, of actions that the log could never take; nothing if that is unknown.

        Of a target that is known for the logged actions alone, it is known where these had probability 1: there it is
        what the target does besides; elsewhere it is taken for 0.
        """
        if self.probs is None:
            elsewhere = np.where(log.is_certain & (self.logged < CERTAIN), 1 - self.logged, 0.0)
            return elsewhere if elsewhere.any() else None
        return np.zeros(len(log)) if log.supports_all else np.where(log.supported, 0.0, self.probs).sum(axis=1)


def as_target(value: Any, log: Log, check: Checker = WHOLE) -> Target:
    """Return a checked target from a matrix (n x A), a vector (n) for logged actions, or a callable of the context.

    On a log of doses the target is the dose it would give in each row (n), or several draws of it (n x m).
    """
    if callable(value):
        value = value(log.context)
    if log.dose is not None:
        return _of_doses(value, log.dose, check)
    if count_dimensions(value) == 1:
        logged = check.floats("target", value, ndim=1)
        check.length("target", logged, len(log))
        check.probabilities("target", logged)
        return Target(logged)
    probs = check_policy("target", value, len(log), log.actions, check)
    return Target(probs[np.arange(len(log)), log.action], probs)


def _of_doses(value: Any, logged: Floats, check: Checker) -> Target:
    if count_dimensions(value) == 1:
        doses = check.floats("target", value, ndim=1)[:, None]
        check.length("target", doses, len(logged))
    else:
        doses = check_matrix("target", value, len(logged), check)[0]
    if doses.shape[1] == 0:
        raise DataError(f"{check.called('target')} must hold a dose in every row, got none.")
    check.finite("target", doses)
    near = np.abs(doses - logged.mean()) <= FARTHEST * np.ptp(logged)
    check.every("target", doses, near, f"within {FARTHEST:g} times the range of the logged doses")
    return Target(kernels.smooth_density(logged, doses, kernels.choose_bandwidth(logged)), doses=doses)
