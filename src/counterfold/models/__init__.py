"""Reward models, one file each; `as_model` accepts what a user may pass for one."""

from typing import Any

from counterfold import checks
from counterfold.errors import ParameterError
from counterfold.log import Log, arranged, dimensions, matrix
from counterfold.models._given import Given
from counterfold.models.base import RewardModel
from counterfold.models.per_action import PerAction


def as_model(value: Any, log: Log) -> RewardModel | None:
    """Return a reward model from one, from predictions (n x A), from a scikit-learn estimator, or None from None."""
    if value is None:
        return None
    if isinstance(value, Given):
        value = value.values
    if isinstance(value, RewardModel):
        return value
    if hasattr(value, "fit") and hasattr(value, "predict"):
        return PerAction(value)
    if dimensions(value) == 2:
        array, columns = matrix("reward_model", value, len(log))
        predictions = arranged("reward_model", array, columns, log.actions)
        checks.finite("reward_model", predictions)
        return Given(predictions)
    raise ParameterError(
        "`reward_model` must be a reward model, a scikit-learn estimator or predictions with one row per row of the "
        f"log and one column per action, got {type(value).__name__}."
    )
