"""PolicyModels: linear models of all actions, on the context and the log-probabilities of both policies."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from counterfold.base.arrays import Floats, Ints, group_rows, take_rows
from counterfold.models.base import ROWS_PER_BLOCK, Examples, Predictor, Scaling

ADDED_WEIGHT = 0.1
"""Added to the importance weight of every row, so that no row is ignored."""


def weigh_rows(examples: Examples, aim: float) -> Floats:
    """Return the weight of each row in the loss of a model, which is larger where the target goes."""
    return np.asarray((examples.importance + ADDED_WEIGHT) ** aim)


class Derived(ABC):
    """A predictor with a linear model of the same rows, which stands for it where the noise of fitting is computed."""

    linear: Predictor

    @abstractmethod
    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""


class Equations(NamedTuple):
    """The equations that models were solved from.

    - `own`: the matrices of all actions, with the penalty added (A x p x p).
    - `common`: the matrix of the shared model, with the penalty added (p x p).
    - `shared`: the coefficients of the shared model.
    - `alpha`: the penalty that shrinks actions towards the shared model.
    - `factor`: makes the counts of the rows add up to their effective number.
    """

    own: Floats
    common: Floats
    shared: Floats
    alpha: float
    factor: float

    def solve(self, gradients: Floats) -> tuple[Floats, Floats]:
        """Return the factors by which the scores of a row, its columns times its error, are multiplied in influences.

        `gradients` (values x A x p) are those of the values in the coefficients of all actions. The first result
        (values x A x p) multiplies scores of an action's own model, the second one (values x p) those of the shared
        model.
        """
        own = np.linalg.solve(self.own, gradients.transpose(1, 2, 0)).transpose(2, 0, 1)
        shared = np.linalg.solve(self.common, self.alpha * own.sum(axis=1).T).T
        return np.asarray(self.factor * own), np.asarray(self.factor * shared)


@dataclass(frozen=True, eq=False)
class PolicyModels:
    """The linear models of all actions.

    - `scaling`: of the features, which `slopes` ((d + policies) x A) and `intercepts` are for.
    - `limits`: predictions are clipped to this range, unless its ends are reversed.
    - `equations`: what the models were solved from.
    - `aim`: the exponent of the importance weights in the loss.
    - `effective`: the effective number of training rows under the target.
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
        for start in range(0, len(rows), ROWS_PER_BLOCK):
            block = slice(start, start + ROWS_PER_BLOCK)
            self._predict_block(rows.take(block), q[block])
        return q

    def _predict_block(self, rows: Examples, q: Floats) -> None:
        """Fill in the predictions of a block of rows."""
        width = rows.context.shape[1]
        scaling = self.scaling
        slopes = self.slopes / scaling.scale[:, None]
        np.matmul(rows.columns - scaling.centre[:width], slopes[:width], out=q)
        q += self.intercepts - scaling.centre[width:] @ slopes[width:]
        for logarithm, slope in zip(rows.log_probs, slopes[width:], strict=True):
            q += slope * logarithm
        low, high = self.limits
        if low <= high:  # they are reversed if there was no training row
            np.clip(q, low, high, out=q)

    def see_logged(self, rows: Examples) -> Floats:
        """Return [1, scaled features] of the logged actions (n x p), in column order."""
        columns = rows.see(rows.actions)
        columns -= self.scaling.centre
        columns /= self.scaling.scale
        return np.vstack([np.ones(len(rows)), columns.T]).T

    def sum_policy(self, rows: Examples, shares: Floats) -> Floats:
        """Return [1, scaled features] of each action (A x p), summed over rows with weights.

        The weight of a row is its share times the target's probability of the action.
        """
        width = rows.context.shape[1]
        centre = self.scaling.centre
        scale = self.scaling.scale
        weights = rows.target_probs * shares[:, None]
        context = weights.T @ ((rows.columns - centre[:width]) / scale[:width])
        log_probs = []
        for logarithm, middle, spread in zip(rows.log_probs, centre[width:], scale[width:], strict=True):
            log_probs.append(np.einsum("ij,ij->j", weights, (logarithm - middle) / spread))
        return np.column_stack([weights.sum(axis=0), context, *log_probs])


def predict_folds(models: Sequence[PolicyModels], rows: Examples, fold: Ints) -> Floats:
    """Return the predicted reward of every action (n x A) by the model of each row's fold.

    All models must have the same scaling.
    """
    q = np.empty((len(rows), rows.n_actions))
    for start in range(0, len(rows), ROWS_PER_BLOCK):
        block = slice(start, start + ROWS_PER_BLOCK)
        q[block] = _predict_block(models, rows.take(block), fold[block])
    return q


def _predict_block(models: Sequence[PolicyModels], rows: Examples, fold: Ints) -> Floats:
    """Return the predictions of a block of rows."""
    width = rows.context.shape[1]
    scaling = models[0].scaling
    slopes = np.stack([model.slopes for model in models]) / scaling.scale[:, None]
    levels = np.stack([model.intercepts for model in models]) - scaling.centre[width:] @ slopes[:, width:]

    # Only the context is sorted by fold, for one matrix product per fold. The log-probabilities (n x A) are larger, and
    # stay in place.
    order, places = group_rows(fold, len(models))
    context = take_rows(rows.columns, order)
    context -= scaling.centre[:width]
    sorted_q = np.empty((len(rows), rows.n_actions))
    for slope, place in zip(slopes, places, strict=True):
        np.matmul(context[place], slope[:width], out=sorted_q[place])
    position = np.empty_like(order)  # of each row in the sorted order
    position[order] = np.arange(len(order))

    q = take_rows(sorted_q, position)
    q += take_rows(levels, fold)
    for number, logarithm in enumerate(rows.log_probs, width):
        term = take_rows(slopes[:, number], fold)
        term *= logarithm
        q += term

    limits = np.array([_list_limits(model) for model in models])
    limits = limits[:1] if (limits == limits[0]).all() else take_rows(limits, fold)
    return np.clip(q, limits[:, :1], limits[:, 1:], out=q)


def _list_limits(model: PolicyModels) -> tuple[float, float]:
    """Return the limits of predictions, infinite ones for a model without training rows."""
    low, high = model.limits
    return (low, high) if low <= high else (-np.inf, np.inf)
