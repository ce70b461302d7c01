"""RidgePull: how far each row moves a value by being one of those that reward models learn from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterfold.arrays import Floats, row_sums, take_rows
from counterfold.hashing import assign_folds
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
        fold, every = assign_folds(examples.units, len(self.models)), np.arange(len(examples))
        columns = self.models[0].see_logged(examples)  # all are scaled alike
        levels = columns @ np.stack([one.equations.shared for one in self.models]).T
        weights = weigh_rows(examples, self.models[0].aim)
        apart, wrong = weights * (examples.rewards - levels[every, fold]), weights * residuals
        codes, moved = fold * examples.n_actions + examples.actions, np.empty((1 + len(others), len(examples)))
        for line, pull in zip(moved, [self, *others], strict=True):
            own = take_rows(pull.own.reshape(-1, columns.shape[1]), codes)
            line[:] = wrong * row_sums(columns, own) + apart * (columns @ pull.shared.T)[every, fold]
        return moved


def make_pull(models: Sequence[PolicyModels], examples: Examples, shares: Floats, *, of_policy: bool) -> RidgePull:
    """Return the pull on the mean prediction in rows that have these shares: under the target, or of logged actions."""
    from scipy.sparse import csr_array

    fold, found = assign_folds(examples.units, len(models)), []
    for number, model in enumerate(models):
        mine = np.flatnonzero(fold == number)
        some = examples.take(mine)
        if of_policy:
            gradient = model.sum_policy(some, shares[mine])
        else:
            taken = csr_array((shares[mine], (some.actions, np.arange(len(mine)))), (some.n_actions, len(mine)))
            gradient = taken @ model.see_logged(some)
        found.append(model.equations.solve(gradient))
    own, shared = (np.stack(several) for several in zip(*found, strict=True))
    return RidgePull(tuple(models), own.sum(axis=0) - own, shared.sum(axis=0) - shared)
