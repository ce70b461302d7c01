"""Pooled: a linear model, mixed with one regression on its predictions for all actions."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats, count_different, row_sums
from counterfold.models._logistic import find_log_odds, fit_logistic
from counterfold.models._moments import scale_counts
from counterfold.models._policy_models import Derived, PolicyModels
from counterfold.models.base import Examples, Predictor, Scaling

PENALTY_IN_UNITS = 8.0
"""The penalty on slopes, in the information of rows, or of groups of rows."""

MAX_SLOPE_OF_LOGISTIC = 0.25
"""The largest slope of a probability as a function of its log-odds. It converts the penalty to log-odds."""


@dataclass(frozen=True)
class Link:
    """The scale on which the regression is linear: the reward, or the log-odds of `high` if there are two rewards."""

    low: float
    high: float
    is_logistic: bool

    def bend(self, q: Floats) -> Floats:
        """Return predicted rewards on the linear scale."""
        if not self.is_logistic:
            return np.array(q)
        return find_log_odds(q, self.low, self.high)

    def unbend(self, values: Floats) -> Floats:
        """Return values on the linear scale as predicted rewards within `low` and `high`."""
        if not self.is_logistic:
            return np.clip(values, self.low, self.high)
        from scipy.special import expit

        return np.asarray(self.low + (self.high - self.low) * expit(values))


@dataclass(frozen=True, eq=False)
class Pooled(Derived):
    """The mixture of a linear model and the pooled regression, which has the weight `share`.

    `slopes` (1 + p) are for scaled columns: the prediction of the linear model, then the features of the action.
    """

    linear: Predictor
    share: float
    link: Link
    scaling: Scaling
    intercept: float
    slopes: Floats

    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""
        q = self.linear(rows)
        width = 1 + rows.context.shape[1]
        slopes = self.slopes / self.scaling.scale
        centre = self.scaling.centre
        # in place, because the matrices are large
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
    """Return the mixture of a linear model and a regression on its predictions for these rows.

    It is the linear model alone if all rewards of the rows are equal.
    """
    low, high = solved.limits
    rewards = rows.rewards
    if not len(rows) or rewards.min() == rewards.max():
        return solved
    has_two_rewards = bool(((rewards == low) | (rewards == high)).all())
    link = Link(low=low, high=high, is_logistic=has_two_rewards)
    linear_q = link.bend(solved(rows))
    columns = np.column_stack([linear_q[np.arange(len(rows)), rows.actions], rows.see(rows.actions)])
    scaling = find_scaling(columns, linear_q, rows)
    columns = (columns - scaling.centre) / scaling.scale
    counts = scale_counts(np.ones(len(rows)) if rows.counts is None else rows.counts)
    penalty = PENALTY_IN_UNITS * len(rows) / count_different(rows.units)
    if link.is_logistic:
        is_high = (rewards == high).astype(np.float64)
        coefficients = fit_logistic(columns, is_high, counts, MAX_SLOPE_OF_LOGISTIC * penalty)
    else:
        coefficients = fit_linear(columns, rewards, counts, penalty)
    return Pooled(
        linear=solved,
        share=share,
        link=link,
        scaling=scaling,
        intercept=float(coefficients[0]),
        slopes=coefficients[1:],
    )


def find_scaling(columns: Floats, linear_q: Floats, rows: Examples) -> Scaling:
    """Return the scaling of the columns, with larger scales for columns in which the target is far from the log.

    The larger the distance, the more an error of a slope changes the predictions of the target's actions, and the more
    the slope is shrunk. `linear_q` (n x A) are the predictions that the first column has for the logged actions.
    """
    plain = Scaling.of(columns)
    if not rows.target_probs.shape[1]:
        return plain
    scale = plain.scale.copy()
    # the context is the same for all actions, so that only these columns have values of their own for each
    places = [0, *range(1 + rows.context.shape[1], len(scale))]
    for place, matrix in zip(places, [linear_q, *rows.log_probs], strict=True):
        squares = row_sums(rows.target_probs, (matrix - plain.centre[place]) ** 2)
        distance = np.sqrt(np.average(squares, weights=rows.counts))
        scale[place] *= np.sqrt(max(1.0, distance / scale[place]))
    return Scaling(centre=plain.centre, scale=scale)


def fit_linear(columns: Floats, rewards: Floats, counts: Floats, penalty: float) -> Floats:
    """Return the intercept and slopes of a ridge regression (1 + p), with a penalty on the slopes."""
    table = np.column_stack([np.ones(len(rewards)), columns])
    gram = (table * counts[:, None]).T @ table + np.diag([0.0, *np.full(columns.shape[1], penalty)])
    # rewards around a large level would lose digits
    level = float(np.average(rewards, weights=counts))
    coefficients = np.linalg.solve(gram, table.T @ (counts * (rewards - level)))
    coefficients[0] += level
    return np.asarray(coefficients)
