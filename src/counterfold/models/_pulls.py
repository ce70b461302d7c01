"""Pulls: how far rows move values by being among those that reward models are trained on, row by row or in sums."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from counterfold.base.arrays import Floats, Ints, group_rows
from counterfold.base.hashing import assign_folds
from counterfold.log.partition import ByNumber
from counterfold.models._policy_models import PolicyModels, weigh_rows
from counterfold.models.base import Examples


@dataclass(frozen=True, eq=False)
class RidgePull:
    r"""How far rows move a value by what models learn from them, to first order; two pulls can be subtracted.

    A ridge regression $\hat\beta = H^{-1} \sum_i u_i z_i r_i$ moves by $H^{-1} z_i u_i (r_i - z_i^\top \hat\beta)$
    where a row is added, and a value $V(\hat\beta)$ by that times its gradient. `own` (folds x A x p) and `shared`
    (folds x p) are the products of $H^{-1}$ and the gradient, summed over the models of all folds but the row's own.

    Cook, Weisberg (1982), "Residuals and influence in regression".
    """

    models: Sequence[PolicyModels]
    own: Floats
    shared: Floats

    def __sub__(self, other: "RidgePull") -> "RidgePull":
        return replace(self, own=self.own - other.own, shared=self.shared - other.shared)

    def move(self, others: Sequence["RidgePull"], examples: Examples, residuals: Floats) -> Floats:
        """Return how far one decision like each row's moves this value, and others by the same models (values x n)."""
        codes = assign_folds(examples.units, len(self.models)) * examples.n_actions + examples.actions
        order, places = group_rows(codes, len(self.models) * examples.n_actions)
        columns, lines = np.take(self.models[0].see_logged(examples).T, order, axis=1), self._list_lines(others)
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

    def _list_lines(self, others: Sequence["RidgePull"]) -> Floats:
        """Return what the columns of a row are multiplied by, for each fold and action (folds A x lines x p).

        The lines are the `own` of this pull and of others, then the `shared` of all, and last the shared model.
        """
        n_actions, several = self.own.shape[1], [self, *others]
        levels = np.stack([one.equations.shared for one in self.models])
        shared = np.repeat(np.stack([*(one.shared for one in several), levels], axis=1), n_actions, axis=0)
        own = np.stack([one.own.reshape(len(shared), -1) for one in several], axis=1)
        return np.concatenate([own, shared], axis=1)


def make_pull(models: Sequence[PolicyModels], examples: Examples, shares: Floats, *, of_policy: bool) -> RidgePull:
    """Return the pull on the mean prediction in rows that have these shares: under the target, or of logged actions."""
    fold, found = assign_folds(examples.units, len(models)), []
    for number, model in enumerate(models):
        mine = np.flatnonzero(fold == number)
        some = examples.take(mine)
        if of_policy:
            gradient = model.sum_policy(some, shares[mine])
        else:
            taken = ByNumber(some.actions, some.n_actions)
            gradient = taken.sums((model.see_logged(some) * shares[mine, None]).T).T
        found.append(model.equations.solve(gradient))
    own, shared = (np.stack(several) for several in zip(*found, strict=True))
    return RidgePull(tuple(models), own.sum(axis=0) - own, shared.sum(axis=0) - shared)


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

        These are the fields of `RidgePull`, of each value (values x folds x A x p, and values x folds x p).
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


def pull_values(models: Sequence[PolicyModels], examples: Examples, caps: Sequence[float], lessons: Lessons) -> Floats:
    """Return how far units move `TruncatedSNDR` on these rows, with each cap on weights (caps x units)."""
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
        found.append(model.equations.solve_all(gradients))
    own, shared = (np.stack(several, axis=1) for several in zip(*found, strict=True))
    # a row teaches the models of all folds but its own
    return lessons.move(own.sum(axis=1, keepdims=True) - own, shared.sum(axis=1, keepdims=True) - shared)


def find_gradients(model: PolicyModels, examples: Examples, even: Floats, logged: Floats) -> Floats:
    """Return the gradients of values in the coefficients of all actions (values x A x p).

    A value is the mean prediction under the target, where rows have the shares `even`, less the mean prediction of
    the logged actions, where rows have the shares `logged` of that value (values x n).
    """
    from scipy.sparse import csr_array

    n_actions = examples.n_actions
    values, rows = logged.shape
    of_policy = model.sum_policy(examples, even)
    lines = (np.arange(values)[:, None] * n_actions + examples.actions).ravel()
    places = np.tile(np.arange(rows), values)
    taken = csr_array((logged.ravel(), (lines, places)), (values * n_actions, rows))
    of_logged = taken @ model.see_logged(examples)
    return np.asarray(of_policy - of_logged.reshape(values, n_actions, -1))
