"""What the models built on scikit-learn share."""

from typing import Any

import numpy as np

from counterfold.base import messages
from counterfold.base.arrays import Floats
from counterfold.base.errors import ModelError, ParameterError, blame
from counterfold.base.seeding import copy_seeded


def fit_copy(estimator: Any, features: Floats, rewards: Floats, counts: Floats | None, seed: int) -> Any:
    """Return a fitted copy; one without a seed gets this one, so that the same log gives the same answer.

    `counts` are how many decisions each row stands for, if that differs.
    """
    if estimator is None:
        from sklearn.ensemble import HistGradientBoostingRegressor

        estimator = HistGradientBoostingRegressor()
    with blame(ModelError, "fitting the reward model {} on {} rows", estimator, len(rewards)):
        copy = copy_seeded(estimator, seed)
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
    """Say whether an estimator is a classifier: by its tags, or where these do not tell, as it has probabilities."""
    try:
        kind = estimator.__sklearn_tags__().estimator_type
    except AttributeError:  # it is not derived from scikit-learn's base, or from a part of it
        kind = None
    return hasattr(estimator, "predict_proba") if kind is None else bool(kind == "classifier")


def expected_reward(model: Any, features: Floats) -> Floats:
    """Return the mean reward under a classifier's probabilities, or what a model predicts that has none."""
    with blame(ModelError, "predicting {} rows by the reward model {}", len(features), model):
        if predicts_classes(model) and hasattr(model, "predict_proba"):
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
