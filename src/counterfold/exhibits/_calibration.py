"""What calibration of a reward model is shown as: predicted against observed rewards, where the target goes."""

import math

import numpy as np

from counterfold.base.arrays import Ints, group_rows
from counterfold.estimators.estimates import standard_error
from counterfold.estimators.rows import Rows
from counterfold.estimators.unseen_rewards import Chance, Unseen
from counterfold.evidence.evidence import Evidence
from counterfold.exhibits.base import Answered, Line, find_ends
from counterfold.log.contents import Spread


def predict_rows(evidence: Evidence, answer: Answered) -> Rows | None:
    """Return rows with weight and with predictions that are out of sample, if any candidate uses the reward model."""
    is_used = any(one.uses("model") for one in answer.estimators.values())
    rows = evidence.predict_out_of_sample() if is_used else None
    if rows is None or not rows.weights.any():
        return None
    there = np.flatnonzero(rows.weights > 0)
    return rows if len(there) == len(rows) else rows.take(there, lambda: rows.q[there])


def compare_bins(rows: Rows, places: Ints, names: list[str], level: float) -> list[Line]:
    """Return a line for each bin that has rows: their predicted and observed reward under the weights, and ends."""
    order, bins = group_rows(places, len(names))
    whole = Spread.of(rows.rewards)
    several = ((name, order[own]) for name, own in zip(names, bins, strict=True) if own.start < own.stop)
    return [{"name": name, "rows": len(some), **compare(rows, some, whole, level)} for name, some in several]


def compare(rows: Rows, some: Ints, whole: Spread, level: float) -> dict[str, float]:
    """Return the mean predicted and observed reward of some rows, each of which counts by its weight.

    The interval of a few rows, or of rows that all have the same reward, reaches as far as rewards that happen not to
    be among them allow; it stays within the rewards of the log where these are two.
    """
    weights = rows.masses[some]
    rewards = Spread.of(rows.rewards[some], weights)
    chance = Chance(rewards.effective, rewards.mean - whole.low, whole.high - rewards.mean)
    unseen = Unseen((chance,), (whole.low, whole.high) if whole.is_two_valued else (-math.inf, math.inf))
    ends = find_ends(rewards.mean, find_error(rows, some), level)
    low, high = unseen.widen(ends["low"], ends["high"], rewards.mean, level)
    predicted = float(np.average(rows.q_logged[some], weights=weights))
    return {"predicted": predicted, "observed": rewards.mean, "low": low, "high": high}


def find_error(rows: Rows, some: Ints) -> float:
    """Return the standard error of the weighted mean reward; 0 of rows of one group, of which it is unknown."""
    groups = None if rows.groups is None else np.unique(rows.groups[some], return_inverse=True)[1]
    if len(some) < 2 or (groups is not None and groups.max() == 0):
        return 0.0
    return standard_error(rows.rewards[some], groups, rows.masses[some])
