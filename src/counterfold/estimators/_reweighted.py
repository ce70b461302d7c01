"""Estimators that differ from IPS or DR by what they do to the weights."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from counterfold import checks, kernels
from counterfold.arrays import Floats, Ints
from counterfold.estimates import standard_error
from counterfold.estimators.base import Parametric, space_geometrically
from counterfold.estimators.dr import DR
from counterfold.partition import Partition
from counterfold.rows import Rows

LARGEST = 1 << 19
"""How many numbers a matrix of weights may hold; it should not leave the cache."""


class Reweighted(Parametric):
    r"""$v_i = \hat w_i r_i$ or, if it `corrects` a reward model, $v_i = \hat q_i^\pi + \hat w_i (r_i - \hat q_i)$."""

    corrects: ClassVar[bool] = False

    @abstractmethod
    def reweigh(self, rows: Rows) -> Floats:
        """Return the changed weights."""

    def contributions(self, rows: Rows) -> Floats:
        weights = self.reweigh(rows)
        return rows.q_policy + weights * rows.residuals if self.corrects else weights * rows.rewards


class GridReweighted(Reweighted):
    """Tries all parameters of a grid at once, since `transform` takes a column of them as well as one."""

    @staticmethod
    @abstractmethod
    def transform(rows: Rows, parameter: float | Floats) -> Floats:
        """Return the changed weights, or a line of them for each parameter in a column."""

    def reweigh(self, rows: Rows) -> Floats:
        return self.transform(rows, self.parameter)

    @classmethod
    def sums(cls, grid: Sequence[Self], rows: Rows, partition: Partition) -> Floats:
        column = np.array([one.parameter for one in grid])[:, None]
        outcome = rows.residuals if cls.corrects else rows.rewards
        step = max(1, LARGEST // len(rows))
        starts = range(0, len(grid), step)
        weighed = [partition.products(cls.transform(rows, column[start : start + step]), outcome) for start in starts]
        found = np.concatenate(weighed)[:, None, :]
        return found + partition.sums(rows.q_policy) if cls.corrects else found


class ShrunkDR(GridReweighted):
    """DR with smaller weights, tuned by the estimated variance plus the square of the bias."""

    corrects = True
    has_rule = True
    limits = {0.0: "dm", math.inf: "dr"}
    needs = ("target_probs", "model")

    def risk(self, rows: Rows, delta: float) -> float:
        return standard_error(self.contributions(rows), rows.groups) ** 2 + self.bias(rows) ** 2

    def bias(self, rows: Rows) -> float:
        """Return an estimate of the bias, or a bound on it."""
        return self.value(rows) - DR().value(rows)


@dataclass(frozen=True)
class CappedWeights(GridReweighted):
    """Replaces every weight above `max_weight` by it."""

    max_weight: float = 10.0

    @staticmethod
    def transform(rows: Rows, parameter: float | Floats) -> Floats:
        return np.minimum(rows.weights, parameter)


@dataclass(frozen=True)
class Smoothed(Reweighted):
    """Weights a row by how near its dose is to the target's; tries bandwidths around the rule of thumb."""

    bandwidth: float = 1.0
    kinds = ("doses",)

    def __post_init__(self) -> None:
        checks.positive(bandwidth=self.bandwidth)

    def reweigh(self, rows: Rows) -> Floats:
        return kernels.smooth_density(rows.dose, rows.target_doses, self.bandwidth) / rows.propensity

    @classmethod
    def grid(cls, rows: Rows) -> list[float]:
        usual = kernels.choose_bandwidth(rows.dose)
        return space_geometrically(usual / 4, usual * 2, 13)


def excess_sums(target: Floats, logging: Floats, values: Floats, caps: Floats, partition: Partition) -> Floats:
    r"""Return $\sum_i \sum_a \max(\pi - M \pi_0, 0)\, q$ over each unit, for every cap M (caps x units).

    A pair of row and action counts for the caps below its weight: each pair goes into the bin between two caps, and the
    sums for a cap are those of all bins above it.
    """
    order = np.argsort(caps)
    bins = len(caps) + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        below = caps_below(target / logging, caps[order])
    place = (below + partition.of_rows[:, None] * bins).ravel()
    taken, logged = (
        np.bincount(place, (probs * values).ravel(), len(partition) * bins).reshape(-1, bins)[:, :0:-1].cumsum(axis=1)
        for probs in (target, logging)
    )
    ascending = np.where(caps[order] < np.inf, caps[order], 0.0)
    found = np.empty((len(caps), len(partition)))
    found[order] = (taken[:, ::-1] - ascending * logged[:, ::-1]).T
    return found


def caps_below(weights: Floats, caps: Floats) -> Ints:
    """Return how many of the ascending caps lie below each weight, 0 for weights that are no number."""
    return np.where(np.isnan(weights), 0, np.searchsorted(caps, weights))


def solve_parameter(weights: Floats, delta: float) -> float:
    """Return the parameter of `IPSLambda` that solves its equation, or 1 if the left side is too small even there.

    Everything is taken as logarithms, since weights to the power s may overflow and the solution may be tiny.
    """
    from scipy.optimize import brentq

    power = len(weights) ** 0.25
    logs = power * np.log(np.maximum(weights, np.finfo(float).tiny))
    right = np.log(2 * np.log(1 / delta) / (3 * len(weights)))

    def excess(log_mix: float) -> float:
        mixed = np.logaddexp(np.log1p(-np.exp(log_mix)) + logs, log_mix) * (2 / power)
        return float(2 * log_mix + np.logaddexp.reduce(mixed) - np.log(len(weights)) - right)

    largest = -1e-12
    return float(np.exp(brentq(excess, -700.0, largest, xtol=1e-14))) if excess(largest) > 0 else 1.0
