"""Linear models of rewards by the context and by features of actions, so that actions learn of those like them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.models.base import Examples, Scaling
from counterfold.models.shared_ridge import SharedRidge
from counterfold.policies.learned.scorers import LinearScorer

MAX_COLUMNS = 256
"""The largest number of columns. Of too many features of actions, the first principal components are taken."""

PENALTIES = tuple(np.geomspace(1.0, 1e6, 13).tolist())
"""The penalties that are tried, and compared by leaving out one row after the other."""

ROUNDING = 1e-12
"""If one minus the leverage of a row is less than this, its prediction depends on the row alone."""

SLICE = 1 << 13
"""The number of rows that are widened to all columns at a time."""


def fit_reward_scorer(examples: Examples, action_features: Floats) -> LinearScorer:
    r"""Return the predicted reward of every action: what its features tell, and what its own rows say beyond that.

    $$\hat q(x, a) = \beta^\top x + \gamma^\top \phi_a + x^\top M \phi_a + (b_a + x^\top \delta_a)$$

    The first three terms are one ridge regression on all rows, the rest is a `SharedRidge` of what it leaves over,
    which is drawn to 0 for actions with few rows. Without features of actions $\phi_a$ all is a `SharedRidge`.
    """
    if not action_features.shape[1]:
        return fit_shared(examples)
    by_features = fit_features(examples, action_features)
    predicted = by_features.score(examples.context)[np.arange(len(examples)), examples.actions]
    own = fit_shared(replace(examples, rewards=examples.rewards - predicted))
    return LinearScorer(by_features.intercepts + own.intercepts, by_features.slopes + own.slopes, own.spread)


def fit_shared(examples: Examples) -> LinearScorer:
    """Return the predicted rewards of a `SharedRidge`."""
    models = SharedRidge().fit(examples)
    return LinearScorer.of_scaled(models.intercepts, models.slopes, models.scaling.centre, models.scaling.scale)


def fit_features(examples: Examples, features: Floats) -> LinearScorer:
    """Return the predicted rewards of a ridge regression on the context, the features of actions and their products."""
    scaling = Scaling.of(examples.context)
    width = examples.context.shape[1]
    right = np.column_stack([np.ones(len(features)), features])

    def widen(rows: slice) -> Floats:
        left = np.ones((len(examples.rewards[rows]), width + 1))
        left[:, 1:] = (examples.context[rows] - scaling.centre) / scaling.scale
        products = np.einsum("ij,ik->ijk", left, right[examples.actions[rows]])
        return np.asarray(products.reshape(len(left), -1))

    flat = fit_ridge(widen, examples.rewards, SharedRidge().counts(examples))
    coefficients = flat.reshape(width + 1, -1) @ right.T
    return LinearScorer.of_scaled(coefficients[0], coefficients[1:], scaling.centre, scaling.scale)


def fit_ridge(widen: Callable[[slice], Floats], rewards: Floats, counts: Floats) -> Floats:
    r"""Return the coefficients of a ridge regression, the first of which is that of a column of ones.

    The penalty has the least squared error of rows that are left out, one after the other, which is
    $e_i / (1 - h_i)$ with the residual $e_i$ and the leverage $h_i$ of a row: both come from one eigendecomposition of
    the sums of products. So rows are widened a few at a time, once for the sums and once for the errors.
    """
    slices = [slice(start, start + SLICE) for start in range(0, len(rewards), SLICE)]
    tables = (np.column_stack([widen(some), rewards[some]]) * np.sqrt(counts[some])[:, None] for some in slices)
    sums = sum_up(table.T @ table for table in tables)
    means, total = sums[0] / sums[0, 0], float(sums[0, 0])
    sums = (sums - total * np.outer(means, means))[1:, 1:]
    values, vectors = np.linalg.eigh(sums[:-1, :-1])
    shrunk = 1 / (np.maximum(values, 0.0)[:, None] + PENALTIES)
    turned_coefficients = (vectors.T @ sums[:-1, -1])[:, None] * shrunk

    def leave_out(some: slice) -> Floats:
        turned = (widen(some)[:, 1:] - means[1:-1]) @ vectors
        residuals = rewards[some, None] - means[-1] - turned @ turned_coefficients
        others = 1 - counts[some, None] * (1 / total + turned**2 @ shrunk)
        return np.asarray(counts[some] @ np.square(residuals / np.maximum(others, ROUNDING)))

    best = int(sum_up(map(leave_out, slices)).argmin())
    slopes = vectors @ turned_coefficients[:, best]
    return np.append(means[-1] - means[1:-1] @ slopes, slopes)


def sum_up(several: Iterable[Floats]) -> Floats:
    """Return the sum of arrays that come one after the other."""
    return reduce(add, several)


def take_components(action_features: Floats, width: int) -> Floats:
    """Return the principal components of the features, of which each was scaled, for a context of so many columns."""
    scaling = Scaling.of(action_features)
    n_components = max(1, (MAX_COLUMNS + 1) // (width + 1) - 1)
    left, sizes, _ = np.linalg.svd((action_features - scaling.centre) / scaling.scale, full_matrices=False)
    return np.asarray((left * sizes)[:, :n_components])
