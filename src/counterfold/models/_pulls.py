"""Pulls: the influence of the training rows of reward models on values, row by row or in sums."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base.arrays import Floats, Ints, group_rows
from counterfold.base.hashing import assign_folds
from counterfold.models._policy_models import PolicyModels, weigh_rows
from counterfold.models.base import Examples


@dataclass(frozen=True, eq=False)
class RidgePulls:
    r"""The influence of training rows on several values, to first order.

    A ridge regression $\hat\beta = H^{-1} \sum_i u_i z_i r_i$ moves by $H^{-1} z_i u_i (r_i - z_i^\top \hat\beta)$
    if a row is added, and a value $V(\hat\beta)$ by the product of this and its gradient. `own` (values x folds x A x
    p) and `shared` (values x folds x p) are the products of $H^{-1}$ and the gradients. For each fold of the row they
    are summed over the models of all other folds, which are trained on the row.

    Cook, Weisberg (1982), "Residuals and influence in regression".
    """

    models: Sequence[PolicyModels]
    own: Floats
    shared: Floats

    def move(self, examples: Examples, residuals: Floats) -> Floats:
        """Return how far one more decision like that of each row would move each value (values x n)."""
        # rows are sorted by fold and action, so that all of one code are multiplied by the same factors
        codes = assign_folds(examples.units, len(self.models)) * examples.n_actions + examples.actions
        order, places = group_rows(codes, len(self.models) * examples.n_actions)
        columns = np.take(self.models[0].see_logged(examples).T, order, axis=1)
        factors = self._stack_factors()
        products = np.empty((factors.shape[1], len(order)))
        for code_factors, place in zip(factors, places, strict=True):
            if place.start < place.stop:
                np.matmul(code_factors, columns[:, place], out=products[:, place])
        own, shared = np.split(products[:-1], 2)
        shared_predictions = products[-1]

        weights = weigh_rows(examples, self.models[0].aim)
        own_errors = (weights * residuals)[order]
        shared_errors = weights[order] * (examples.rewards[order] - shared_predictions)
        moves = np.empty_like(own)
        moves[:, order] = own_errors * own + shared_errors * shared
        return moves

    def _stack_factors(self) -> Floats:
        """Return the factors of a row's columns for each fold and action (folds A x (2 values + 1) x p).

        They are the `own` of all values, then the `shared` of all values, and last the coefficients of the shared
        model, so that one matrix product computes them all.
        """
        n_values, _, n_actions, width = self.own.shape
        own = self.own.reshape(n_values, -1, width).swapaxes(0, 1)
        coefficients = np.stack([model.equations.shared for model in self.models])
        shared = np.concatenate([self.shared.swapaxes(0, 1), coefficients[:, None]], axis=1)
        return np.concatenate([own, np.repeat(shared, n_actions, axis=0)], axis=1)


@dataclass(frozen=True, eq=False)
class Lessons:
    r"""Sums of the scores of the rows of each unit, from which the influence of the unit on any value follows.

    An influence is linear in the scores of a row, $u_i z_i (r_i - z_i^\top \hat\beta)$, and only the factors depend on
    the value, so that the sums of scores serve any number of values. `own` (p x units x folds A) are the sums for the
    models of actions, `shared` (p x units x folds) those for the shared models. Sums of different rows can be added.
    """

    own: Floats
    shared: Floats

    def __add__(self, other: Self) -> "Lessons":
        return Lessons(own=self.own + other.own, shared=self.shared + other.shared)

    def move(self, own: Floats, shared: Floats) -> Floats:
        """Return the influence of each unit on values (values x units) with the factors `own` and `shared`.

        The factors are the fields of `RidgePulls`.
        """
        moves = np.zeros((len(own), self.own.shape[1]))
        for column, (own_scores, shared_scores) in enumerate(zip(self.own, self.shared, strict=True)):
            moves += own[..., column].reshape(len(own), -1) @ own_scores.T
            moves += shared[..., column] @ shared_scores.T
        return moves


def sum_lessons(
    models: Sequence[PolicyModels], examples: Examples, residuals: Floats, unit: Ints, units: int
) -> Lessons:
    """Return the sums of the scores of some rows by unit, where `unit` are codes below `units`."""
    folds = len(models)
    n_actions = examples.n_actions
    fold = assign_folds(examples.units, folds)
    columns = np.ascontiguousarray(models[0].see_logged(examples).T)
    coefficients = np.stack([model.equations.shared for model in models])
    counts = weigh_rows(examples, models[0].aim)
    if examples.counts is not None:
        counts = counts * examples.counts
    # the shared model of a row's fold is evaluated column by column, so that no table of all rows is copied
    shared_predictions = np.zeros(len(examples))
    for column, slopes in zip(columns, coefficients.T, strict=True):
        shared_predictions += column * slopes[fold]
    own_errors = counts * residuals
    shared_errors = counts * (examples.rewards - shared_predictions)
    fold_codes = unit * folds + fold
    action_codes = fold_codes * n_actions + examples.actions
    own = [np.bincount(action_codes, own_errors * column, units * folds * n_actions) for column in columns]
    shared = [np.bincount(fold_codes, shared_errors * column, units * folds) for column in columns]
    return Lessons(
        own=np.array(own, dtype=np.float64).reshape(len(columns), units, folds * n_actions),
        shared=np.array(shared, dtype=np.float64).reshape(len(columns), units, folds),
    )


def find_pulls(models: Sequence[PolicyModels], examples: Examples, caps: Sequence[float]) -> RidgePulls:
    """Return the influence of training rows on `TruncatedSNDR` on these rows, for each cap on weights."""
    counts = np.ones(len(examples)) if examples.counts is None else examples.counts
    masses = np.minimum(examples.importance, np.array(caps)[:, None]) * counts
    totals = masses.sum(axis=1, keepdims=True)
    logged = np.divide(masses, totals, out=np.zeros_like(masses), where=totals > 0)
    even = counts / counts.sum()
    fold = assign_folds(examples.units, len(models))
    factors = []
    for number, model in enumerate(models):
        inside = np.flatnonzero(fold == number)
        gradients = find_gradients(model, examples.take(inside), even[inside], logged[:, inside])
        factors.append(model.equations.solve(gradients))
    own, shared = (np.stack(by_fold, axis=1) for by_fold in zip(*factors, strict=True))
    # the models of all folds but its own are trained on a row
    return RidgePulls(
        models=models,
        own=own.sum(axis=1, keepdims=True) - own,
        shared=shared.sum(axis=1, keepdims=True) - shared,
    )


def find_gradients(model: PolicyModels, examples: Examples, even: Floats, logged: Floats) -> Floats:
    """Return the gradients of values in the coefficients of all actions (values x A x p).

    A value is the mean prediction under the target, with the shares `even` of rows, less the mean prediction of the
    logged actions, with the shares `logged` of rows, which depend on the value (values x n).
    """
    policy_gradient = model.sum_policy(examples, even)
    gradients = np.repeat(policy_gradient[None], len(logged), axis=0)
    order, places = group_rows(examples.actions, examples.n_actions)
    columns = model.see_logged(examples)[order]
    shares = logged[:, order]
    for action, place in enumerate(places):
        if place.start < place.stop:
            gradients[:, action] -= shares[:, place] @ columns[place]
    return gradients
