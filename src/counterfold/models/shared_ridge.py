"""Ridge regression for each action, shrunk towards one that all actions share, weighted towards the target."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.models._moments import ModelStream, Solved, Summed, solve_positive
from counterfold.models._policy_models import Equations, PolicyModels, weigh_rows
from counterfold.models.base import Examples, Predictor, Scaling

TRIED_ALPHAS = (1.0, 10.0, 100.0, 1000.0, 10000.0)
"""The values of `alpha` that are tried if the user sets none."""

TRIED_COMMONS = (1.0, 30.0, 1000.0)
"""The values of `common` that are tried if the user sets none."""

MIN_COLUMNS_TO_SOLVE_SINGLY = 64
"""From this number of columns on, solving action by action is twice as fast as solving all actions in one call."""


@dataclass(frozen=True)
class SharedRidge(Summed):
    r"""A linear model of the reward for each action that differs from a common one only as far as its rows say so.

    $$\hat q(x, a) = b_a + z_a^\top \beta_a, \quad z_a = [x, \ln \pi'(a \mid x), \ln \pi_0'(a \mid x)], \qquad
      (b_a, \beta_a) = \arg\min
      \sum_{i: a_i = a} u_i (r_i - b - z_i^\top \beta)^2 + \alpha \lVert (b, \beta) - (\bar b, \bar\beta) \rVert^2$$

    $(\bar b, \bar\beta)$ is a ridge regression on the rows of all actions, with the penalty `common` on its slopes.
    Skewed columns are replaced by normal scores, and all columns are scaled to a standard deviation of 1. An action
    with few rows is predicted nearly by the shared model, and an action that was never logged exactly by it.

    Besides the context $x$, the features include the log-probabilities of the action under both policies, where these
    are known for all actions. A policy prefers actions for reasons, such as a model that was trained on other data, and
    actions with a high probability tend to earn more. $\pi'$ is $\pi$ plus a tenth of an even share, $0.1 / A$, so that
    probabilities of 0 and tiny ones look alike. Predictions are clipped to the range of the observed rewards.

    Rows have the weights $u_i \propto (w_i + 0.1)^{\text{aim}}$, because the model must be accurate where the target
    goes. They add up to the effective number of rows. `alpha` and `common` are by default the best of 15 pairs in
    five-fold cross-validation.

    >>> import counterfold as cf
    >>> cf.example_rows(cf.SharedRidge(alpha=10.0, common=1.0, aim=0.0)).q.round(2)
    array([[0.09, 0.08],
           [0.85, 0.16],
           [0.77, 0.74],
           [1.  , 0.96]])
    """

    alpha: float | None = None
    common: float | None = None
    aim: float = 0.5
    knows_pulls = True

    def __post_init__(self) -> None:
        penalties = {"alpha": self.alpha, "common": self.common}
        validation.above(0, **{name: penalty for name, penalty in penalties.items() if penalty is not None})
        validation.within(0, 1, aim=self.aim)

    def weigh_rows(self, examples: Examples) -> Floats:
        return weigh_rows(examples, self.aim)

    def widen(self, examples: Examples) -> Examples:
        return replace(examples, context=examples.see(examples.actions), normal_scores=None)

    def tune(self, examples: Examples) -> Self:
        stream = ModelStream.of(self, 1, examples)
        return stream.tune(stream.sums(examples))

    def fit(self, examples: Examples) -> PolicyModels:
        stream = ModelStream.of(self, 1, examples)
        model, totals, scaling = stream.settle(stream.sums(examples))
        return model.from_moments(totals, scaling)

    def fit_outside(self, examples: Examples, fold: Ints, folds: int) -> Sequence[Predictor]:
        stream = ModelStream.of(self, folds, examples)
        return stream.cross_fit(stream.sums(examples), folds)

    def tune_on_folds(self, folds: Floats) -> Self:
        alphas = TRIED_ALPHAS if self.alpha is None else (self.alpha,)
        commons = TRIED_COMMONS if self.common is None else (self.common,)
        if len(alphas) * len(commons) == 1:
            return replace(self, alpha=alphas[0], common=commons[0])
        total = folds.sum(axis=0)
        # The level of the rewards has no penalty, so that it changes no choice. But if rewards vary little around a
        # large level, the losses would differ by rounding errors alone.
        level = total[:, 0, -1].sum() / (total[:, 0, 0].sum() or 1.0)
        total = lower_rewards(total, level)
        losses = np.zeros((len(alphas), len(commons)))
        for fold in folds:
            if not fold[:, 0, 0].any():
                continue  # a fold without rows has no loss
            held_out = lower_rewards(fold, level)
            losses += find_losses(train=total - held_out, held_out=held_out, alphas=alphas, commons=commons)
        best_alpha, best_common = np.unravel_index(int(np.argmin(losses)), losses.shape)
        return replace(self, alpha=alphas[best_alpha], common=commons[best_common])

    def from_moments(self, totals: Solved, scaling: Scaling) -> PolicyModels:
        sums = totals.sums
        alpha = self.alpha or 1.0
        common = self.common or 1.0
        shared = solve_shared(sums, [common])
        coefficients = draw_together(sums, shared, [alpha])[0, 0]
        gram = sums[:, :-1, :-1]
        equations = Equations(
            own=gram + alpha * np.eye(gram.shape[1]),
            common=add_common(gram.sum(axis=0), common),
            shared=shared[0],
            alpha=alpha,
            factor=totals.factor,
        )
        return PolicyModels(
            scaling=scaling,
            intercepts=coefficients[:, 0],
            slopes=np.ascontiguousarray(coefficients[:, 1:].T),
            limits=(float(totals.low.min()), float(totals.high.max())),
            equations=equations,
            aim=self.aim,
            effective=totals.effective,
        )


def lower_rewards(sums: Floats, level: float) -> Floats:
    """Return the moments (A x p x p) of [1, x, r - level]."""
    lowered = sums.copy()
    lowered[:, -1] -= level * lowered[:, 0]
    lowered[:, :, -1] -= level * lowered[:, :, 0]
    return lowered


def find_losses(*, train: Floats, held_out: Floats, alphas: Sequence[float], commons: Sequence[float]) -> Floats:
    r"""Return the squared errors on the held-out rows for each pair of penalties, from moments of both sets of rows.

    With the moments $G$ of $z$, $c$ of $z r$ and $s$ of $r^2$, they are $s + \beta^\top (G \beta - 2 c)$.
    """
    solved = draw_together(train, solve_shared(train, commons), alphas)
    coefficients = solved.reshape(-1, *solved.shape[2:])  # of all pairs (pairs x A x (1 + d))
    products = (held_out[:, :-1, :-1] @ coefficients.transpose(1, 2, 0)).transpose(2, 0, 1)
    losses = np.einsum("cad,cad->c", coefficients, products - 2 * held_out[:, :-1, -1])
    return np.asarray(held_out[:, -1, -1].sum() + losses.reshape(len(alphas), len(commons)))


def solve_shared(sums: Floats, commons: Sequence[float]) -> Floats:
    """Return the intercept and slopes of the shared model (C x (1 + d)), for each penalty on its slopes."""
    total = sums.sum(axis=0)
    equations = np.stack([add_common(total[:-1, :-1], common) for common in commons])
    return np.linalg.solve(equations, total[:-1, -1:])[:, :, 0]


def add_common(gram: Floats, common: float) -> Floats:
    """Return the equations of the shared model with a penalty on its slopes."""
    penalty = np.full(len(gram), common)
    penalty[0] = float(gram[0, 0] == 0)  # the intercept has no penalty, except if the matrix is 0 without rows
    return gram + np.diag(penalty)


def draw_together(sums: Floats, shared: Floats, alphas: Sequence[float]) -> Floats:
    """Return the coefficients of all actions, shrunk towards each shared model by each penalty.

    The result has the shape alphas x C x A x (1 + d), where C is the number of shared models.
    """
    gram = sums[:, :-1, :-1]
    # the products of the columns with the residuals of the shared models, from which deviations are solved
    residual_products = sums[:, :-1, -1:] - gram @ shared.T
    if gram.shape[1] < MIN_COLUMNS_TO_SOLVE_SINGLY:
        penalties = np.multiply.outer(alphas, np.eye(gram.shape[1]))
        own = np.linalg.solve(gram + penalties[:, None], residual_products)
    else:
        own = np.stack([solve_positive(gram, residual_products, alpha) for alpha in alphas])
    return np.asarray(shared[:, None] + own.transpose(0, 3, 1, 2))
