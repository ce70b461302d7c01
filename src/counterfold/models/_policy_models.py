"""PolicyModels: linear models of all actions, on the context and on what both policies think of the action."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from counterfold.base.arrays import Floats, Ints, group_rows, take_rows
from counterfold.models.base import Examples, Predictor, Scaling

LEAST = 0.1
"""What is added to every weight, so that no row is ignored."""

NEAR = 1 << 14
"""How many rows are predicted at a time, so that they stay near the processor."""


def weigh_rows(examples: Examples, aim: float) -> Floats:
    """Return how much models are to be right in each row: more where the target goes."""
    return np.asarray((examples.importance + LEAST) ** aim)


class Derived(ABC):
    """A predictor that was made of a linear model of the same rows; how far rows move that tells the noise of both."""

    linear: Predictor

    @abstractmethod
    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""


class Equations(NamedTuple):
    """What models were solved from: the matrices of all actions and of the shared model, penalties added.

    `alpha` is the penalty that draws actions to the shared model, whose coefficients are `shared`, and `factor` makes
    the sum of how much rows count the effective number of rows.
    """

    own: Floats
    common: Floats
    shared: Floats
    alpha: float
    factor: float

    def solve(self, gradients: Floats) -> tuple[Floats, Floats]:
        """Return what the products of a row's columns and errors are multiplied by, to know how it moves values.

        `gradients` (values x A x p) are those of the values in the coefficients of all actions. The first result
        (values x A x p) is for the errors of an action's own model, the second one (values x p) for those of the shared
        model.
        """
        own = np.linalg.solve(self.own, gradients.transpose(1, 2, 0)).transpose(2, 0, 1)
        shared = np.linalg.solve(self.common, self.alpha * own.sum(axis=1).T).T
        return np.asarray(self.factor * own), np.asarray(self.factor * shared)


@dataclass(frozen=True, eq=False)
class PolicyModels:
    """The models; `slopes` ((d + policies) x A) are those of scaled columns, and predictions stay within `limits`.

    `aim` says how much more rows count where the target goes, and `effective` is how many rows of the target those are
    worth that taught them.
    """

    scaling: Scaling
    intercepts: Floats
    slopes: Floats
    limits: tuple[float, float]
    equations: Equations
    aim: float
    effective: float

    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""
        q = np.empty((len(rows), rows.n_actions))
        for start in range(0, len(rows), NEAR):
            near = slice(start, start + NEAR)
            self._predict_near(rows.take(near), q[near])
        return q

    def _predict_near(self, rows: Examples, q: Floats) -> None:
        """Fill in the predictions of a few rows."""
        width, scaling = rows.context.shape[1], self.scaling
        slopes = self.slopes / scaling.scale[:, None]
        np.matmul(rows.columns - scaling.centre[:width], slopes[:width], out=q)
        q += self.intercepts - scaling.centre[width:] @ slopes[width:]
        for logarithm, slope in zip(rows.log_probs, slopes[width:], strict=True):
            q += slope * logarithm
        low, high = self.limits
        if low <= high:
            np.clip(q, low, high, out=q)

    def see_logged(self, rows: Examples) -> Floats:
        """Return what the models see of the logged actions (n x p)."""
        columns = rows.see(rows.actions)
        columns -= self.scaling.centre
        columns /= self.scaling.scale
        return np.vstack([np.ones(len(rows)), columns.T]).T

    def sum_policy(self, rows: Examples, shares: Floats) -> Floats:
        """Return the sum over rows of what the models see of every action, times how likely the target takes it."""
        width, (centre, scale) = rows.context.shape[1], (self.scaling.centre, self.scaling.scale)
        likely = rows.target_probs * shares[:, None]
        context = likely.T @ ((rows.columns - centre[:width]) / scale[:width])
        thought = [
            np.einsum("ij,ij->j", likely, (one - at) / by)
            for one, at, by in zip(rows.log_probs, centre[width:], scale[width:], strict=True)
        ]
        return np.column_stack([likely.sum(axis=0), context, *thought])


def predict_folds(models: Sequence[PolicyModels], rows: Examples, fold: Ints) -> Floats:
    """Return the predicted reward of every action (n x A) by the model of each row's fold; all are scaled alike."""
    q = np.empty((len(rows), rows.n_actions))
    for start in range(0, len(rows), NEAR):
        near = slice(start, start + NEAR)
        q[near] = _predict_near(models, rows.take(near), fold[near])
    return q


def _predict_near(models: Sequence[PolicyModels], rows: Examples, fold: Ints) -> Floats:
    """Return the predictions of a few rows; only their contexts are sorted by fold, to be multiplied together."""
    width, scaling = rows.context.shape[1], models[0].scaling
    slopes = np.stack([one.slopes for one in models]) / scaling.scale[:, None]
    levels = np.stack([one.intercepts for one in models]) - scaling.centre[width:] @ slopes[:, width:]
    order, places = group_rows(fold, len(models))
    context, ordered, back = take_rows(rows.columns, order), np.empty((len(rows), rows.n_actions)), np.empty_like(order)
    context -= scaling.centre[:width]
    for slope, place in zip(slopes, places, strict=True):
        np.matmul(context[place], slope[:width], out=ordered[place])
    back[order] = np.arange(len(order))
    q = take_rows(ordered, back)
    q += take_rows(levels, fold)
    for number, logarithm in enumerate(rows.log_probs, width):
        moved = take_rows(slopes[:, number], fold)
        moved *= logarithm
        q += moved
    limits = np.array([one.limits if one.limits[0] <= one.limits[1] else (-np.inf, np.inf) for one in models])
    limits = limits[:1] if (limits == limits[0]).all() else take_rows(limits, fold)
    return np.clip(q, limits[:, :1], limits[:, 1:], out=q)
