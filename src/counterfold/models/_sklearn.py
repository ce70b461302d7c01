"""What the models built on scikit-learn share."""

from typing import Any

import numpy as np

from counterfold import messages
from counterfold.arrays import Floats
from counterfold.errors import ModelError, ParameterError, blame
from counterfold.seeding import copy_seeded


def fit_copy(estimator: Any, features: Floats, rewards: Floats, counts: Floats | None) -> Any:
    """Return a fitted copy; one without a seed gets a fixed one, so that the same log gives the same answer.

    `counts` are how many decisions each row stands for, if that differs.
    """
    if estimator is None:
        from sklearn.ensemble import HistGradientBoostingRegressor

        estimator = HistGradientBoostingRegressor()
    with blame(ModelError, "fitting the reward model {} on {} rows", estimator, len(rewards)):
        copy = copy_seeded(estimator, 0)
        return copy.fit(features, rewards, **name_counts(copy, counts))


def name_counts(estimator: Any, counts: Floats | None) -> dict[str, Floats]:
    """Return how much rows count by the name under which an estimator, or the last step of a pipeline, takes it."""
    from sklearn.utils.validation import has_fit_parameter

    if counts is None:
        return {}
    name, last = getattr(estimator, "steps", [("", estimator)])[-1]
    if not has_fit_parameter(last, "sample_weight"):
        rule = "take `sample_weight`, as rows of this log were kept with different probabilities"
        raise ModelError(f"the reward model {messages.shorten(last)} must {rule}.")
    return {f"{name}__sample_weight" if name else "sample_weight": counts}


def require_estimator(value: Any) -> None:
    """Require a scikit-learn estimator, or none, which is the default one."""
    if isinstance(value, type) or not (value is None or (hasattr(value, "fit") and hasattr(value, "predict"))):
        raise ParameterError(
            f"`estimator` must have `fit` and `predict`, such as Ridge(), got {messages.shorten(value)}."
        )


def predicts_classes(estimator: Any) -> bool:
    """Say whether an estimator is a classifier; one that is not derived from scikit-learn's base need not tell."""
    from sklearn.base import is_classifier

    try:
        return bool(is_classifier(estimator))
    except AttributeError:  # there are no tags
        return hasattr(estimator, "predict_proba")


def expected_reward(model: Any, features: Floats) -> Floats:
    """Return the prediction of a regressor, or the mean reward under a classifier's probabilities."""
    with blame(ModelError, "predicting {} rows by the reward model {}", len(features), model):
        if predicts_classes(model):
            found = np.asarray(model.predict_proba(features) @ model.classes_.astype(np.float64))
        else:
            found = np.asarray(model.predict(features))
            found = found if found.dtype.kind == "c" else found.astype(np.float64)
    if found.shape != (len(features),) or found.dtype != np.float64:
        rule = f"predict one number in each of {len(features)} rows"
        raise ModelError(
            f"the reward model {messages.shorten(model)} must {rule}, got shape {found.shape} of {found.dtype}."
        )
    return found
