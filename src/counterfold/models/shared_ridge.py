"""Ridge regression for each action, drawn towards one that all actions share, where the target goes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.models._moments import ModelStream, Solved, Summed, solve_positive
from counterfold.models._policy_models import Equations, PolicyModels, weigh_rows
from counterfold.models.base import Examples, Predictor, Scaling

PENALTIES, COMMON = (1.0, 10.0, 100.0, 1000.0, 10000.0), (1.0, 30.0, 1000.0)
"""What is tried where the user does not say how strongly actions are drawn together, and how flat all are."""

WIDE = 64
"""From how many columns on equations are solved action by action, twice as fast each, rather than all in one call."""


@dataclass(frozen=True)
class SharedRidge(Summed):
    r"""A linear model of the reward for each action that differs from a common one only as far as its rows say so.

    $$\hat q(x, a) = b_a + z_a^\top \beta_a, \quad z_a = [x, \ln \pi'(a \mid x), \ln \pi_0'(a \mid x)], \qquad
      (b_a, \beta_a) = \arg\min
      \sum_{i: a_i = a} u_i (r_i - b - z_i^\top \beta)^2 + \alpha \lVert (b, \beta) - (\bar b, \bar\beta) \rVert^2$$

    $(\bar b, \bar\beta)$ is a ridge regression on the rows of all actions, with the penalty `common` on its slopes;
    skewed columns are replaced by normal scores, and all are scaled to a standard deviation of 1. An action with few
    rows is predicted nearly as all are on average, one that was never logged exactly so. Besides the context $x$, it
    sees what both policies think of an action, where that is known: a policy prefers actions for reasons, such as a
    model that its owner learnt elsewhere, and what it is sure of tends to earn more. $\pi'$ is $\pi$ plus a tenth of
    an even share, $0.1 / A$, so that what is never done and what hardly ever is look alike. No prediction is outside
    the rewards that were seen.

    Rows count $u_i \propto (w_i + 0.1)^{\text{aim}}$, with a sum that is the effective number of rows, since the model
    is to be right where the target goes. `alpha` and `common` are by default those of 15 pairs whose models of four
    fifths of the rows predict the rest best.

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
        given = {"alpha": self.alpha, "common": self.common}
        validation.above(0, **{name: penalty for name, penalty in given.items() if penalty is not None})
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
        model, known, scaling = stream.settle(stream.sums(examples))
        return model.from_moments(known, scaling)

    def fit_outside(self, examples: Examples, fold: Ints, folds: int) -> Sequence[Predictor]:
        stream = ModelStream.of(self, folds, examples)
        return stream.cross_fit(stream.sums(examples), folds)

    def tune_on_folds(self, folds: Floats) -> Self:
        alphas = PENALTIES if self.alpha is None else (self.alpha,)
        commons = COMMON if self.common is None else (self.common,)
        if len(alphas) * len(commons) == 1:
            return replace(self, alpha=alphas[0], common=commons[0])
        total = folds.sum(axis=0)
        # penalties draw no model to a level, but losses would differ by rounding errors where rewards vary little
        level = total[:, 0, -1].sum() / (total[:, 0, 0].sum() or 1.0)
        total, losses = lower_rewards(total, level), np.zeros((len(alphas), len(commons)))
        for one in folds:
            if not one[:, 0, 0].any():
                continue  # a fold that is predicted, and says nothing of how
            held = lower_rewards(one, level)
            losses += find_losses(total - held, held, alphas, commons)
        alpha, common = np.unravel_index(int(np.argmin(losses)), losses.shape)
        return replace(self, alpha=alphas[alpha], common=commons[common])

    def from_moments(self, known: Solved, scaling: Scaling) -> PolicyModels:
        sums, alpha, common = known.sums, self.alpha or 1.0, self.common or 1.0
        gram, shared = sums[:, :-1, :-1], solve_shared(sums, [common])
        solved = draw_together(sums, shared, [alpha])[0, 0]
        own, total = gram + alpha * np.eye(gram.shape[1]), add_common(gram.sum(axis=0), common)
        limits = float(known.low.min()), float(known.high.max())
        equations = Equations(own, total, shared[0], alpha, known.factor)
        slopes = np.ascontiguousarray(solved[:, 1:].T)
        return PolicyModels(scaling, solved[:, 0], slopes, limits, equations, self.aim, known.effective)


def lower_rewards(sums: Floats, level: float) -> Floats:
    """Return the moments (A x p x p) that [1, x, r - level] would have."""
    lowered = sums.copy()
    lowered[:, -1] -= level * lowered[:, 0]
    lowered[:, :, -1] -= level * lowered[:, :, 0]
    return lowered


def find_losses(known: Floats, held: Floats, alphas: Sequence[float], commons: Sequence[float]) -> Floats:
    """Return the squared errors on held rows of models solved from the others, for every pair of penalties."""
    solved = draw_together(known, solve_shared(known, commons), alphas)
    coefficients = solved.reshape(-1, *solved.shape[2:])  # of all pairs (pairs x A x (1 + d))
    products = (held[:, :-1, :-1] @ coefficients.transpose(1, 2, 0)).transpose(2, 0, 1)
    losses = np.einsum("cad,cad->c", coefficients, products - 2 * held[:, :-1, -1])
    return np.asarray(held[:, -1, -1].sum() + losses.reshape(len(alphas), len(commons)))


def solve_shared(sums: Floats, commons: Sequence[float]) -> Floats:
    """Return the intercept and slopes that all actions share (C x (1 + d)), for several penalties."""
    total = sums.sum(axis=0)
    equations = np.stack([add_common(total[:-1, :-1], common) for common in commons])
    return np.linalg.solve(equations, total[:-1, -1:])[:, :, 0]


def add_common(gram: Floats, common: float) -> Floats:
    """Return the equations of the shared model with a penalty on its slopes."""
    penalty = np.full(len(gram), common)
    penalty[0] = float(gram[0, 0] == 0)  # a level that all share needs none, unless there are no rows
    return gram + np.diag(penalty)


def draw_together(sums: Floats, shared: Floats, alphas: Sequence[float]) -> Floats:
    """Return intercepts and slopes of all actions, drawn towards each of several shared ones by several penalties.

    The result has a line for each penalty and each shared model (penalties x C x A x (1 + d)).
    """
    gram = sums[:, :-1, :-1]
    apart = sums[:, :-1, -1:] - gram @ shared.T
    if gram.shape[1] < WIDE:
        penalties = np.multiply.outer(alphas, np.eye(gram.shape[1]))
        own = np.linalg.solve(gram + penalties[:, None], apart)
    else:
        own = np.stack([solve_positive(gram, apart, alpha) for alpha in alphas])
    return np.asarray(shared[:, None] + own.transpose(0, 3, 1, 2))
