"""Reward models, one file each; `as_model` accepts what a user may pass for one."""

from dataclasses import dataclass
from typing import Any

from counterfold.base import registry
from counterfold.base.arrays import Floats
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.notation import split_head
from counterfold.base.validation import WHOLE, Checker
from counterfold.log.indices import align_rows
from counterfold.log.log import Kind, Log
from counterfold.log.log_checks import check_matrix, count_dimensions, order_columns
from counterfold.models._fitted import Fitted
from counterfold.models._large import fit_on_sample, solve_stream, stream_models
from counterfold.models._moments import ModelStream, ModelSums, Summed
from counterfold.models.action_encoded import ActionEncoded
from counterfold.models.base import Given, RewardModel
from counterfold.models.per_action import PerAction

__all__ = [
    "Column",
    "Fitted",
    "ModelStream",
    "ModelSums",
    "Summed",
    "as_model",
    "fit_on_sample",
    "solve_stream",
    "stream_models",
]


@dataclass(frozen=True)
class Column:
    """Predicted rewards in a column of a log that is not read yet, in place of a reward model.

    >>> import counterfold as cf
    >>> cf.Column("q")
    Column(name='q')
    """

    name: str


CHOSEN: dict[str, dict[Kind, str]] = {
    "default": {"labels": "cross-fitted", "doses": "ridge-on-dose"},
    "best": dict.fromkeys(("labels", "doses"), "cross-fitted:model=stack"),
}
"""The reward model for each kind of action, where the user does not say, or wants the best one at any cost."""


def as_model(value: Any, log: Log, draws: int = 1, check: Checker = WHOLE) -> RewardModel | None:
    """Return a reward model from one or its name, from a scikit-learn estimator or predictions, or None from None.

    Predictions have a column for every action or, on a log of doses, for the logged dose and each target's `draws`.
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = CHOSEN[value][log.kind] if value in CHOSEN else value
        registry.find("models", split_head(text)[0], tuple(CHOSEN))
        value = registry.build("models", text)
    if isinstance(value, type):
        got = f"the class {value.__name__}"
        raise ParameterError(f"`reward_model` must be an object, got {got}. Did you mean `{value.__name__}()`?")
    if isinstance(value, Given):
        value = value.values
    if hasattr(value, "fit") and hasattr(value, "predict"):
        value = PerAction(value) if log.kind == "labels" else ActionEncoded(value)
    if isinstance(value, RewardModel):
        if not value.suits(log.kind):
            raise ParameterError(f"`reward_model` must suit actions that are {log.kind}, got {type(value).__name__}.")
        return value
    if count_dimensions(value) == 2:
        return Given(_predictions(value, log, draws, check))
    wanted = "a reward model, a scikit-learn estimator or predictions with one row per row of the log"
    got = type(value).__name__
    raise ParameterError(f"{check.called('reward_model')} must be {wanted} and one column per action, got {got}.")


def _predictions(value: Any, log: Log, draws: int, check: Checker) -> Floats:
    matrix = check_matrix("reward_model", align_rows("reward_model", value, log.index, check), len(log), check)
    array = matrix.values
    if log.kind == "labels":
        array = order_columns("reward_model", matrix, log.known_actions, check)
    elif array.shape[1] != 1 + draws:
        wanted = f"the logged dose and each of the target's ({1 + draws} columns)"
        raise DataError(f"{check.called('reward_model')} must predict {wanted}, got {array.shape[1]}.")
    check.finite("reward_model", array)
    return array
