"""Actions whose rewards are all equal, for which there is nothing to learn."""

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.models.base import Examples


def constants(examples: Examples) -> Floats:
    """Return per action its reward if all its rewards are equal, 0 if it was never logged, NaN if it must be learnt."""
    return constant(*extremes(examples.actions, examples.rewards, examples.n_actions))


def extremes(codes: Ints, rewards: Floats, number: int) -> tuple[Floats, Floats]:
    """Return the least and the largest reward of each code; infinite ones, the wrong way round, where it is missing."""
    low, high = np.full(number, np.inf), np.full(number, -np.inf)
    np.minimum.at(low, codes, rewards)
    np.maximum.at(high, codes, rewards)
    return low, high


def constant(low: Floats, high: Floats) -> Floats:
    """Return the reward where the least is the largest one, 0 where there is none, NaN where they differ."""
    return np.where(low > high, 0.0, np.where(low == high, low, np.nan))
