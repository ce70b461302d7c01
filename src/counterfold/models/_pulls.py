"""RidgePull: how far each row moves a value by being one of those that reward models learn from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterfold.arrays import Floats, group_rows
from counterfold.hashing import assign_folds
from counterfold.models._policy_models import PolicyModels, weigh_rows
from counterfold.models.base import Examples
from counterfold.partition import ByNumber


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
