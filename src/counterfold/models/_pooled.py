"""Pooled: the predictions of a linear model, mixed with one regression on them for all actions."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats, count_different, row_sums
from counterfold.models._logistic import find_log_odds, fit_logistic
from counterfold.models._moments import scale_counts
from counterfold.models._policy_models import Derived, PolicyModels
from counterfold.models.base import Examples, Predictor, Scaling

PENALTY, STEEPEST = 8.0, 0.25
"""How many rows, or groups of them, draw slopes to 0; and how steep a chance is at most as a function of log-odds."""


@dataclass(frozen=True)
class Link:
    """What is linear: rewards between two ends or, where there are no others, the log-odds of the larger one."""

    low: float
    high: float
    is_logistic: bool

    def bend(self, q: Floats) -> Floats:
        """Return predicted rewards as what is linear."""
        if not self.is_logistic:
            return np.array(q)
        return find_log_odds(q, self.low, self.high)

    def unbend(self, values: Floats) -> Floats:
        """Return what is linear as predicted rewards."""
        if not self.is_logistic:
            return np.clip(values, self.low, self.high)
        from scipy.special import expit

        return np.asarray(self.low + (self.high - self.low) * expit(values))


@dataclass(frozen=True, eq=False)
class Pooled(Derived):
    """The mixture: the regression has a `share`, and `slopes` (1 + p) for columns that are scaled."""

    linear: Predictor
    share: float
    link: Link
    scaling: Scaling
    intercept: float
    slopes: Floats

    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""
        q, width = self.linear(rows), 1 + rows.context.shape[1]
        slopes, centre = self.slopes / self.scaling.scale, self.scaling.centre
        total = self.link.bend(q)
        total -= centre[0]
        total *= slopes[0]
        total += ((rows.columns - centre[1:width]) @ slopes[1:width] + self.intercept)[:, None]
        for logarithm, middle, slope in zip(rows.log_probs, centre[width:], slopes[width:], strict=True):
            total += (logarithm - middle) * slope
        q *= 1 - self.share
        q += self.share * self.link.unbend(total)
        return q


def fit_pooled(solved: PolicyModels, rows: Examples, share: float) -> Predictor:
    """Return what rows make of a model of theirs; nothing else where all of their rewards are equal."""
    (low, high), rewards = solved.limits, rows.rewards
    if not len(rows) or rewards.min() == rewards.max():
        return solved
    link = Link(low, high, is_logistic=bool(((rewards == low) | (rewards == high)).all()))
    bent, counts = link.bend(solved(rows)), scale_counts(np.ones(len(rows)) if rows.counts is None else rows.counts)
    columns = np.column_stack([bent[np.arange(len(rows)), rows.actions], rows.see(rows.actions)])
    scaling = find_scaling(columns, bent, rows)
    columns = (columns - scaling.centre) / scaling.scale
    penalty = PENALTY * len(rows) / count_different(rows.units)
    if link.is_logistic:
        found = fit_logistic(columns, (rewards == high).astype(np.float64), counts, STEEPEST * penalty)
    else:
        found = fit_linear(columns, rewards, counts, penalty)
    return Pooled(solved, share, link, scaling, float(found[0]), found[1:])


def find_scaling(columns: Floats, bent: Floats, rows: Examples) -> Scaling:
    """Return scales between how much columns vary and how far the target's actions lie from what was logged.

    The farther these lie, the more an error of a slope does to their predictions, and the more it is held down.
    """
    plain, first = Scaling.of(columns), 1 + rows.context.shape[1]
    if not rows.target_probs.shape[1]:
        return plain
    scale = plain.scale.copy()
    for place, matrix in zip([0, *range(first, len(scale))], [bent, *rows.log_probs], strict=True):
        squares = row_sums(rows.target_probs, (matrix - plain.centre[place]) ** 2)
        far = np.sqrt(np.average(squares, weights=rows.counts))
        scale[place] *= np.sqrt(max(1.0, far / scale[place]))
    return Scaling(plain.centre, scale)


def fit_linear(columns: Floats, rewards: Floats, counts: Floats, penalty: float) -> Floats:
    """Return the intercept and slopes of a ridge regression (1 + p); rewards may lie around a large number."""
    table, level = np.column_stack([np.ones(len(rewards)), columns]), float(np.average(rewards, weights=counts))
    gram = (table * counts[:, None]).T @ table + np.diag([0.0, *np.full(columns.shape[1], penalty)])
    found = np.linalg.solve(gram, table.T @ (counts * (rewards - level)))
    found[0] += level
    return np.asarray(found)
