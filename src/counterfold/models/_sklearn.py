"""What the models built on scikit-learn share."""

from typing import Any

import numpy as np

from counterfold.arrays import Floats
from counterfold.errors import ModelError


def or_default(estimator: Any) -> Any:
    """Return the estimator, or the default one if there is none."""
    if estimator is not None:
        return estimator
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor()


def fitted(estimator: Any, features: Floats, rewards: Floats) -> Any:
    """Return a fitted copy; one without a seed gets a fixed one, so that the same log gives the same answer."""
    from sklearn.base import clone

    copy = clone(estimator)
    if "random_state" in copy.get_params() and copy.get_params()["random_state"] is None:
        copy.set_params(random_state=0)
    try:
        return copy.fit(features, rewards)
    except ValueError as error:
        raise ModelError(f"the reward model {estimator} could not be fitted on {len(rewards)} rows: {error}") from error


def expected_reward(model: Any, features: Floats) -> Floats:
    """Return the prediction of a regressor, or the mean reward under a classifier's probabilities."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(features) @ model.classes_.astype(np.float64))
    return np.asarray(model.predict(features), dtype=np.float64)
