"""Pulls: how far rows move values by being among those that reward models are trained on, row by row or in sums."""

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
    r"""How far rows move several values by what models learn from them, to first order.

    A ridge regression $\hat\beta = H^{-1} \sum_i u_i z_i r_i$ moves by $H^{-1} z_i u_i (r_i - z_i^\top \hat\beta)$
    where a row is added, and a value $V(\hat\beta)$ by that times its gradient. `own` (values x folds x A x p) and
    `shared` (values x folds x p) are the products of $H^{-1}$ and the gradients, summed over the models of all folds
    but the row's own.

    Cook, Weisberg (1982), "Residuals and influence in regression".
    """

    models: Sequence[PolicyModels]
    own: Floats
    shared: Floats

    def move(self, examples: Examples, residuals: Floats) -> Floats:
        """Return how far one decision like each row's moves each value (values x n)."""
        codes = assign_folds(examples.units, len(self.models)) * examples.n_actions + examples.actions
        order, places = group_rows(codes, len(self.models) * examples.n_actions)
        columns = np.take(self.models[0].see_logged(examples).T, order, axis=1)
        lines = self._list_lines()
        products = np.empty((lines.shape[1], len(order)))
        for some, place in zip(lines, places, strict=True):
            if place.start < place.stop:
                np.matmul(some, columns[:, place], out=products[:, place])
        (own, shared), levels = np.split(products[:-1], 2), products[-1]
        weights = weigh_rows(examples, self.models[0].aim)
        wrong, apart = (weights * residuals)[order], weights[order] * (examples.rewards[order] - levels)
        moved = np.empty_like(own)
        moved[:, order] = wrong * own + apart * shared
        return moved

    def _list_lines(self) -> Floats:
        """Return what the columns of a row are multiplied by, for each fold and action (folds A x lines x p).

        The lines are the `own` of all values, then the `shared` of all, and last the shared model.
        """
        values, _, n_actions, width = self.own.shape
        own = self.own.reshape(values, -1, width).swapaxes(0, 1)
        levels = np.stack([one.equations.shared for one in self.models])
        shared = np.concatenate([self.shared.swapaxes(0, 1), levels[:, None]], axis=1)
        return np.concatenate([own, np.repeat(shared, n_actions, axis=0)], axis=1)


@dataclass(frozen=True, eq=False)
class Lessons:
    r"""What the rows of each unit tell the models, in sums that the pull on any value follows from.

    A pull is linear in the scores of a row, $u_i z_i (r_i - z_i^\top \hat\beta)$, and only its factors depend on the
    value. So the sums of scores are enough for any number of values. `own` (p x units x folds A) sums those of the
    models of actions, `shared` (p x units x folds) those of the shared models. Sums of other rows can be added.
    """

    own: Floats
    shared: Floats

    def __add__(self, other: Self) -> "Lessons":
        return Lessons(own=self.own + other.own, shared=self.shared + other.shared)

    def move(self, own: Floats, shared: Floats) -> Floats:
        """Return how far each unit moves values (values x units) whose factors are `own` and `shared`.

        These are the fields of `RidgePulls`.
        """
        moved = np.zeros((len(own), self.own.shape[1]))
        for place, (of_actions, of_all) in enumerate(zip(self.own, self.shared, strict=True)):
            moved += own[..., place].reshape(len(own), -1) @ of_actions.T
            moved += shared[..., place] @ of_all.T
        return moved


def sum_lessons(
    models: Sequence[PolicyModels], examples: Examples, residuals: Floats, unit: Ints, units: int
) -> Lessons:
    """Return what some rows, whose units are known, tell the models."""
    folds = len(models)
    n_actions = examples.n_actions
    fold = assign_folds(examples.units, folds)
    columns = np.ascontiguousarray(models[0].see_logged(examples).T)
    shared = np.stack([one.equations.shared for one in models])
    counts = weigh_rows(examples, models[0].aim)
    if examples.counts is not None:
        counts = counts * examples.counts
    errors = counts * residuals
    # the shared model of a row's fold is evaluated column by column, so that no table of all rows is copied
    levels = np.zeros(len(examples))
    for column, slopes in zip(columns, shared.T, strict=True):
        levels += column * slopes[fold]
    apart = counts * (examples.rewards - levels)
    of_fold = unit * folds + fold
    of_action = of_fold * n_actions + examples.actions
    own = [np.bincount(of_action, errors * one, units * folds * n_actions) for one in columns]
    common = [np.bincount(of_fold, apart * one, units * folds) for one in columns]
    return Lessons(
        own=np.array(own, dtype=np.float64).reshape(len(columns), units, folds * n_actions),
        shared=np.array(common, dtype=np.float64).reshape(len(columns), units, folds),
    )


def find_pulls(models: Sequence[PolicyModels], examples: Examples, caps: Sequence[float]) -> RidgePulls:
    """Return how far rows move `TruncatedSNDR` on these rows, with each cap on weights."""
    counts = np.ones(len(examples)) if examples.counts is None else examples.counts
    masses = np.minimum(examples.importance, np.array(caps)[:, None]) * counts
    totals = masses.sum(axis=1, keepdims=True)
    logged = np.divide(masses, totals, out=np.zeros_like(masses), where=totals > 0)
    even = counts / counts.sum()
    fold = assign_folds(examples.units, len(models))
    found = []
    for number, model in enumerate(models):
        mine = np.flatnonzero(fold == number)
        gradients = find_gradients(model, examples.take(mine), even[mine], logged[:, mine])
        found.append(model.equations.solve(gradients))
    own, shared = (np.stack(several, axis=1) for several in zip(*found, strict=True))
    # a row teaches the models of all folds but its own
    return RidgePulls(models, own.sum(axis=1, keepdims=True) - own, shared.sum(axis=1, keepdims=True) - shared)


def find_gradients(model: PolicyModels, examples: Examples, even: Floats, logged: Floats) -> Floats:
    """Return the gradients of values in the coefficients of all actions (values x A x p).

    A value is the mean prediction under the target, where rows have the shares `even`, less the mean prediction of
    the logged actions, where rows have the shares `logged` of that value (values x n).
    """
    of_policy = model.sum_policy(examples, even)
    gradients = np.repeat(of_policy[None], len(logged), axis=0)
    order, places = group_rows(examples.actions, examples.n_actions)
    columns, shares = model.see_logged(examples)[order], logged[:, order]
    for action, place in enumerate(places):
        if place.start < place.stop:
            gradients[:, action] -= shares[:, place] @ columns[place]
    return gradients
