"""Linear models of rewards by the context and by features of actions, so that actions learn of those like them."""

from dataclasses import replace

import numpy as np

from counterfold.arrays import Floats
from counterfold.models.base import Examples, Scaling
from counterfold.models.shared_ridge import SharedRidge
from counterfold.policies.scorers import LinearScorer

MOST = 256
"""At most how many columns there are; of many features of actions their first principal components are taken."""

PENALTIES = tuple(np.geomspace(1.0, 1e6, 13).tolist())
"""What is tried, and judged by leaving out one row after the other."""


def fit_reward_scorer(examples: Examples, action_features: Floats) -> LinearScorer:
    r"""Return the predicted reward of every action: what its features tell, and what its own rows say beyond that.

    $$\hat q(x, a) = \beta^\top x + \gamma^\top \phi_a + x^\top M \phi_a + (b_a + x^\top \delta_a)$$

    The first three terms are one ridge regression on all rows, the rest is a `SharedRidge` of what it leaves over,
    which is drawn to 0 for actions with few rows. Without features of actions $\phi_a$ all is a `SharedRidge`.
    """
    if not action_features.shape[1]:
        return fit_shared(examples)
    told = fit_features(examples, action_features)
    rest = examples.rewards - told.score(examples.context)[np.arange(len(examples)), examples.actions]
    own = fit_shared(replace(examples, rewards=rest))
    return LinearScorer(told.intercepts + own.intercepts, told.slopes + own.slopes, own.spread)


def fit_shared(examples: Examples) -> LinearScorer:
    """Return the predicted rewards of a `SharedRidge`."""
    models = SharedRidge().fit(examples)
    return LinearScorer.of_scaled(models.intercepts, models.slopes, models.scaling.centre, models.scaling.scale)


def fit_features(examples: Examples, action_features: Floats) -> LinearScorer:
    """Return the predicted rewards of a ridge regression on the context, the features of actions and their products."""
    from sklearn.linear_model import RidgeCV

    scaling, width = Scaling.of(examples.context), examples.context.shape[1]
    features = take_components(action_features, max(1, MOST // (width + 1)))
    left = np.column_stack([np.ones(len(examples)), (examples.context - scaling.centre) / scaling.scale])
    right = np.column_stack([np.ones(len(features)), features])
    columns = np.einsum("ij,ik->ijk", left, right[examples.actions]).reshape(len(examples), -1)[:, 1:]
    model = RidgeCV(PENALTIES).fit(columns, examples.rewards, sample_weight=SharedRidge().counts(examples))
    table = np.append(model.intercept_, model.coef_).reshape(width + 1, -1) @ right.T
    return LinearScorer.of_scaled(table[0], table[1:], scaling.centre, scaling.scale)


def take_components(action_features: Floats, most: int) -> Floats:
    """Return the first principal components of the features, each of which is scaled before."""
    scaling = Scaling.of(action_features)
    left, sizes, _ = np.linalg.svd((action_features - scaling.centre) / scaling.scale, full_matrices=False)
    return np.asarray((left * sizes)[:, :most])
