"""Ridge regression for each action, drawn towards one that all actions share."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from counterfold import checks
from counterfold.arrays import Floats, scattered
from counterfold.models._moments import Scaling, Summed, moments, table_of
from counterfold.models.base import Examples, Predictor

FOLDS = 5
PENALTIES = (1.0, 10.0, 100.0, 1000.0, 10000.0)
"""What is tried where the user does not say how strongly actions are drawn together."""


@dataclass(frozen=True)
class SharedRidge(Summed):
    r"""A linear model of the reward for each action that differs from a common one only as far as its rows say so.

    $$\hat q(x, a) = b_a + x^\top \beta_a, \qquad (b_a, \beta_a) = \arg\min
      \sum_{i: a_i = a} (r_i - b - x_i^\top \beta)^2 + \alpha \lVert (b, \beta) - (\bar b, \bar\beta) \rVert^2$$

    $(\bar b, \bar\beta)$ is a ridge regression on the rows of all actions, with a penalty of 1 on its slopes; columns
    are scaled to a standard deviation of 1. An action with few rows is predicted nearly as all are on average, one that
    was never logged exactly so. `alpha` is by default the one of five (1 to 10,000) whose models, fitted on four fifths
    of the rows, predict the others best.

    >>> import counterfold as cf
    >>> cf.example_rows(cf.SharedRidge(alpha=10.0)).q.round(2)
    array([[ 0.03, -0.03],
           [ 0.36,  0.3 ],
           [ 0.7 ,  0.64],
           [ 1.03,  0.97]])
    """

    alpha: float | None = None

    def __post_init__(self) -> None:
        """Check the penalty."""
        if self.alpha is not None:
            checks.above(0, alpha=self.alpha)

    def tuned(self, examples: Examples) -> Self:
        """Return the model with the penalty that predicts rows best that it was not fitted on."""
        if self.alpha is not None:
            return self
        rows = Scaling.of(examples.context).apply(examples)
        table, fold = table_of(rows), scattered(examples.units) % FOLDS
        parts = [np.flatnonzero(fold == number) for number in range(FOLDS)]
        return self.tuned_on(np.stack([moments(table[one], rows.actions[one], rows.n_actions) for one in parts]))

    def tuned_on(self, folds: Floats) -> Self:
        """Return the model with the penalty that predicts each fold best by what the others say."""
        if self.alpha is not None:
            return self
        total = folds.sum(axis=0)
        scaled = [standardised(one, whitening(total)) for one in (total, *folds)]
        losses = [sum(self._loss(scaled[0] - one, one, alpha) for one in scaled[1:]) for alpha in PENALTIES]
        return replace(self, alpha=PENALTIES[int(np.argmin(losses))])

    def fit(self, examples: Examples) -> Predictor:
        """Return the fitted models of all actions as one function."""
        scaling = Scaling.of(examples.context)
        rows = scaling.apply(examples)
        sums = moments(table_of(rows), rows.actions, rows.n_actions)
        return self.tuned(examples).from_moments(sums, np.empty(0), scaling)

    def from_moments(self, sums: Floats, fixed: Floats, scaling: Scaling) -> Predictor:
        """Return the models of all actions from sums over rows that are gone."""
        del fixed
        white = whitening(sums)
        solved = coefficients(standardised(sums, white), self.alpha or PENALTIES[1]) @ white
        intercepts, slopes = solved[:, 0], np.ascontiguousarray(solved[:, 1:].T)

        def predict(examples: Examples) -> Floats:
            q: Floats = scaling.scaled(examples.context) @ slopes
            q += intercepts
            return q

        return predict

    @staticmethod
    def _loss(known: Floats, held: Floats, alpha: float) -> float:
        """Return the squared errors on held rows of models solved from the others."""
        solved = coefficients(known, alpha)
        cross = np.einsum("ad,ad->", solved, held[:, :-1, -1])
        return float(held[:, -1, -1].sum() - 2 * cross + np.einsum("ad,ade,ae->", solved, held[:, :-1, :-1], solved))


def whitening(sums: Floats) -> Floats:
    """Return the matrix that makes [1, x] of all rows centred, with a standard deviation of 1."""
    total = sums.sum(axis=0)
    count = max(total[0, 0], 1.0)
    centre, square = total[0, 1:-1] / count, np.diagonal(total)[1:-1] / count
    spread = square - centre**2
    scale = np.where(spread > 1e-12 * square, np.sqrt(np.maximum(spread, 0.0)), 1.0)
    white = np.diag(np.concatenate([[1.0], 1 / scale]))
    white[1:, 0] = -centre / scale
    return white


def standardised(sums: Floats, white: Floats) -> Floats:
    """Return the moments of standardised rows."""
    whole = np.eye(len(white) + 1)
    whole[:-1, :-1] = white
    return np.asarray(whole @ sums @ whole.T)


def coefficients(sums: Floats, alpha: float) -> Floats:
    """Return intercepts and slopes of all actions (A x (1 + d)), from moments of standardised rows."""
    total, gram, right = sums.sum(axis=0), sums[:, :-1, :-1], sums[:, :-1, -1]
    identity = np.eye(gram.shape[1])
    free = float(total[0, 0] == 0)  # the common intercept bears no penalty; without rows it is 0
    common = np.linalg.solve(total[:-1, :-1] + np.diag(np.r_[free, np.ones(len(identity) - 1)]), total[:-1, -1])
    own = np.linalg.solve(gram + alpha * identity, (right - gram @ common)[..., None])[..., 0]
    return np.asarray(common + own)
