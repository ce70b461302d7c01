"""Reference learners: what others do, as simply as can be, to compare with."""

from collections.abc import Callable
from typing import Any

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.log.log import Log

Decide = Callable[[Floats], Floats]
"""From contexts (n x d) to the probabilities of all actions (n x A)."""

FEWEST = 10
"""How often an action must have been logged for EconML to learn of it."""


def take_always(codes: Callable[[Floats], Ints], actions: int) -> Decide:
    """Return the policy that takes the action that a function tells."""
    return lambda context: np.asarray(np.eye(actions)[codes(context)])


def learn_by_ipw(log: Log, seed: int) -> Decide:
    """Return the class that a logistic regression predicts, fitted to logged actions with weights reward / propensity.

    Rewards are shifted to be positive, as such learners want them.
    """
    from sklearn.linear_model import LogisticRegression

    weights = (log.reward - log.reward.min()) / log.propensity
    model = LogisticRegression(max_iter=200).fit(log.context, log.action, sample_weight=weights / weights.mean())
    return take_always(lambda context: np.asarray(model.predict(context), dtype=np.intp), len(log.actions))


def learn_by_model(log: Log, seed: int) -> Decide:
    """Return the action with the highest reward by a ridge regression for each action."""
    from sklearn.linear_model import Ridge

    taken = [np.flatnonzero(log.action == code) for code in range(len(log.actions))]
    models = [Ridge(alpha=1.0).fit(log.context[rows], log.reward[rows]) if len(rows) else None for rows in taken]

    def pick(context: Floats) -> Ints:
        never = np.full(len(context), log.reward.min())
        scores = [never if model is None else model.predict(context) for model in models]
        return np.asarray(np.column_stack(scores).argmax(axis=1))

    return take_always(pick, len(log.actions))


def learn_best_arm(log: Log, seed: int) -> Decide:
    """Return the one action with the highest mean reward, each row weighted by one over its propensity."""
    weights = 1 / log.propensity
    n_actions = len(log.actions)
    totals = np.bincount(log.action, weights=weights * log.reward, minlength=n_actions)
    masses = np.bincount(log.action, weights=weights, minlength=n_actions)
    means = np.where(masses > 0, totals / np.where(masses > 0, masses, 1.0), -np.inf)
    best = int(means.argmax())
    return take_always(lambda context: np.full(len(context), best), n_actions)


def learn_by_boosting(log: Log, seed: int) -> Decide:
    """Return the action with the highest reward by boosted trees for each action, a boosted T-learner."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    models = []
    for code in range(len(log.actions)):
        rows = np.flatnonzero(log.action == code)
        model = HistGradientBoostingRegressor(max_iter=60, max_depth=3, early_stopping=False, random_state=seed)
        models.append(model.fit(log.context[rows], log.reward[rows]) if len(rows) > 1 else None)

    def pick(context: Floats) -> Ints:
        never = np.full(len(context), log.reward.min())
        scores = [never if model is None else model.predict(context) for model in models]
        return np.asarray(np.column_stack(scores).argmax(axis=1))

    return take_always(pick, len(log.actions))


def learn_by_forest(log: Log, seed: int) -> Decide:
    """Return EconML's doubly robust policy forest, with its own settings and models, on one thread."""
    from econml.policy import DRPolicyForest

    return learn_by_doubly_robust(log, DRPolicyForest(n_jobs=1, random_state=seed))


def learn_by_econml(log: Log, seed: int) -> Decide:
    """Return EconML's doubly robust policy tree, with linear models of rewards and propensities."""
    from econml.policy import DRPolicyTree
    from sklearn.linear_model import LogisticRegression, Ridge

    learner = DRPolicyTree(
        model_regression=Ridge(alpha=1.0),
        model_propensity=LogisticRegression(max_iter=200),
        cv=3,
        max_depth=3,
        min_samples_leaf=20,
        random_state=seed,
    )
    return learn_by_doubly_robust(log, learner)


def learn_by_doubly_robust(log: Log, learner: Any) -> Decide:
    """Return the policy of a doubly robust learner of EconML.

    Actions that were hardly ever logged are left out, because every part of the rows must have each.
    """
    codes = np.flatnonzero(np.bincount(log.action, minlength=len(log.actions)) >= FEWEST)
    kept = np.isin(log.action, codes)
    if len(codes) < 2:
        return take_always(lambda context: np.full(len(context), np.bincount(log.action).argmax()), len(log.actions))
    learner.fit(log.reward[kept], log.action[kept], X=log.context[kept])
    return take_always(lambda context: codes[np.asarray(learner.predict(context), dtype=np.intp)], len(log.actions))
