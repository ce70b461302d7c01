"""Ridge regression for each action, drawn towards one that all actions share, where the target goes."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Self

import numpy as np

from counterfold import checks
from counterfold.arrays import Floats
from counterfold.hashing import assign_folds
from counterfold.models._moments import FOLDS, LinearModels, Summed, moments, table_of
from counterfold.models.base import Examples, Predictor, Scaling

LEAST = 0.1
"""What is added to every weight, so that no row is ignored."""

PENALTIES, COMMON = (1.0, 10.0, 100.0, 1000.0, 10000.0), (1.0, 30.0, 1000.0)
"""What is tried where the user does not say how strongly actions are drawn together, and how flat all are."""


@dataclass(frozen=True)
class SharedRidge(Summed):
    r"""A linear model of the reward for each action that differs from a common one only as far as its rows say so.

    $$\hat q(x, a) = b_a + x^\top \beta_a, \qquad (b_a, \beta_a) = \arg\min
      \sum_{i: a_i = a} u_i (r_i - b - x_i^\top \beta)^2 + \alpha \lVert (b, \beta) - (\bar b, \bar\beta) \rVert^2$$

    $(\bar b, \bar\beta)$ is a ridge regression on the rows of all actions, with the penalty `common` on its slopes;
    columns are scaled to a standard deviation of 1. An action with few rows is predicted nearly as all are on average,
    one that was never logged exactly so. Rows count $u_i \propto (w_i + 0.1)^{\text{aim}}$, with a sum that is the
    effective number of rows, since the model is to be right where the target goes; in a large log that is never in
    memory one model serves all targets, and weights are their mean.

    `alpha` and `common` are by default those of 15 pairs whose models of four fifths of the rows predict the rest best.

    >>> import counterfold as cf
    >>> cf.example_rows(cf.SharedRidge(alpha=10.0, common=1.0, aim=0.0)).q.round(2)
    array([[ 0.03, -0.03],
           [ 0.36,  0.3 ],
           [ 0.7 ,  0.64],
           [ 1.03,  0.97]])
    """

    alpha: float | None = None
    common: float | None = None
    aim: float = 0.7

    def __post_init__(self) -> None:
        given = {"alpha": self.alpha, "common": self.common}
        checks.above(0, **{name: penalty for name, penalty in given.items() if penalty is not None})
        checks.within(0, 1, aim=self.aim)

    def counts(self, examples: Examples) -> Floats:
        return np.asarray((examples.importance + LEAST) ** self.aim)

    def tune(self, examples: Examples) -> Self:
        table, fold = self._table(examples, Scaling.of(examples.context)), assign_folds(examples.units, FOLDS)
        parts = [np.flatnonzero(fold == number) for number in range(FOLDS)]
        sums = [moments(table[part], examples.actions[part], examples.n_actions) for part in parts]
        return self.tune_on_folds(np.stack(sums))

    def tune_on_folds(self, folds: Floats) -> Self:
        # penalties draw no model to a level, but losses would differ by rounding errors where rewards vary little
        change = np.eye(folds.shape[-1])
        change[-1, 0] = -folds[..., 0, -1].sum() / (folds[..., 0, 0].sum() or 1.0)
        folds = change @ folds @ change.T
        total = folds.sum(axis=0)
        alphas = PENALTIES if self.alpha is None else (self.alpha,)
        pairs = list(product(alphas, COMMON if self.common is None else (self.common,)))
        losses = [sum(loss(total - one, one, *pair) for one in folds) for pair in pairs] if len(pairs) > 1 else [0.0]
        alpha, common = pairs[int(np.argmin(losses))]
        return replace(self, alpha=alpha, common=common)

    def fit(self, examples: Examples) -> Predictor:
        scaling = Scaling.of(examples.context)
        sums = moments(self._table(examples, scaling), examples.actions, examples.n_actions)
        model = self.tune(examples) if self.alpha is None or self.common is None else self
        return model.from_moments(sums, np.empty(0), scaling)

    def from_moments(self, sums: Floats, fixed: Floats, scaling: Scaling) -> Predictor:
        solved = coefficients(sums, self.alpha or 1.0, self.common or 1.0)
        models = LinearModels(solved[:, 0], np.ascontiguousarray(solved[:, 1:].T))
        return lambda rows: models.predict(scaling.apply(rows))

    def _table(self, examples: Examples, scaling: Scaling) -> Floats:
        """Return the rows [1, x, r], times the root of how much each counts."""
        count, table = self.counts(examples), table_of(scaling.apply(examples))
        table *= np.sqrt(count * (count.sum() / np.square(count).sum()))[:, None]
        return table


def loss(known: Floats, held: Floats, alpha: float, common: float) -> float:
    """Return the squared errors on held rows of models solved from the others."""
    solved = coefficients(known, alpha, common)
    cross = np.einsum("ad,ad->", solved, held[:, :-1, -1])
    return float(held[:, -1, -1].sum() - 2 * cross + np.einsum("ad,ade,ae->", solved, held[:, :-1, :-1], solved))


def coefficients(sums: Floats, alpha: float, common: float) -> Floats:
    """Return intercepts and slopes of all actions (A x (1 + d)), from moments."""
    total, gram, right = sums.sum(axis=0), sums[:, :-1, :-1], sums[:, :-1, -1]
    identity = np.eye(gram.shape[1])
    penalty = common * identity
    penalty[0, 0] = float(total[0, 0] == 0)  # a level that all share needs none, unless there are no rows
    shared = np.linalg.solve(total[:-1, :-1] + penalty, total[:-1, -1])
    own = np.linalg.solve(gram + alpha * identity, (right - gram @ shared)[..., None])[..., 0]
    return np.asarray(shared + own)
