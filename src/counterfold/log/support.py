"""Support: which actions the log could have taken where, and so what it can tell of a target."""

import numpy as np

from counterfold.base.arrays import Bools, Floats
from counterfold.log.log import Log
from counterfold.log.propensities import Precision

CERTAIN = 1 - 1e-9
"""An action that had this probability or more was the only one that could be taken."""


def find_supported(log: Log, seen: Bools | None = None) -> Bools:
    """Return which actions the log could have taken in each row (n x A), as far as the log tells.

    Actions that were `seen` are those of the log, unless others are given.
    """
    possible, certain = find_possible(log, seen), is_certain(log.propensity, log.precision)
    if not certain.any():
        return possible
    own = np.arange(len(log.actions)) == log.action[:, None]
    return np.asarray(np.where(certain[:, None], own, possible))


def is_certain(propensity: Floats, precision: Precision | None = None) -> Bools:
    """Return in which rows the logged action had probability 1, so that nothing else was ever tried there.

    Of probabilities that are counted in draws, or rounded, nobody knows.
    """
    return np.asarray(propensity >= CERTAIN) & (precision is None)


def find_possible(log: Log, seen: Bools | None = None) -> Bools:
    """Return which actions might have been taken (n x A), whatever the propensities say."""
    if log.logging_probs is not None and log.precision is None:  # else 0 may be a small probability
        return np.asarray(log.logging_probs > (0 if log.fitted is None else log.fitted.least))
    if log.available is not None:
        return log.available
    if log.precision is not None:
        return np.broadcast_to(np.True_, (len(log), len(log.actions)))
    known = log.seen if seen is None else seen
    known = np.bincount(log.action, minlength=len(log.actions)) > 0 if known is None else known
    return np.broadcast_to(known, (len(log), len(log.actions)))
