"""Estimators and a selector that a user might add to the paper's figures, good and bad."""

from dataclasses import dataclass

import numpy as np

import counterfold as cf


@dataclass(frozen=True)
class Half(cf.Estimator):
    """Half of the mean reward."""

    def contributions(self, rows):
        return rows.rewards / 2


@dataclass(frozen=True)
class Last(cf.Selector):
    """The last candidate."""

    def scores(self, rows, candidates, rng, pool):
        del rows, rng, pool
        return -np.arange(len(candidates), dtype=float)


NoPart = 7


@dataclass
class Broken(cf.Estimator):
    """Cannot be hashed."""

    def contributions(self, rows):
        return rows.rewards


@dataclass(frozen=True)
class Empty(Half):
    """Has no candidates."""

    @classmethod
    def candidates(cls, rows):
        del rows
        return []


@dataclass(frozen=True)
class Nothing(Half):
    """Is not a number."""

    def contributions(self, rows):
        return rows.rewards * np.nan
