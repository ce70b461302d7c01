"""What the models built on scikit-learn share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from counterfold.arrays import Floats
from counterfold.errors import ModelError


def fit_copy(estimator: Any, features: Floats, rewards: Floats) -> Any:
    """Return a fitted copy; one without a seed gets a fixed one, so that the same log gives the same answer."""
    from sklearn.base import clone

    if estimator is None:
        from sklearn.ensemble import HistGradientBoostingRegressor

        estimator = HistGradientBoostingRegressor()
    copy = clone(estimator)
    seeds = [name for name in copy.get_params() if name == "random_state" or name.endswith("__random_state")]
    copy.set_params(**{name: 0 for name in seeds if copy.get_params()[name] is None})
    with explain_errors(estimator, f"fitted on {len(rewards)} rows"):
        return copy.fit(features, rewards)


@contextmanager
def explain_errors(estimator: Any, what: str) -> Iterator[None]:
    """Turn what a model complains of into one sentence."""
    try:
        yield
    except (ValueError, TypeError) as error:
        reason = " ".join(str(error).split()).removesuffix(".")
        raise ModelError(f"the reward model {estimator} could not be {what}: {reason}.") from error


def expected_reward(model: Any, features: Floats) -> Floats:
    """Return the prediction of a regressor, or the mean reward under a classifier's probabilities."""
    with explain_errors(model, f"used on {len(features)} rows"):
        if hasattr(model, "predict_proba"):
            found = np.asarray(model.predict_proba(features) @ model.classes_.astype(np.float64))
        else:
            found = np.asarray(model.predict(features), dtype=np.float64)
    if found.shape != (len(features),):
        rule = f"predict one number in each of {len(features)} rows"
        raise ModelError(f"the reward model {model} must {rule}, got shape {found.shape}.")
    return found
